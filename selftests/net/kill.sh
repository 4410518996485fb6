#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# processors: 2
#
# Processes die in the middle of ops: peers hear of it, pages are unpinned, the node goes on. KILLS says
# how many times, at random moments.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

# Pages pinned now; the kernel counts per processor, and adds up when asked to.
pinned()
{
	echo 1 >/proc/sys/vm/stat_refresh
	awk '/^nr_foll_pin_acquired/ { a = $2 } /^nr_foll_pin_released/ { r = $2 }
		END { print a - r }' /proc/vmstat
}

nothing_pinned()
{
	[[ $(pinned) == "$base" ]]
}

# Its child keeps the file, but not the memory of the parent.
orphan()
{
	local pid child pinned_before code

	pinned_before=$(pinned)
	TORCOLL_FABRIC=1 TORCOLL_COMM=orphan TORCOLL_MEMBERS=0 TORCOLL_SIZE=1 \
		node 0 orphan >"$work/child" 2>"$work/err" &
	wait_for 20 test -s "$work/child" || return 1
	child=$(<"$work/child")
	pid=$(awk '{ print $4 }' "/proc/$child/stat")
	echo "pinned: $pinned_before pages before, $(pinned) with the region"
	(($(pinned) >= pinned_before + 4096)) || return 1
	kill -9 "$pid"
	wait_for 20 nothing_pinned
	echo "pinned: $(pinned) after its death"
	# the child still has the file
	nothing_pinned && find "/proc/$child/fd" -lname "*torcoll*" | grep -q .
	code=$?
	kill -9 "$child"
	return "$code"
}

# One rank of a running benchmark is killed: the launcher ends with an error, everyone stops.
kill_one()
{
	local pid victim

	torcollctl netns run torcoll-perf allreduce -b "$(up_to 1M)" -e "$(up_to 1M)" -n 100000 -w 0 >"$work/out" 2>&1 &
	pid=$!
	wait_for 60 victim_runs || { grep -v '#' "$work/out" | head -n 10; return 1; }
	# at any moment of an op, which takes about as long
	RANDOM=$1
	sleep "0.$(printf %03d $((RANDOM % 300)))"
	victim=$(pgrep -x torcoll-perf | shuf -n 1 --random-source=<(yes "$1"))
	tr '\0' '\n' <"/proc/$victim/environ" | sed -n 's/^TORCOLL_RANK=//p' >"$work/rank"
	kill -9 "$victim"
	wait "$pid" && return 1
	! pgrep -x torcoll-perf
}

# Whoever still ran was told by whom the comm ended.
peers_name_the_rank()
{
	grep "caused by rank $(<"$work/rank") " "$work/out" || { grep -v '#' "$work/out" | head -n 10; return 1; }
}

victim_runs()
{
	(($(pidof torcoll-perf | wc -w) == 16)) && (($(counters ops 1) > ops_before))
}

# What it had sent does not matter any more: its peers hear of its end, and whose it is.
root_failed()
{
	torcollctl netns run late 1 1 >"$work/out" 2>&1 && return 1
	(($(grep -c "caused by rank 0 " "$work/out") == 15)) || { head -n 20 "$work/out"; return 1; }
}

work=$(mktemp -d)
cleanup rm -rf "$work"
torus_up 4x4 "${patient[@]}"
base=$(pinned)
ops_before=0
for ((i = 1; i <= ${KILLS:-3}; i++)); do
	ops_before=$(counters ops 1)
	check "kill_${i}__peers_end" kill_one "$i"
	check "kill_${i}__peers_name_the_rank" peers_name_the_rank
	eventually "kill_${i}__nothing_stays_pinned" 20 nothing_pinned
	check "kill_${i}__node_goes_on" torcollctl netns run torcoll-perf allreduce -b 8 -e 64K -f 8 -n 2
done

check root_left__the_late_still_get_it torcollctl netns run late 5 0
check root_failed__the_late_are_told root_failed

base=$(pinned)
check child_keeps_file__pages_are_unpinned orphan
finish
