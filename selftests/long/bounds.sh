#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 400
#
# A fact is known everywhere within three hellos and a second, 1.6 s: from what happens (the last of the commands that
# it takes) until the last rank's call has returned with the error that says so. Each fact ROUNDS (5) times; the figures are printed. They are the guest's: what
# a busy host takes from it counts as well.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

rounds=${ROUNDS:-5} bound=1600
ports=(d0p d0m d1p d1m)

now()
{
	local up

	read -r up _ </proc/uptime
	echo $((10#${up/./} * 10))
}

# The command that makes it a fact: when it began is remembered, unless another one follows.
does()
{
	begin=$(now)
	"$@"
}

start()
{
	torcollctl netns run until 1024 >"$work/out" 2>&1 &
	pid=$!
	wait_for 20 ops_run
}

ops_run()
{
	node 0 torcollctl -j op show | jq -e 'length > 0'
}

stop()
{
	pkill -P "$pid"
	wait "$pid"
	pkill -x until
	wait_for 10 nobody_runs
}

nobody_runs()
{
	! pgrep -x until
}

# ended ERROR RANK...: the calls of these ranks, all by that error.
ended()
{
	local error=$1 rank

	shift
	for rank; do
		grep -q "^\\[$rank\\] [0-9]* $error\$" "$work/out" || return 1
	done
}

# takes ERROR RANKS FACT...: how long after FACT the last of RANKS got ERROR, in ms.
takes()
{
	local error=$1 ranks=$2 begin

	shift 2
	start || { cat "$work/out"; return 1; }
	"$@" || return 1
	# shellcheck disable=SC2086 # a list
	wait_for 20 ended "$error" $ranks || { cat "$work/out"; return 1; }
	sed -n "s/^\\[\\([0-9]*\\)\\] \\([0-9]*\\) $error\$/\\1 \\2/p" "$work/out" |
		awk -v ranks=" $ranks " -v begin="$begin" '
			index(ranks, " " $1 " ") && $2 > last { last = $2 }
			END { print last - begin >>"'"$work/ms"'" }'
	stop
}

# known NAME ERROR RANKS MEND FACT...: in time, every time.
known()
{
	local name=$1 error=$2 ranks=$3 mend=$4 i worst

	shift 4
	: >"$work/ms"
	for ((i = 0; i < rounds; i++)); do
		takes "$error" "$ranks" "$@" || break
		"$mend" || break
	done >"$work/log" 2>&1
	if ((i < rounds)); then
		diag <"$work/log"
		not_ok "$name" "not told"
		return
	fi
	worst=$(sort -n "$work/ms" | tail -n 1)
	diag "$name: $(sort -n "$work/ms" | paste -sd ' ') ms"
	check "$name" test "$worst" -le "$bound"
}

kill_rank_5()
{
	does kill -9 "$(ip netns pids tor-5)"
}

rank_5_calls_less()
{
	does kill -USR1 "$(ip netns pids tor-5)"
}

# columns 0 and 1 against columns 2 and 3, or together again
partition()
{
	local n

	for n in 1 5; do does node "$n" ip link set d0p "$1"; done
	for n in 0 4; do does node "$n" ip link set d0m "$1"; done
}

# All cables of node 6 lose everything, silently; or nothing any more.
silence()
{
	local n dev

	for n in 2 5 6 7; do
		for dev in "${ports[@]}"; do
			[[ $n == 6 || $n$dev == 5d0p || $n$dev == 7d0m || $n$dev == 2d1* ]] || continue
			node "$n" test -e "/proc/sys/net/ipv4/conf/$dev" || continue
			does node "$n" tc qdisc "$1" dev "$dev" root netem loss 100% || return
		done
	done
}

reached()
{
	[[ $(node "$1" torcollctl -j fabric show | jq '.[0].reached') == 8 ]]
}

join_again()
{
	partition up
	wait_for 20 reached 0 && wait_for 20 reached 6
}

speak_again()
{
	silence del
	wait_for 20 reached 0 && wait_for 20 reached 6
}

work=$(mktemp -d)
cleanup rm -rf "$work"
torus_up 4x2 cables 2
all="0 1 2 3 4 6 7"
known process_killed ECONNABORTED "$all" true kill_rank_5
known call_differs EPROTO "$all 5" true rank_5_calls_less
known partition EHOSTUNREACH "$all 5" join_again partition down
known silent_host EHOSTDOWN "0 1 2 3 4 5 7" speak_again silence add
finish
