#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 1200
#
# Programs of Open MPI, unchanged, whose collectives the component torcoll runs, over the torus alone: every call against a
# sequential program, random programs, and what must not hang. SEEDS= random programs, 20 if not set, from FIRST= on.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=selftests/mpi/mpi.sh
. "$(dirname "$0")/../mpi/mpi.sh"
ktap_header
if [[ ! -e $TORCOLL_TOP/build/mpi/mca_coll_torcoll.so ]]; then
	skip component "Open MPI 4.1 is not here, for which it is"
	finish
fi
if ((TORCOLL_SLOW > 1)); then
	skip programs "to start one takes minutes here, and its calls are those of other tests"
	finish
fi

programs=$TORCOLL_TOP/build/mpi

# run FILE SECONDS RANKS [ARGUMENT]...: what it prints goes to the file. What hangs is ended: mpirun alone takes most of a minute
# where the guest has a fraction of a processor.
run()
{
	local code

	# shellcheck disable=SC2016 # expanded by the inner shell
	timeout "$2" bash -c '. "$0/../lib.sh"; . "$0/mpi.sh"; mpi_run "$@"' "$TORCOLL_TOP/selftests/mpi" \
		"$3" 4 --mca coll_torcoll_verbose 1 "${@:4}" >"$work/$1" 2>&1
	code=$?
	((code == 0)) || tail -n 20 "$work/$1"
	return "$code"
}

# The share of calls of all ranks that ran in the kernel, in per cent.
share()
{
	sed -n 's/.*communicators; \([0-9]*\) calls in the kernel, \([0-9]*\) by other.*/\1 \2/p' "$work/$1" |
		awk '{ kernel += $1; other += $2 } END { print kernel, other, int(100 * kernel / (kernel + other)) }'
}

mostly_in_kernel()
{
	local kernel other percent

	read -r kernel other percent < <(share "$1")
	echo "$kernel calls in the kernel, $other by other components: $percent %"
	((percent >= $2))
}

# One of the ranks is killed in the midst of steps: the others get an error, at once and all.
rank_killed()
{
	local job start

	# shellcheck disable=SC2016 # expanded by the inner shell
	setsid bash -c '. "$0/../lib.sh"; . "$0/mpi.sh"; mpi_run "$@"' "$TORCOLL_TOP/selftests/mpi" 4 4 \
		"$programs/order" steps 600 >"$work/killed" 2>&1 &
	job=$!
	if wait_for 240 grep -qx steps "$work/killed"; then
		start=$EPOCHSECONDS
		kill -KILL "$(pgrep -f "^$programs/order steps" | tail -n 1)"
		wait_for 60 others_ended && echo "all have ended after $((EPOCHSECONDS - start)) s"
	fi
	kill -- "-$job"
	wait "$job"
	cat "$work/killed"
	others_ended
}

others_ended()
{
	(($(grep -c 'rank [0-3]: step .*MPI_ERR' "$work/killed") == 3)) && grep -q 'ECONNABORTED' "$work/killed"
}

# A cable is cut while steps go on.
cable_cut()
{
	run cut 240 4 "$programs/order" steps 6 &
	wait_for 200 grep -qx steps "$work/cut" || return
	node 0 ip link set d0p down
	wait $!
}

work=$(mktemp -d)
cleanup rm -rf "$work"
torus_up 2x2 "${patient[@]}"
stamps_up || bail "no times of packets"
check device__on_all_nodes ip_up 4 || bail "no network device"

for ranks in 4 5; do
	check "every_call__${ranks}_ranks" run "every$ranks" 300 "$ranks" "$programs/every" 1
	diag <"$work/every$ranks"
	check "every_call__${ranks}_ranks_in_the_kernel" mostly_in_kernel "every$ranks" 90
done
for case in progress many constant free types duplicate duplicates; do
	check "order__$case" run order 240 5 "$programs/order" "$case"
done
if run plain 240 5 --mca coll ^torcoll "$programs/order" window >/dev/null; then
	check order__window run order 240 5 "$programs/order" window
else
	skip order__window "without torcoll there are no windows either: $(grep -om 1 'MPI_ERR_.*' "$work/plain")"
fi
check random_programs run random 600 5 "$programs/random" "${FIRST:-1}" "${SEEDS:-20}"
check random_programs__in_the_kernel mostly_in_kernel random 90
check cable__cut_is_not_seen cable_cut
check rank__killed_ends_the_others rank_killed
finish
