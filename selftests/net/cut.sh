#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 1200
# takes: 160
#
# Cables are cut in the middle of ops: with and without the carrier telling, once and over and over. Ops
# go on by another way and their results are right.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

# Runs of them follow each other: a slow kernel's ops are small, and how many outlast what is done to the cable depends on
# the plan.
some_ops=(-b 4M -e 4M -n 6)
((TORCOLL_SLOW == 1)) || some_ops=(-b 4K -e 4K -n 40)

# Until there is a file stop, or one goes wrong.
repeat()
{
	until [[ -e $work/stop ]]; do
		torcollctl netns run torcoll-perf allreduce -w 0 "$@" || return
	done
}

# ops TORCOLL-PERF-ARGUMENT...: starts checked allreduces; what they say is in $work/out, their end in $work/code. A
# case runs in a shell of its own, so no other can wait for them.
ops()
{
	rm -f "$work/code" "$work/stop"
	{
		repeat "$@"
		echo $? >"$work/code"
	} >"$work/out" 2>&1 &
	wait_for 60 ops_run
}

ops_run()
{
	node 0 torcollctl -j op show | jq -e 'length > 0' >/dev/null
}

# The ops that were started end well.
ends_well()
{
	touch "$work/stop"
	wait_for 500 test -s "$work/code" && [[ $(<"$work/code") == 0 ]] && return
	tail -n 5 "$work/out"
	return 1
}

# There is a moment between two of them, and more between two runs.
still_runs()
{
	[[ ! -s $work/code ]] && wait_for 30 ops_run
}

# link NODE DEVICE: its state, as that node sees it.
link()
{
	node "$1" torcollctl -j port show | jq -r --arg dev "$2" '.[] | select(.ifname == $dev).state'
}

link_is()
{
	[[ $(link "$1" "$2") == "$3" ]]
}

# knows NODE NUMBER: of so many dead ports.
knows()
{
	torcollctl -j netns show | jq -e "any(.fabric.node == $1 and .fabric.dead_links == $2)"
}

everyone_knows()
{
	torcollctl -j netns show | jq -e "all(.fabric.dead_links == $1)"
}

carrier_lost()
{
	local start now

	ops "${some_ops[@]}" || return 1
	still_runs || return 1
	start=${EPOCHREALTIME/[.,]/}
	node 5 ip link set d0p down
	wait_for 20 knows 15 2 || return 1
	now=${EPOCHREALTIME/[.,]/}
	echo "known at the other end of the fabric after $(((now - start) / 1000)) ms"
	still_runs
}

silent()
{
	ops "${some_ops[@]}" || return 1
	node 10 tc qdisc add dev d1p root netem loss 100%
	node 14 tc qdisc add dev d1m root netem loss 100%
	wait_for 30 everyone_knows 2 || return 1
	still_runs
}

mend_silent()
{
	node 10 tc qdisc del dev d1p root
	node 14 tc qdisc del dev d1m root
	wait_for 30 everyone_knows 0
}

one_way()
{
	ops "${some_ops[@]}" || return 1
	node 3 tc qdisc add dev d1p root netem loss 100%
	wait_for 30 everyone_knows 2 || return 1
	still_runs
}

# flap SECONDS: down 1 s in every 3.
flap()
{
	local end code=0

	ops -b "$(up_to 256K)" -e "$(up_to 256K)" -n 200 || return 1
	end=$((SECONDS + $1))
	while ((SECONDS < end)); do
		node 6 ip link set d1p down
		sleep 1
		node 6 ip link set d1p up
		sleep 2
		still_runs || code=1
	done
	ends_well || code=1
	return "$code"
}

# A cable that comes and goes as fast as it can: the others search routes no more often than their dampers let them,
# at most 5 times a second and 9 more, and afterwards all is as it was.
flap_fast()
{
	local before after start now rounds=0

	before=$(counter 12 reroutes)
	start=${EPOCHREALTIME/[.,]/}
	now=$start
	while ((now - start < 3000000)); do
		for _ in 1 2 3 4; do
			node 6 ip link set d1p down
			node 6 ip link set d1p up
		done
		rounds=$((rounds + 4))
		now=${EPOCHREALTIME/[.,]/}
	done
	wait_for 20 everyone_knows 0 || return 1
	after=$(counter 12 reroutes)
	now=${EPOCHREALTIME/[.,]/}
	echo "$rounds times in $(((now - start) / 1000)) ms, $((after - before)) searches at the other end"
	((after - before <= 9 + (now - start) / 200000))
}

aborts='
import os, sys, time, torcoll

with torcoll.Comm.from_env() as comm:
	if comm.rank == 0:
		comm.abort()
	while not os.path.exists(sys.argv[1]):
		time.sleep(0.1)
'

# count_aborts NODE DEVICE: that arrive there.
count_aborts()
{
	node "$1" tc qdisc add dev "$2" clsact
	node "$1" tc filter add dev "$2" ingress protocol 0x88b5 u32 match u8 4 0xff at 1 action ok
}

# told TIMES: aborts that node 0 has sent to its neighbours, at least.
told()
{
	{
		node 1 tc -s -j filter show dev d0m ingress
		node 3 tc -s -j filter show dev d0p ingress
	} | jq -se --argjson times "$1" '[.. | .stats? // empty | .packets // 0] | add >= $times'
}

work=$(mktemp -d)
cleanup rm -rf "$work"
torus_up 4x4
eventually fabric__no_dead_links 30 everyone_knows 0
check carrier_lost__op_goes_on carrier_lost
check carrier_lost__results_right ends_well
is carrier_lost__port_says_so "$(link 5 d0p)" no-carrier
node 5 ip link set d0p up
eventually carrier_back__link_is_up 30 link_is 5 d0p up
eventually carrier_back__everyone_knows 30 everyone_knows 0
check silent_cut__op_goes_on silent
check silent_cut__results_right ends_well
check silent_cut__mended mend_silent
check one_way_cut__op_goes_on one_way
check one_way_cut__results_right ends_well
node 3 tc qdisc del dev d1p root
eventually one_way_cut__mended 30 everyone_knows 0
check flapping__ops_go_on flap "${TORCOLL_FLAP_SECONDS:-6}"
check flapping__few_searches flap_fast
check reroutes__are_counted test "$(counters reroutes 16)" -gt 32
check link_downs__are_counted test "$(counters link_downs 16)" -gt 6
diag "retransmitted: $(counters tx_retransmits 16) frames, timeouts: $(counters tx_timeouts 16)"
torcollctl netns down

# Ranks that call nothing ask nobody what has become of the others: those that tell them do it once more for each cable
# that is cut, by which they may have told them in vain.
torus_up 4
count_aborts 1 d0m
count_aborts 3 d0p
PYTHONPATH=$TORCOLL_TOP/python TORCOLL_LIBRARY=$TORCOLL_TOP/build/lib/libtorcoll.so.0 PYTHONDONTWRITEBYTECODE=1 \
	torcollctl netns run python3 -c "$aborts" "$work/told" >"$work/out" 2>&1 &
eventually told__three_times 30 told 9
node 2 ip link set d0p down
eventually told__once_more_as_a_cable_is_cut 30 told 12
node 2 ip link set d0p up
touch "$work/told"
wait
is told__no_error "$(<"$work/out")" ""
finish
