#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# Ports that are more than a bare Ethernet device: VLAN, MACsec, one that cannot gather; and devices
# that a bridge or a bond has, or takes.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

key=0123456789abcdef0123456789abcdef

# ends NODE: the device of that node's end of the cable, in a ring of two.
end_of()
{
	(($1)) && echo d0m || echo d0p
}

# Each side of the cable, by vlan_on NODE or macsec_on NODE, gets a device "top".
vlan_on()
{
	node "$1" ip link add link "$(end_of "$1")" name top type vlan id 5
}

macsec_on()
{
	local dev peer_mac

	dev=$(end_of "$1")
	peer_mac=$(node $((1 - $1)) ip -j link show "$(end_of $((1 - $1)))" | jq -r '.[0].address')
	node "$1" ip link add link "$dev" top type macsec encrypt on &&
		node "$1" ip macsec add top tx sa 0 pn 1 on key 00 "$key" &&
		node "$1" ip macsec add top rx port 1 address "$peer_mac" &&
		node "$1" ip macsec add top rx port 1 address "$peer_mac" sa 0 pn 1 on key 00 "$key"
}

# fabric_on DEVICE-0 DEVICE-1: a ring of two on these.
fabric_on()
{
	node 0 torcollctl fabric add 1 dims 2 node 0 &&
		node 1 torcollctl fabric add 1 dims 2 node 1 &&
		node 0 torcollctl port add 1 dim 0 dir plus dev "$1" &&
		node 1 torcollctl port add 1 dim 0 dir minus dev "$2" &&
		wait_for 10 port_is 0 '.state == "up"' && wait_for 10 port_is 1 '.state == "up"'
}

no_fabric()
{
	node 0 torcollctl fabric del 1 && node 1 torcollctl fabric del 1
}

# port_is NODE FILTER: the only port of that node.
port_is()
{
	node "$1" torcollctl -j port show | jq -e "length == 1 and (.[0] | $2)"
}

right()
{
	torcollctl netns run torcoll-perf allreduce -b 8 -e 256K -f 256 -n 1 -w 0
}

# stacked KIND MTU COPIES: devices made by KIND_on carry the fabric.
stacked()
{
	local kind=$1 mtu=$2 copies=$3 n

	for n in 0 1; do
		check "${kind}__made_on_$n" "${kind}_on" $n
		node $n ip link set top up
	done
	check "${kind}__fabric" fabric_on top top
	check "${kind}__mtu_and_frame_shown" port_is 0 ".mtu == $mtu and .frame_bytes > $mtu - 300 and .frame_bytes < $mtu"
	check "${kind}__copying_shown" port_is 0 "has(\"copies\") == $copies"
	check "${kind}__allreduce_right" right
	check "${kind}__fabric_gone" no_fabric
	for n in 0 1; do
		node $n ip link del top
	done
}

bytes_copied()
{
	counters tx_copied_bytes 2
}

no_gather()
{
	local n

	for n in 0 1; do
		node "$n" ethtool -K "$(end_of "$n")" sg off >/dev/null || return 1
	done
	fabric_on d0p d0m
}

add_link()
{
	node 0 ip link add "$@" && node 0 ip link set "$2" up
}

# enslaved KIND: refused while it is in one, down when it gets into one, up again when it comes out.
enslaved()
{
	local kind=$1

	check "${kind}__made" add_link name master0 type "$@"
	node 0 ip link set d0p down
	node 0 ip link set d0p master master0
	node 0 ip link set d0p up
	node 0 torcollctl fabric add 1 dims 2 node 0
	fails "${kind}__refused" 2 '^Error: dev: .*bridge, bond' \
		node 0 torcollctl port add 1 dim 0 dir plus dev d0p
	node 0 torcollctl fabric del 1
	node 0 ip link set d0p nomaster
	node 0 ip link set d0p up
	check "${kind}__fabric_on_what_it_left" fabric_on d0p d0m
	node 0 ip link set d0p down
	node 0 ip link set d0p master master0
	node 0 ip link set d0p up
	eventually "${kind}__takes_a_port" 5 port_is 0 \
		'.state == "no-carrier" and (.reason | test("enslaved"))'
	eventually "${kind}__other_side_hears_nothing" 5 port_is 1 '.state != "up"'
	node 0 ip link set d0p nomaster
	node 0 ip link set d0p up
	eventually "${kind}__gives_it_back" 10 port_is 0 '.state == "up"'
	eventually "${kind}__other_side_is_up" 10 port_is 1 '.state == "up"'
	check "${kind}__allreduce_right" right
	check "${kind}__fabric_gone" no_fabric
	node 0 ip link del master0
}

module_load || bail "the module does not load"
torus_up 2 --no-fabric

stacked vlan 9000 false
stacked macsec 8968 true

check no_gather__fabric no_gather
check no_gather__copying_shown port_is 0 '.copies | test("gather")'
before=$(bytes_copied)
check no_gather__allreduce_right right
check no_gather__bytes_counted test $(($(bytes_copied) - before)) -gt $((1 << 20))
check no_gather__fabric_gone no_fabric
for n in 0 1; do
	node "$n" ethtool -K "$(end_of "$n")" sg on >/dev/null
done

enslaved bridge
enslaved bond miimon 100
finish
