#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# processors: 2
#
# Messages between two ranks: in every order, beside collectives, to oneself; and how they end when they fail. All of it with
# a rank on each node, and with several, of which the first two are on one node, or on two.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

work=$(mktemp -d)
cleanup rm -rf "$work"

# ends CASE: every rank sees it end as it must.
ends()
{
	local code

	torcollctl netns run "${ppn[@]}" p2p "$1" >"$work/said" 2>&1
	code=$?
	cat "$work/said"
	return "$code"
}

# said RANK WORDS: a rank's own words on how that was.
said()
{
	grep -F "rank $1: " "$work/said" | grep -F "$2"
}

# The launcher tells of the killed one; all others were told by whom.
killed()
{
	ends killed && return 1
	(($(grep -c "caused by rank 1 " "$work/said") == 5))
}

# good PREFIX: what goes well, for 6 ranks.
good()
{
	local out name

	out=$(torcollctl netns run "${ppn[@]}" p2p good 2>&1)
	diag <<<"$out"
	while read -r name; do
		check "$1$name" grep -q "right $name\$" <<<"$out"
	done < <(sed -n '/^} cases/,/^}/s/^	{ "\([a-z_]*\)", .*/\1/p' "$TORCOLL_TOP/selftests/net/p2p.c")
}

# left PREFIX: rank 1 leaves: what it has sent still comes, and who is ahead of it is told.
left()
{
	local how

	check "$1left__what_was_sent_comes" ends left
	check "$1left__and_nothing_else" said 0 "caused by rank 1 "
	for how in left_full left_before_full; do
		check "$1${how}__ends" ends $how
		check "$1${how}__names_who_left" said 0 "caused by rank 1 "
	done
}

# bad PREFIX: and what does not.
bad()
{
	local i

	check "$1mismatch__all_are_told" ends mismatch
	for i in 0 1; do
		check "$1mismatch__rank_${i}_reads_what_was_sent" \
			said "$i" "send f32 count 524288 to 1 by direct"
		check "$1mismatch__rank_${i}_reads_what_was_received" \
			said "$i" "recv i64 count 200 from 0 by direct"
	done
	check "$1deadline__ends_it_for_all" ends late
	check "$1deadline__names_who_is_late" said 0 "caused by rank 1 "
	check "$1killed__peers_are_told" killed
	check "$1cancelled__ends_it_for_all" ends cancelled
	left "$1"
}

# While one waits it is shown for whom.
shown()
{
	node 0 torcollctl op show | grep -F "recv u8" | grep -F "from 1"
}

torus_up 3x2 "${patient[@]}"
ppn=()
good ""
bad ""
check mismatch_to_itself__all_are_told ends mismatch_to_itself
check mismatch_to_itself__both_are_named said 0 "recv u8 count 101 from 0 by direct, rank 0 send u8 count 100 to 0"

# The ranks in question: on nodes that have others, of which none is the next one; then both on one.
ppn=(-n 3 --ppn "1,2,3" --by-node)
good shared__
check shared__mismatch__all_are_told ends mismatch
check shared__mismatch__says_both said 1 "send f32 count 524288 to 1 by direct"
check shared__deadline__ends_it_for_all ends late
check shared__deadline__names_who_is_late said 0 "caused by rank 1 "
left shared__
ppn=(-n 3 --ppn "3,2,1")
bad within__

# alone RANK: that one of 6 on node 0 of a fabric without ports.
alone()
{
	TORCOLL_FABRIC=9 TORCOLL_MEMBERS=0,0,0,0,0,0 TORCOLL_RANK=$1 node 0 timeout $((60 * TORCOLL_SLOW)) p2p good
}

# no_ports: all cases there, among ranks of one node.
no_ports()
{
	local i pids=() right=0

	for i in {0..5}; do
		alone "$i" >"$work/alone.$i" 2>&1 &
		pids+=("$!")
	done
	for i in "${pids[@]}"; do
		wait "$i" || right=1
	done
	cat "$work"/alone.*
	return "$right"
}

# Those of a node; the end of a comm goes on for a while after the processes, and is charged as long.
eventually within__quiet_before 30 nothing_charged
check within__right_and_sends_nothing without_frames torcollctl netns run -n 1 --ppn 6 p2p good
node 0 torcollctl fabric add 9 dims 2 node 0 ethertype 0x88b7
check no_ports__right no_ports
node 0 torcollctl fabric del 9 force

torcollctl netns run p2p wait "$work/go" >"$work/out" 2>&1 &
pid=$!
eventually shown__for_whom_one_waits 20 shown
touch "$work/go"
wait "$pid"
check shown__goes_on test $? = 0
gone()
{
	[[ $(node 0 torcollctl -j comm show) == "[]" ]]
}
eventually p2p__leaves_nothing 30 gone
finish
