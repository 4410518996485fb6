#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 10800
#
# A thousand random programs (selftests/mpi/random.c) by Open MPI and by MPICH, of five ranks on a torus of 2x2, and with MPICH
# a hundred of them whose ranks have two threads that call MPI. Each start runs 50. SEEDS= programs instead, from FIRST= on;
# MPIS="openmpi mpich".

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=selftests/mpi/mpi.sh
. "$(dirname "$0")/../mpi/mpi.sh"
# shellcheck source=selftests/mpi/programs.sh
. "$(dirname "$0")/../mpi/programs.sh"
ktap_header

each=50 first=${FIRST:-1} seeds=${SEEDS:-1000}
limit=1800

# starts NAME PROGRAMS [ARGUMENT]...: of so many programs, all in turn.
starts()
{
	local name=$1 all=$2 from n

	shift 2
	for ((from = first; from < first + all; from += each)); do
		n=$((first + all - from < each ? first + all - from : each))
		check "${name}__$from" run "$name$from" "$limit" 5 "$@" "$from" "$n"
		check "${name}__${from}_in_the_kernel" mostly_in_kernel "$name$from" 90
	done
}

work=$(mktemp -d)
cleanup rm -rf "$work"
torus_up 2x2 "${patient[@]}"
stamps_up || bail "no times of packets"
check device__on_all_nodes ip_up 4 || bail "no network device"
for mpi in ${MPIS:-openmpi mpich}; do
	case $mpi in
	openmpi)
		if [[ ! -e $TORCOLL_TOP/build/mpi/mca_coll_torcoll.so ]]; then
			skip openmpi "Open MPI is not here"
			continue
		fi
		mpi_component || bail "no component"
		launch=mpi_run
		starts openmpi "$seeds" "$programs/random"
		# its threads need an instruction that emulated processors do not have: net/mpi
		;;
	mpich)
		if [[ ! -e $TORCOLL_TOP/build/mpi/libtorcoll-mpi.so ]]; then
			skip mpich "MPICH is not here"
			continue
		fi
		launch=mpich_run
		starts mpich "$seeds" "$programs/random.mpich"
		starts mpich_threads $((seeds < 10 ? 1 : seeds / 10)) env THREADS=1 "$programs/random.mpich"
		;;
	*)	bail "no such MPI: $mpi" ;;
	esac
done
finish
