#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 200
#
# IP on the ports of a torus goes on while collectives run, and a capture disturbs nothing.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

address()
{
	node 0 ip address add 10.9.0.1/24 dev d0p &&
		node 1 ip address add 10.9.0.2/24 dev d0m &&
		node 0 ping -c 1 -W 5 10.9.0.2
}

# busy FILE ARGUMENT...: allreduces until FILE appears; fails if one does.
busy()
{
	local until=$1

	shift
	while [[ ! -e $until ]]; do
		torcollctl netns run torcoll-perf allreduce -w 0 -n 2 "$@" || return 1
	done
}

# 100 echoes a second, while allreduces use the same cable.
ping_beside()
{
	local run code ops

	ops=$(counter 0 ops)
	busy "$work/stop" -b 64K -e 256K -f 4 >"$work/busy" 2>&1 &
	run=$!
	node 0 chrt -r 1 ping -q -i 0.01 -c 400 10.9.0.2 >"$work/ping"
	code=$?
	touch "$work/stop"
	wait "$run" || { cat "$work/busy"; return 1; }
	cat "$work/ping"
	echo "ops meanwhile: $(($(counter 0 ops) - ops))"
	((code == 0 && $(counter 0 ops) > ops))
}

nothing_lost()
{
	grep -q '400 packets transmitted, 400 received, 0% packet loss' "$work/ping"
}

listens()
{
	grep -q 'listening on' "$work/tcpdump.err"
}

start_capture()
{
	node 0 tcpdump -n -i d0p -s 128 -w "$work/capture" "$@" 2>"$work/tcpdump.err" &
	capture=$!
	wait_for 20 listens
}

end_capture()
{
	kill "$capture"
	wait "$capture"
}

# The frames of ours in the capture, to $1 and from the other side.
captured()
{
	tcpdump -n -e -r "$work/capture" 'ether proto 0x88b5 and ether '"$1"' '"$mac" 2>/dev/null | wc -l
}

work=$(mktemp -d)
cleanup rm -rf "$work"
torus_up 2x2
check ip__over_a_port address
check ping__beside_allreduces ping_beside
diag <"$work/ping"
check ping__lost_nothing nothing_lost

mac=$(node 0 ip -j link show d0p | jq -r '.[0].address')
on_one_cpu start_capture || bail "no capture"
copied=$(counters tx_copied_bytes 4)
check capture__allreduce_right torcollctl netns run torcoll-perf allreduce -b 1M -e 1M -n 3 -w 0
check capture__swing_right torcollctl netns run torcoll-perf allreduce -b 8 -e 256K -f 32 -n 3 -w 0 \
	--algorithm swing-bw
now=$(counters tx_copied_bytes 4)
on_one_cpu end_capture
diag <"$work/tcpdump.err"
check capture__sent_frames test "$(captured src)" -gt 100
check capture__received_frames test "$(captured dst)" -gt 100
diag "copied with the capture: $((now - copied)) bytes"
check capture__zero_copy_stays test $((now - copied)) -lt $((1 << 20))
finish
