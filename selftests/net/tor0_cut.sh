#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 500
# takes: 130
#
# Cables are cut, and a host dies, while IP goes over the torus: TCP goes on, by another way, as soon as the neighbours know;
# no packet comes twice, and none goes round in circles.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

# What is silent is dead after three hellos.
hello_ms=$((1000 * TORCOLL_SLOW))
silent_ms=$((3 * hello_ms))

# start_flow FROM TO NAME: datagrams, 50 a second; what they say of themselves is in $work/NAME. They leave on one processor: where it
# stands still, the next ones would overtake them on another.
start_flow()
{
	taskset -c 0 flow 4x4 "$1" "$2" "$(address "$2")" 7001 $((50 / TORCOLL_SLOW)) >"$work/$3" 2>&1 &
	flow_pid=$!
	wait_for 30 grep -q '^by' "$work/$3"
}

# said NAME NUMBER
said()
{
	awk -v name="$2" '/^sent/ { for (i = 1; i < NF; i += 2) if ($i == name) print $(i + 1) }' "$work/$1"
}

# The nodes that it crosses at first, without the last.
way()
{
	sed -n 's/^by \(.*\) [0-9]*$/\1/p' "$work/$1"
}

# during NAME FROM TO COMMAND...: in the middle of datagrams and of an iperf3 between two nodes. TCP goes on if it has sent most of
# what it was asked for, which it does not in the time before alone.
during()
{
	local name=$1 from=$2 to=$3 code=0 stream

	shift 3
	start_flow "$from" "$to" "$name" || { cat "$work/$name"; return 1; }
	iperf "$from" "$to" "$work/$name.json" -b 10M -t $((20 * TORCOLL_SLOW)) &
	stream=$!
	wait_for 20 listens "$to" 5201
	sleep $((1 * TORCOLL_SLOW))
	"$@" "$name" || code=1
	wait "$stream" || code=1
	kill -INT "$flow_pid"
	wait "$flow_pid"
	cat "$work/$name"
	# the last second of it
	jq -e '.intervals[-1].sum.bytes > 0 and .end.sum_received.bytes > 0' "$work/$name.json" >/dev/null || code=1
	return "$code"
}

# goes_on NAME MS: what was looked at is whole, nothing came twice, and there was no longer silence.
goes_on()
{
	diag <"$work/$1"
	check "$1__no_longer_silent_than_${2}_ms" test "$(said "$1" longest)" -le "$2"
	check "$1__goes_on" test "$(said "$1" received)" -gt $(($(said "$1" sent) / 4))
	is "$1__no_duplicate" "$(said "$1" duplicates)" 0
	is "$1__no_loop" "$(said "$1" loops)" 0
	is "$1__all_was_seen" "$(said "$1" blind)" 0
	check "$1__few_hops" test "$(said "$1" hops)" -le 16
}

# silence NODE DEVICE: nothing leaves by it, which nobody tells the other end.
silence()
{
	node "$1" tc qdisc add dev "$2" root netem loss 100%
}

mend()
{
	node "$1" tc qdisc del dev "$2" root
}

everyone_knows()
{
	torcollctl -j netns show | jq -e "all(.fabric.dead_links == $1)"
}

all_up()
{
	wait_for 30 everyone_knows 0
}

calm()
{
	sleep $((1 * TORCOLL_SLOW))
}

silent_cable()
{
	silence 0 d0p && silence 1 d0m
}

carrier()
{
	node 0 ip link set d0p down
}

# It is noticed at once, far sooner than by hellos that are missed; on a busy machine in one of three times.
carrier_in_time()
{
	local i

	for i in 1 2 3; do
		during carrier 0 1 carrier || return
		node 0 ip link set d0p up
		all_up || return
		(($(said carrier longest) > hello_ms && $(said carrier duplicates) + $(said carrier loops) == 0)) || break
	done
}

# A host in the middle of the way: no cable of it says anything any more.
kill_host()
{
	local nodes

	read -ra nodes <<<"$(way "$1")"
	victim=${nodes[1]}
	echo "$victim" >"$work/victim"
	ports silence "$victim"
}

# ports COMMAND NODE: of both ends of all cables of that node, on 4x4.
ports()
{
	local n=$2 x=$(($2 % 4)) y=$(($2 / 4)) dev code=0

	# at once: each program that is started is a part of the silence
	if [[ $1 == silence ]]; then
		printf 'qdisc add dev %s root netem loss 100%%\n' d0p d0m d1p d1m | node "$n" tc -batch - || code=1
	else
		for dev in d0p d0m d1p d1m; do
			"$1" "$n" "$dev" || code=1
		done
	fi
	"$1" $((y * 4 + (x + 1) % 4)) d0m && "$1" $((y * 4 + (x + 3) % 4)) d0p &&
		"$1" $(((y + 1) % 4 * 4 + x)) d1m && "$1" $(((y + 3) % 4 * 4 + x)) d1p && return "$code"
}

# Packets of a stream that came twice to its receiver: each has a number of IP's and one of TCP's.
captured_twice()
{
	tcpdump -Z root -n -v -r "$work/received.pcap" 'tcp and dst port 5201 and len > 200' 2>/dev/null |
		awk '/^[0-9]/ { id = $0; sub(/.* id /, "", id); sub(/,.*/, "", id); next }
		     /seq/ { seq = $0; sub(/.* seq /, "", seq); sub(/,.*/, "", seq); print id, seq }' | sort | uniq -d | wc -l
}

captured()
{
	tcpdump -Z root -n -r "$work/received.pcap" 'tcp and dst port 5201 and len > 200' 2>/dev/null | wc -l
}

start_capture()
{
	torcollctl netns exec 1 tcpdump -Z root -n -i tor0 -s 100 -w "$work/received.pcap" 2>"$work/tcpdump.err" &
	capture=$!
	wait_for 20 grep -q 'listening on' "$work/tcpdump.err"
}

end_capture()
{
	kill "$capture"
	wait "$capture"
}

work=$(mktemp -d)
cleanup rm -rf "$work"
torus_up 4x4 hello ${hello_ms}ms
stamps_up || bail "no times of packets"
eventually fabric__no_dead_links 30 everyone_knows 0
ip_up 16 || bail "no network device"
on_one_cpu start_capture || bail "no capture"
cleanup on_one_cpu end_capture

check calm__flows during calm 0 10 calm
goes_on calm $hello_ms
is calm__nothing_lost "$(said calm received)" "$(said calm sent)"
is calm__in_order "$(said calm late)" 0
is calm__shortest_way "$(said calm hops)" 4

check silent_cable__flows during silent_cable 0 1 silent_cable
goes_on silent_cable $((silent_ms + 2 * hello_ms))
is silent_cable__by_a_longer_way "$(said silent_cable hops)" 3
mend 0 d0p
mend 1 d0m
check silent_cable__mended all_up

check carrier__flows carrier_in_time
goes_on carrier $hello_ms
check carrier__mended all_up

check host__flows during host 0 10 kill_host
diag "killed: node $(<"$work/victim"), of those on the way: $(way host)"
goes_on host $((silent_ms + 2 * hello_ms))
ports mend "$(<"$work/victim")"
check host__is_back all_up

check capture__was_one test "$(captured)" -gt 50
is capture__no_duplicate "$(captured_twice)" 0
finish
