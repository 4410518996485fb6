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

# A node by itself. What is left of other comms, which may still be told something, is charged.
eventually one_node__quiet_before 30 nothing_charged
before=$(counter 0 tx_frames)
check one_node__sums torcollctl netns run -n 1 --ppn 3 torcoll-perf allreduce -b 8 -e 64K -f 64 -n 5
is one_node__no_frames "$(counter 0 tx_frames)" "$before"

eventually nothing_is_charged 30 nothing_charged
finish
