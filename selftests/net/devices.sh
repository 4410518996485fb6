#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# Ports of different kinds, each with allreduces over cables that lose frames: devices on top of others, with
# programs attached, with several queues, that cannot gather; and with every size of frames, from the least to the largest.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

key=0123456789abcdef0123456789abcdef

# end_of NODE: the device of that node's end of the cable, in a ring of two.
end_of()
{
	(($1)) && echo d0m || echo d0p
}

# top_on NODE ARGUMENT...: a device "top" on that end.
top_on()
{
	node "$1" ip link add link "$(end_of "$1")" name top type "${@:2}"
}

vlan_on()
{
	top_on "$1" vlan id 5
}

macsec_on()
{
	local peer_mac

	peer_mac=$(node $((1 - $1)) ip -j link show "$(end_of $((1 - $1)))" | jq -r '.[0].address')
	top_on "$1" macsec encrypt on &&
		node "$1" ip macsec add top tx sa 0 pn 1 on key 00 "$key" &&
		node "$1" ip macsec add top rx port 1 address "$peer_mac" &&
		node "$1" ip macsec add top rx port 1 address "$peer_mac" sa 0 pn 1 on key 00 "$key"
}

# A pair of its own, made with node 0's end.
queues_on()
{
	(($1)) || node 0 ip link add top mtu 9000 numtxqueues 4 numrxqueues 4 type veth \
		peer name top netns tor-1 mtu 9000 numtxqueues 4 numrxqueues 4
}

# The same with a program at both ends, when they are there.
xdp_on()
{
	queues_on "$1" && node "$1" ip link set top mtu "$mtu" || return
	(($1 == 0)) || { node 0 xdp top "$mode" && node 1 xdp top "$mode"; }
}

# frame_is MTU: a frame carries what fits behind its header, in multiples of 4 bytes, a long one in such of 64.
frame_is()
{
	local align=4

	(($1 < 4096 + 64)) || align=64
	port_is 0 ".mtu == $1 and .frame_bytes == $((($1 - 64) / align * align))"
}

# Also messages of one frame, of any length that there is: 32 KiB where the MTU is 65,535.
right()
{
	torcollctl netns run torcoll-perf allreduce -b 8 -e 256K -f 8 -n 1 -w 0
}

# lossy DEVICE-0 DEVICE-1: a hundredth of the frames is lost, of enough that some are.
lossy()
{
	local before

	node 0 tc qdisc add dev "$1" root netem loss 1% && node 1 tc qdisc add dev "$2" root netem loss 1% || return
	before=$(counters tx_retransmits 2)
	torcollctl netns run torcoll-perf allreduce -b 8 -e 256K -f 32768 -n 12 -w 0 || return
	(($(counters tx_retransmits 2) > before)) || { echo "nothing was sent again"; return 1; }
	node 0 tc qdisc del dev "$1" root && node 1 tc qdisc del dev "$2" root
}

# ring KIND COPIES: on the devices "top". COPIES: what is said of copies, or "none".
ring()
{
	check "$1__fabric" fabric_on top top
	check "$1__frame_fills_the_mtu" frame_is "$mtu"
	check "$1__copies_shown" port_is 0 "(.copies // \"none\") | test(\"$2\")"
	check "$1__allreduce_with_loss" lossy top top
	check "$1__fabric_gone" no_fabric
}

# stacked KIND MODULE COPIES: devices made by KIND_on carry the fabric.
stacked()
{
	local n

	if ! modprobe "$2" 2>/dev/null; then
		skip "$1" "the kernel has no module $2"
		return
	fi
	for n in 0 1; do
		check "$1__made_on_$n" "${1%%_*}_on" $n
		node $n ip link set top up
	done
	ring "$1" "$3"
	for n in 0 1; do
		node $n ip link del top 2>/dev/null
	done
}

# cable MTU: both ends of the bare cable.
cable()
{
	node 0 ip link set d0p mtu "$1" && node 1 ip link set d0m mtu "$1"
}

# What is less leaves no room for a frame.
too_small()
{
	cable "$1"
	node 0 torcollctl fabric add 1 dims 2 node 0
	fails "mtu_$1__refused" 2 '^Error: dev: the device'\''s MTU is too small: .*384' \
		node 0 torcollctl port add 1 dim 0 dir plus dev d0p
	node 0 torcollctl fabric del 1
}

sized()
{
	cable "$1"
	check "mtu_$1__fabric" fabric_on d0p d0m
	check "mtu_$1__frame_fills_it" frame_is "$1"
	check "mtu_$1__allreduce" right
	check "mtu_$1__fabric_gone" no_fabric
}

# A port that is in use, and then too small: it says so, and is back when it is large enough.
shrunk()
{
	fabric_on d0p d0m && cable 383 && wait_for 20 port_is 0 '.reason // "" | test("too small.*384")' &&
		cable 9000 && wait_for 20 port_is 0 '.state == "up"' && no_fabric
}

no_gather()
{
	node 0 ethtool -K d0p sg "$1" >/dev/null && node 1 ethtool -K d0m sg "$1" >/dev/null
}

bytes_copied()
{
	counters tx_copied_bytes 2
}

# A cable of node 1 towards node 3 with four queues, each with a queueing discipline that counts, in place of the usual one.
queues_after_one()
{
	node 1 ip link delete d1p
	node 1 ip link add d1p mtu 9000 numtxqueues 4 type veth peer name d1m netns tor-3 mtu 9000 &&
		node 1 tc qdisc add dev d1p root mq && node 1 ip link set d1p up && node 3 ip link set d1m up &&
		node 1 torcollctl port add 1 dim 1 dir plus dev d1p && node 3 torcollctl port add 1 dim 1 dir minus dev d1m &&
		wait_for 20 node_up 1 d1p
}

node_up()
{
	node "$1" torcollctl -j port show | jq -e ".[] | select(.ifname == \"$2\") | .state == \"up\""
}

# queues_used PACKETS COMMAND...: how many of them send at least so many while it runs.
queues_used()
{
	local packets=$1 before after

	shift
	before=$(queue_packets)
	"$@" >&2
	after=$(queue_packets)
	paste -d ' ' <(echo "$before") <(echo "$after") | awk -v packets="$packets" '$2 - $1 >= packets { n++ } END { print n + 0 }'
}

queue_packets()
{
	node 1 tc -s -j qdisc show dev d1p | jq '.[] | select(.kind != "mq") | .packets'
}

# flows FROM TO: three datagrams of each of 48.
flows='
import socket, sys
for port in range(48):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        for i in range(3):
            s.sendto(b"flow", (sys.argv[1], 9000 + port))
'
flows()
{
	node "$1" python3 -c "$flows" "$(address "$2")"
}

module_load || bail "the module does not load"
torus_up 2 --no-fabric

mtu=9000
stacked vlan 8021q none
stacked queues veth none
mtu=8968
stacked macsec macsec encrypts
mtu=1500 mode=native
stacked xdp_native veth none
mtu=9000 mode=frags
stacked xdp_frags veth none
mode=generic
stacked xdp_generic veth none

check no_gather__set no_gather off
check no_gather__fabric fabric_on d0p d0m
check no_gather__copying_shown port_is 0 '.copies | test("gather")'
before=$(bytes_copied)
check no_gather__allreduce_with_loss lossy d0p d0m
check no_gather__bytes_counted test $(($(bytes_copied) - before)) -gt $((1 << 20))
check no_gather__fabric_gone no_fabric
check no_gather__unset no_gather on

for mtu in 68 383; do
	too_small $mtu
done
for mtu in 384 447 65535; do
	sized $mtu
done
cable 9000
check mtu__too_small_while_in_use shrunk

torcollctl netns down
torus_up 2x2 "${patient[@]}"
stamps_up || bail "no times of packets"
ip_up 4 || bail "no network device"
check spread__queues queues_after_one
check spread__own_flows test "$(queues_used 6 flows 1 3)" -ge 3
# half of them by node 2
check spread__relayed_flows test "$(queues_used 3 flows 0 3)" -ge 3
finish
