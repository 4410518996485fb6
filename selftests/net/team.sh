#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
# processors: 2
#
# Comms with several ranks on a node: 1 to 3 of them, uneven, in a row or not. Every collective; how such a comm fails, which
# names ranks, not nodes; and that ranks of one node send no frames.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

# ends CASE: every rank sees it end as it must.
ends()
{
	torcollctl netns run --ppn 1,2,3,1 team "$1"
}

# The launcher tells of the killed one; all others were told by whom.
killed()
{
	local said

	said=$(ends killed 2>&1) && return 1
	echo "$said"
	# one line about it, and none of a rank that saw something else
	[[ $(grep -c . <<<"$said") == 1 ]] && grep -F "rank 4 killed by SIGKILL" <<<"$said"
}

# names TABLE: of the cases in a table of team.c.
names()
{
	sed -n "/^$1/,/^}/s/^	{ \"\([a-z_]*\)\", .*/\1/p" "$TORCOLL_TOP/selftests/net/team.c"
}

# conforms CASES first|shuffled OPTION...: random calls against a sequential program.
conforms()
{
	torcollctl netns run --no-prefix "${@:3}" conformance "team.$4" "$1" "$2" >"$work/said" 2>&1
	grep -v '^#' "$work/said" | tail -n 20
	[[ $(tail -n 1 "$work/said") == "$1 passed, 0 failed" ]]
}

# ranks_of submit|done: whose calls have begun, or ended, since they are traced, in order.
ranks_of()
{
	sed -n "s/.* torcoll_op_$1: .* rank=\([0-9]*\) .*/\1/p" "$tracing/trace" | sort | paste -sd ' '
}

all_ended()
{
	[[ $(ranks_of "done") == "$(ranks_of submit)" ]]
}

# traced CASE: the ranks whose calls began and ended meanwhile, a line each. The case says itself how it ended; calls may do so
# after their processes.
traced()
{
	local event

	for event in submit "done"; do
		echo 1 >"$tracing/events/torcoll/torcoll_op_$event/enable"
	done
	ends "$1" >/dev/null
	wait_for 15 all_ended
	for event in submit "done"; do
		echo 0 >"$tracing/events/torcoll/torcoll_op_$event/enable"
		echo "$event $(ranks_of "$event")"
	done
	: >"$tracing/trace"
}

# Whoever is on another node than rank 4 may call when the comm has failed already, and is refused: that is no call.
traced_that_fail()
{
	local out ended='submit ([0-9 ]*)
done ([0-9 ]*)'

	out=$(traced left_waited_for)
	echo "$out"
	[[ $out =~ ^$ended$ && ${BASH_REMATCH[1]} == "${BASH_REMATCH[2]}" && ${BASH_REMATCH[1]} == *"3 5"* ]]
}

tracing=/sys/kernel/tracing
work=$(mktemp -d)
cleanup rm -rf "$work"
torus_up 2x2 "${patient[@]}"
# for a process of another user's
chmod a+rw /dev/torcoll

out=$(ends good 2>&1)
diag <<<"$out"
while read -r name; do
	check "team__$name" grep -q "right $name\$" <<<"$out"
done < <(names "} cases")
while read -r name; do
	[[ $name == killed ]] || check "team__$name" ends "$name"
done < <(names "}, ends")
check team__killed killed
check team__batches torcollctl netns run --ppn 1,2,3,1 batch
check conformance__2_per_node conforms 6 first --ppn 2
check conformance__1_to_3_per_node conforms 8 first --ppn 1,2,3,1
check conformance__by_node conforms 8 first --ppn 3,2,1,2 --by-node
check conformance__shuffled conforms 8 shuffled --ppn 1,2,3,1

# Calls are those of ranks: three of node 2 in an op of the nodes, and two there that began none, since rank 4 has left.
if grep -qw tracefs /proc/filesystems; then
	[[ -d $tracing/events ]] || mount -t tracefs tracefs "$tracing"
	is trace__calls_of_ranks "$(traced left_in_peace)" $'submit 0 1 2 3 4 5 6\ndone 0 1 2 3 4 5 6'
	check trace__calls_that_fail traced_that_fail
else
	skip trace__calls_of_ranks "this kernel does not trace"
fi
ops=$(counter 2 ops) failed=$(counter 2 ops_failed)
ends left_in_peace >/dev/null
ends left_waited_for >/dev/null
calls_counted() { [[ "$(($(counter 2 ops) - ops)) $(($(counter 2 ops_failed) - failed))" == "3 2" ]]; }
eventually counter__calls_of_ranks 15 calls_counted

# A node by itself. What is left of other comms, which may still be told something, is charged.
eventually one_node__quiet_before 30 nothing_charged
check one_node__sums_and_sends_nothing without_frames torcollctl netns run -n 1 --ppn 3 torcoll-perf allreduce -b 8 -e 64K -f 64 -n 5

eventually nothing_is_charged 30 nothing_charged
finish
