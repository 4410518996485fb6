#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 900
# takes: 130
#
# Collectives and IP on the same cables, which are shaped so that they are what is scarce, not the processors: neither
# takes them from the other, a cable that is full delays no traffic but its own, and what waits at a port or is held
# by its device when that goes is dropped, and counted.
#
# RING=4 is for instruction time, in which the processors are fast (docs/performance.md): a ring of four, where most of the
# cables that an allreduce takes are those of the stream, and only small allreduces beside TCP, at the rates of RATES.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

# shape NODE DEVICE RATE: what leaves there, in order, a frame at a time as on a cable; its queue is longer than all windows.
shape()
{
	node "$1" tc qdisc replace dev "$2" root tbf rate "$3" burst 2k limit 4m
}

# all_cables NODES RATE
all_cables()
{
	local n dev

	for ((n = 0; n < $1; n++)); do
		while read -r dev; do
			shape "$n" "$dev" "$2" || return
		done < <(node "$n" ip -br link show type veth | sed 's/@.*//')
	done
}

# median NUMBER...: of an odd number of them, rounded down.
median()
{
	printf '%s\n' "$@" | sort -n | sed -n "$(($# / 2 + 1))p" | cut -d . -f 1
}

# The median of the times of three hundred allreduces of 8 bytes, in three runs, in us.
small_time()
{
	local i times=()

	for i in 1 2 3; do
		times+=("$(torcollctl netns run torcoll-perf allreduce -b 8 -e 8 -n 100 -w 10 --out-of-place --format json |
			jq -r 'objects.time_us')") || return
	done
	median "${times[@]}"
}

# Large allreduces until FILE appears; if one goes wrong, there is FILE.wrong.
large_loop()
{
	while [[ ! -e $1 ]]; do
		torcollctl netns run torcoll-perf allreduce -b 512K -e 512K -w 0 -n 5 --out-of-place >"$1.out" 2>&1 && continue
		cp "$1.out" "$1.wrong"
		return 1
	done
}

# bulk FROM TO FILE [ARGUMENT]...: TCP, in the background, until end_bulk.
bulk()
{
	torcollctl netns exec "$2" iperf3 -s -1 -p 5300 >"$3.server" 2>&1 &
	bulk_server=$!
	wait_for 20 listens "$2" 5300
	torcollctl netns exec "$1" iperf3 -p 5300 -c "$(address "$2")" -t 1000 "${@:4}" >"$3" 2>&1 &
	bulk_client=$!
	wait_for 20 grows "$1"
}

end_bulk()
{
	kill "$bulk_client" "$bulk_server" 2>/dev/null
	wait "$bulk_client" "$bulk_server" 2>/dev/null
	! pgrep -x iperf3 >/dev/null || bail "the stream goes on"
}

# Bytes that a node has sent by its network device.
sent()
{
	node "$1" ip -s -j link show tor0 | jq '.[0].stats64.tx.bytes'
}

# What a node sends by its network device grows by more than a few answers. A stream may pause for a moment: wait for it.
grows()
{
	local before

	before=$(sent "$1")
	sleep 0.3
	(($(sent "$1") > before + 10000))
}

# tcp_rate FROM TO FILE: what arrives, kbit/s.
tcp_rate()
{
	iperf "$1" "$2" "$3" -t 4 >/dev/null || return
	jq '.end.sum_received.bits_per_second / 1000 | floor' "$3"
}

# small_beside_tcp TIMES RATE: whether a small allreduce takes at most that many times its time beside a stream that goes on, on
# cables of that rate. If frames waited for what the stream has under way, it would take tens of times its time.
small_beside_tcp()
{
	local alone beside again code=0

	alone=$(small_time)
	bulk 0 1 "$work/bulk" || { end_bulk; echo "no stream"; return 1; }
	beside=$(small_time)
	wait_for 10 grows 0 || { echo "the stream does not go on"; code=1; }
	node 0 tc -s qdisc show dev d0p
	end_bulk
	again=$(small_time)
	echo "$2: allreduce of 8 bytes: $alone us alone, $beside us beside TCP, $again us alone again" | tee -a "$work/figures"
	((code == 0 && beside > 0 && 2 * beside <= $1 * (alone + again)))
}

# Whether a stream has at least half of its rate beside large allreduces.
tcp_beside_large()
{
	local before shared loop

	rm -f "$work/stop" "$work/stop.out"
	before=$(tcp_rate 0 1 "$work/alone")
	large_loop "$work/stop" &
	loop=$!
	wait_for 20 test -s "$work/stop.out"
	shared=$(tcp_rate 0 1 "$work/beside")
	touch "$work/stop"
	wait "$loop"
	echo "TCP: $before kbit/s alone, $shared kbit/s beside large allreduces" | tee -a "$work/figures"
	((before > 0 && shared >= before / 2))
}

# Whether a stream keeps three quarters of its rate beside one by another cable, which is full.
tcp_beside_full_port()
{
	local before shared code=0

	before=$(tcp_rate 0 1 "$work/alone")
	bulk 0 3 "$work/slow" -P 4
	shared=$(tcp_rate 0 1 "$work/fast")
	wait_for 10 grows 0 || { echo "the slow stream does not go on"; code=1; }
	end_bulk
	echo "TCP: $before kbit/s alone, $shared kbit/s beside a stream by a slow cable" | tee -a "$work/figures"
	((code == 0 && before > 0 && shared >= before * 3 / 4))
}

work=$(mktemp -d)
cleanup rm -rf "$work"

# ---- collectives beside TCP ----

if [[ -n ${RING-} ]]; then
	torus_up "$RING" mtu 1500 "${patient[@]}"
	stamps_up || bail "no times of packets"
	ip_up "$RING" || bail "no network devices"
	for rate in ${RATES:-100mbit 200mbit}; do
		check cables__shaped all_cables "$RING" "$rate"
		check small_allreduce__beside_tcp_at_most_twice_its_time small_beside_tcp 2 "$rate"
	done
	diag <"$work/figures"
	finish
fi

# A packet takes 0.6 ms, and the processors have time left: on slow kernels as much longer. The rest of the time is of processors
# that the stream takes as well, and of what the device holds of it: so more than twice, and far less than what waits in all.
rate=$((20 / TORCOLL_SLOW))mbit
torus_up 4x4 mtu 1500 "${patient[@]}"
stamps_up || bail "no times of packets"
ip_up 16 || bail "no network devices"
check cables__shaped all_cables 16 "$rate"
check small_allreduce__beside_tcp_at_most_four_times_its_time one_of 3 small_beside_tcp 4 "$rate"

# ---- TCP beside collectives ----

check tcp__at_least_half_beside_large_allreduces one_of 3 tcp_beside_large
check large_allreduces__right test ! -e "$work/stop.wrong" || diag <"$work/stop.wrong"

# ---- a full port and the others ----

shape 0 d0m 1mbit
check full_port__blocks_no_other one_of 3 tcp_beside_full_port
diag <"$work/figures"

# ---- what waits when it is dropped ----

# What nodes 1 and 3 have dropped: of two ways a stream takes either.
dropped()
{
	echo $(($(counter 1 drop_forward) + $(counter 3 drop_forward)))
}

# A stream that a node between has no room for: UDP, of 8 times the rate of the next cable.
overrun()
{
	local before

	before=$(dropped)
	iperf 0 2 "$work/udp" -u -b 8M -l 1000 -t 4
	diag "$(($(dropped) - before)) dropped where the cable is slow"
	(($(dropped) > before))
}

shape 0 d0p 20mbit
shape 0 d0m 20mbit
shape 1 d0p 1mbit
shape 3 d0m 1mbit
check overrun__is_counted_at_the_node_between overrun

port_gone()
{
	node 0 torcollctl port del dev d0p && node 0 ip link show d0p >/dev/null
}

# waits NODE DEVICE: packets do, for it.
waits()
{
	node "$1" tc -s qdisc show dev "$2" | grep 'backlog [1-9]'
}

# Packets wait, and are in the device: what takes a second to send.
shape 0 d0p 100kbit
bulk 0 1 "$work/bulk" -P 4
eventually port__packets_wait 10 waits 0 d0p
check port__removed_while_packets_wait port_gone
eventually other_port__reaches_the_same_host 20 reaches 0 1
end_bulk

shape 0 d0m 100kbit
bulk 0 3 "$work/bulk" -P 4
eventually link__packets_wait 10 waits 0 d0m
check link__cut_while_packets_wait node 0 ip link set d0m down
node 0 ip link set d0m up
end_bulk

shape 3 d0m 100kbit
bulk 3 2 "$work/bulk" -P 4
eventually module__packets_wait 10 waits 3 d0m
check module__removed_while_devices_hold_packets rmmod torcoll
end_bulk
check module__loads_again module_load
finish
