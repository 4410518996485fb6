#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 200
#
# Frames as the module sends them, captured during an allreduce, are what the dissector says; and a capture
# disturbs nothing.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

tmp=$(mktemp -d)
cleanup rm -rf "$tmp"

start_capture()
{
	torcollctl netns exec 0 tcpdump -q -i d0p -w "$tmp/frames.pcap" -U ether proto 0x88b5 \
		2>"$tmp/tcpdump.log" &
	capture=$!
	wait_for 20 grep -q "listening on" "$tmp/tcpdump.log"
}

# count FILTER: frames that it lets pass.
count()
{
	tshark -X lua_script:"$TORCOLL_TOP/tools/wireshark/torcoll.lua" -r "$tmp/frames.pcap" -Y "$1" \
		2>/dev/null | wc -l
}

some()
{
	local n

	n=$(count "$1")
	echo "$n frames: $1"
	((n > 0))
}

torus_up 3
# its socket switches a static key in the receive path
on_one_cpu start_capture || bail "no capture: $(<"$tmp/tcpdump.log")"
check allreduce__right_beside_a_capture torcollctl netns run torcoll-perf allreduce -b 8 -e 64K -f 8192 \
	-n 2 -w 1
kill "$capture"
wait "$capture"
for type in hello data ack comm; do
	case $type in
	hello)	check hello__captured some 'torcoll.type == 1 && torcoll.hello.hears == 1' ;;
	data)	check data__captured some 'torcoll.type == 2 && torcoll.length > 4096' ;;
	ack)	check ack__captured some 'torcoll.type == 3 && torcoll.ack.state == 0' ;;
	comm)	check comm__captured some 'torcoll.type == 5 && torcoll.join.step == 5' ;;
	esac
done
is frames__all_known "$(count '!torcoll || torcoll.type > 5')" 0
is frames__nothing_to_note "$(count _ws.expert)" 0
finish
