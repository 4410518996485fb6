#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 1200
# takes: 700
#
# Programs of Open MPI, unchanged, whose collectives the component torcoll runs, over the torus alone: every call against a
# sequential program, random programs, and what must not hang; in Fortran, by both of its modules, and Python too. SEEDS= random
# programs, 20 if not set, from FIRST= on.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=selftests/mpi/mpi.sh
. "$(dirname "$0")/../mpi/mpi.sh"
# shellcheck source=selftests/mpi/programs.sh
. "$(dirname "$0")/../mpi/programs.sh"
ktap_header
if [[ ! -e $TORCOLL_TOP/build/mpi/mca_coll_torcoll.so ]]; then
	skip component "Open MPI 4.1 or 5.0 is not here, for which it is"
	finish
fi
if ((TORCOLL_SLOW > 1)); then
	skip programs "to start one takes minutes here, and its calls are those of other tests"
	finish
fi

work=$(mktemp -d)
cleanup rm -rf "$work"
torus_up 2x2 "${patient[@]}"
stamps_up || bail "no times of packets"
mpi_component || bail "no component"
check device__on_all_nodes ip_up 4 || bail "no network device"

for ranks in 4 5; do
	check "every_call__${ranks}_ranks" run "every$ranks" 300 "$ranks" "$programs/every" 1
	diag <"$work/every$ranks"
	check "every_call__${ranks}_ranks_in_the_kernel" mostly_in_kernel "every$ranks" 90
done
cases=(progress wait many constant status free types starts large duplicate beside inter duplicates)
# MPI 4's, of which the series 5 has some
((mpi_series == 4)) || cases+=(session groups)
# where it cannot have a window, a program ends
if run plain 240 5 --mca coll ^torcoll "$programs/order" window >/dev/null; then
	cases+=(window)
else
	skip order__window "without torcoll there are no windows either: $(grep -om 1 'MPI_ERR_.*' "$work/plain")"
fi
orders orders "$programs/order" "${cases[@]}"
missing=(bash -c '((OMPI_COMM_WORLD_RANK != 3)) || export OMPI_MCA_coll_torcoll_enable=0; exec "$@"' -)
# a short one: without torcoll its calls take tenths of seconds each, by ranks that poll
check component__is_missing_at_a_rank run missing 240 5 "${missing[@]}" "$programs/random" 1 1 5
check component__is_missing_and_no_rank_uses_it grep -q 'torcoll: 0 communicators; 0 calls in the kernel' "$work/missing"
if ((mpi_series > 4)); then
	check component__is_not_used_before_all_have_told run early 240 5 --mca opal_pmix_base_async_modex 1 "$programs/order" status
	check component__says_so says early 'not used: opal_pmix_base_async_modex is set'
fi
check fabric__0_is_not_any run fabric 240 5 --mca coll_torcoll_fabric 0 "$programs/random" 1 1 5
check fabric__that_is_not_here_is_told says fabric 'not used: this host is not in fabric 0'
check random_programs run random 600 5 "$programs/random" "${FIRST:-1}" "${SEEDS:-20}"
check random_programs__in_the_kernel mostly_in_kernel random 90
# Open MPI's threads need cmpxchg16b, which emulated processors do not have (qemu/machine.sh).
if grep -qw cx16 /proc/cpuinfo || [[ $(uname -m) != x86_64 ]]; then
	check random_programs__of_two_threads run threads 600 5 -x THREADS=1 "$programs/random" 1 2
else
	skip random_programs__of_two_threads "Open MPI's threads need cmpxchg16b, which this processor has not"
fi
# all communicators but the one for which memory is short
troubles 9 --mca coll_torcoll_timeout 8 "$programs/trouble" late sleeps reasons freed forbidden pack memory no_request \
	no_persistent no_thread requests
comms_are_few --mca coll_torcoll_timeout 16 "$programs/trouble"
for fortran in fortran fortran08; do
	check "$fortran" run "$fortran" 240 5 "$programs/$fortran"
	check "${fortran}__in_the_kernel" mostly_in_kernel "$fortran" 90
done
if python3 -c "import mpi4py" 2>/dev/null; then
	check python run python 300 4 python3 "$TORCOLL_TOP/selftests/mpi/smoke.py"
	# few calls, of which the first on a communicator makes its comm
	check python__in_the_kernel mostly_in_kernel python 60
else
	skip python "mpi4py is not here"
fi
check cable__cut_is_not_seen cable_cut "$programs/order"
check rank__killed_ends_the_others rank_killed "$programs/order"
finish
