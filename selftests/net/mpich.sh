#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 1200
# takes: 500
#
# Programs of MPICH, unchanged, before which libtorcoll-mpi.so stands, over the torus alone: every call against a sequential
# program, random programs, and what must not hang; in Fortran too, by both of its modules. SEEDS= random programs, 10 if not set, from
# FIRST= on.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=selftests/mpi/mpi.sh
. "$(dirname "$0")/../mpi/mpi.sh"
launch=mpich_run
# shellcheck source=selftests/mpi/programs.sh
. "$(dirname "$0")/../mpi/programs.sh"
ktap_header
if [[ ! -e $TORCOLL_TOP/build/mpi/libtorcoll-mpi.so ]]; then
	skip library "MPICH is not here, for which it is"
	finish
fi
if ((TORCOLL_SLOW > 1)); then
	skip programs "to start one takes minutes here, and its calls are those of other tests"
	finish
fi

# Without the library, MPICH's own.
plain()
{
	TORCOLL_MPI_LIBRARY="" run "$@"
}

# The library cannot begin at a rank, which ends the job, instead of leaving the others to wait for it. Debian's mpirun 4.0 kills
# its proxies then, and may look for the first that is dead before it is: it sleeps on until timeout's signal, or ends without a word.
no_key()
{
	run key 120 4 env TROUBLE_KEY=1 "$programs/trouble.mpich" late && return 1
	says key 'MPICH cannot make a request' && grep 'Abort(1) on node 1 .*MPI_Abort' "$work/key"
}

work=$(mktemp -d)
cleanup rm -rf "$work"
# 010, as the environment has it below, is 8 in C
fabric_key=10
torus_up 2x2 key "$fabric_key" "${patient[@]}"
stamps_up || bail "no times of packets"
check device__on_all_nodes ip_up 4 || bail "no network device"

check other_programs__start env LD_PRELOAD="$programs/libtorcoll-mpi.so" true
for ranks in 4 5; do
	check "every_call__${ranks}_ranks" run "every$ranks" 300 "$ranks" "$programs/every.mpich" 1
	diag <"$work/every$ranks"
	check "every_call__${ranks}_ranks_in_the_kernel" mostly_in_kernel "every$ranks" 90
done
cases=(progress wait many early constant status free types session large duplicate beside inter groups duplicates)
if plain plain 240 5 "$programs/order.mpich" window >/dev/null; then
	cases+=(window)
else
	skip order__window "without the library there are no windows either"
fi
orders orders "$programs/order.mpich" "${cases[@]}"
# a level of its own
orders orders_threads "$programs/order.mpich" threads
# without MPI_Init; that of the session, and MPI_COMM_WORLD
orders orders_sessions "$programs/order.mpich" sessions
check order__sessions_are_taken all_taken orders_sessions 5 2
check random_programs run random 600 5 "$programs/random.mpich" "${FIRST:-1}" "${SEEDS:-10}"
check random_programs__in_the_kernel mostly_in_kernel random 90
troubles 14 env TORCOLL_MPI_TIMEOUT=8 "$programs/trouble.mpich" late sleeps reasons freed forbidden pack windows hold memory \
	no_request no_grequest no_thread attribute requests
comms_are_few env TORCOLL_MPI_TIMEOUT=16 "$programs/trouble.mpich"
check trouble__level run level 240 5 env MPIR_CVAR_DEFAULT_THREAD_LEVEL=MPI_THREAD_MULTIPLE \
	"$programs/trouble.mpich" level
check trouble__no_key_ends_all no_key
check fabric__is_named_in_decimal run named 240 5 env TORCOLL_FABRIC=010 "$programs/random.mpich" 1 1 5
check fabric__that_is_named_is_used says named " ranks on fabric $fabric_key, as comm "
check fabric__is_not_named run unnamed 240 5 env TORCOLL_FABRIC=10x "$programs/random.mpich" 1 1 5
check fabric__no_name_is_told says unnamed 'not used: TORCOLL_FABRIC: "10x" is not the key of a fabric'
check fabric__no_name_is_none says unnamed 'torcoll: 0 communicators; 0 calls in the kernel'
for fortran in fortran fortran08; do
	check "$fortran" run "$fortran" 240 5 "$programs/$fortran.mpich"
	check "${fortran}__in_the_kernel" mostly_in_kernel "$fortran" 90
done
check cable__cut_is_not_seen cable_cut "$programs/order.mpich"
check rank__killed_ends_the_others rank_killed "$programs/order.mpich"
finish
