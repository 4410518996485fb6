#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
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
	torcollctl netns exec 0 tcpdump -Z root -q -i d0p -w "$tmp/frames.pcap" -U ether proto 0x88b5 \
		2>"$tmp/tcpdump.log" &
	capture=$!
	wait_for 20 grep -q "listening on" "$tmp/tcpdump.log"
}

declare -A filters=(
	[hello]='torcoll.type == 1 && torcoll.hello.hears == 1'
	[data]='torcoll.type == 2 && torcoll.length > 4096'
	[ack]='torcoll.type == 3 && torcoll.ack.state == 0'
	[comm]='torcoll.type == 5 && torcoll.join.step == 5'
	[unknown]='!torcoll || torcoll.type > 5'
	[notes]=_ws.expert
)
declare -A frames

# Frames that each of the filters lets pass, in one reading.
count_frames()
{
	local name i names=("${!filters[@]}") numbers statistics=io,stat,0

	for name in "${names[@]}"; do
		statistics+=",${filters[$name]}"
	done
	tshark -q -X lua_script:"$TORCOLL_TOP/tools/wireshark/torcoll.lua" -r "$tmp/frames.pcap" \
		-z "$statistics" >"$tmp/statistics" 2>"$tmp/tshark.log"
	# | from <> to | frames | bytes | frames | bytes |
	read -ra numbers < <(awk -F'|' '/<>/ { for (i = 3; i < NF; i += 2) printf "%d ", $i }' "$tmp/statistics")
	((${#numbers[@]} == ${#names[@]})) || bail "tshark: $(<"$tmp/tshark.log")"
	for i in "${!names[@]}"; do
		frames[${names[i]}]=${numbers[i]}
	done
}

torus_up 3
# its socket switches a static key in the receive path
on_one_cpu start_capture || bail "no capture: $(<"$tmp/tcpdump.log")"
check allreduce__right_beside_a_capture torcollctl netns run torcoll-perf allreduce -b 8 -e 64K -f 8192 \
	-n 2 -w 1
kill "$capture"
wait "$capture"
count_frames
for type in hello data ack comm; do
	check "${type}__captured" test "${frames[$type]}" -gt 0
done
is frames__all_known "${frames[unknown]}" 0
is frames__nothing_to_note "${frames[notes]}" 0
finish
