#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# Devices that a bridge or a bond has, or takes, are no ports; those of a VRF are, and so are those below a macvlan, or below
# another port.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

right()
{
	torcollctl netns run torcoll-perf allreduce -b 8 -e 256K -f 256 -n 1 -w 0
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
	eventually "${kind}__takes_a_port" 20 port_is 0 \
		'.state == "no-carrier" and (.reason | test("enslaved"))'
	eventually "${kind}__other_side_hears_nothing" 20 port_is 1 '.state != "up"'
	node 0 ip link set d0p nomaster
	node 0 ip link set d0p up
	eventually "${kind}__gives_it_back" 20 port_is 0 '.state == "up"'
	eventually "${kind}__other_side_is_up" 20 port_is 1 '.state == "up"'
	check "${kind}__allreduce_right" right
	check "${kind}__fabric_gone" no_fabric
	node 0 ip link del master0
}

# beside NAME COMMAND...: the command puts something above the device that takes none of its frames. It may come before the port,
# or after it.
beside()
{
	local name=$1

	shift
	check "${name}__comes_first" node 0 "$@"
	check "${name}__takes_a_port" fabric_on d0p d0m
	check "${name}__allreduce_right" right
	node 0 ip link set d0p nomaster
	node 0 ip link del "$name"
	node 0 ip link set d0p up
	eventually "${name}__may_go" 20 port_is 0 '.state == "up"'
	check "${name}__comes_later" node 0 "$@"
	node 0 ip link set d0p up
	eventually "${name}__leaves_the_port_up" 20 port_is 0 '.state == "up"'
	check "${name}__allreduce_right_again" right
	check "${name}__fabric_gone" no_fabric
	node 0 ip link set d0p nomaster
	node 0 ip link del "$name"
}

# port_above NODE DEVICE KEY DIRECTION TYPE...: a port of that fabric, on a device on top of the cable's.
port_above()
{
	node "$1" ip link add top link "$2" type "${@:5}" && node "$1" ip link set top up &&
		node "$1" torcollctl port add "$3" dim 0 dir "$4" dev top
}

not_above()
{
	node 0 ip link del top && node 1 ip link del top
}

# up NODE PORTS: of all fabrics.
up()
{
	node "$1" torcollctl -j port show | jq -e "length == $2 and all(.[]; .state == \"up\")"
}

second_fabric()
{
	node 0 torcollctl fabric add 3 dims 2 node 0 && node 1 torcollctl fabric add 3 dims 2 node 1 &&
		port_above 0 d0p 3 plus "$@" && port_above 1 d0m 3 minus "$@" && wait_for 20 up 0 2 && wait_for 20 up 1 2
}

# many_frames FABRIC: more than a thousand to each node.
many_frames()
{
	torcollctl netns run env TORCOLL_FABRIC="$1" torcoll-perf allreduce -b 1M -e 1M -n 4 -w 0
}

# at_most NUMBER COUNTED
at_most()
{
	echo "$2"
	(($2 <= $1))
}

# above NAME NUMBER TYPE...: two fabrics on a cable, and how many frames the ports may hear of each other's: hellos go to a group,
# which a macvlan and the device below it both hear.
above()
{
	check "${1}__fabric_below" fabric_on d0p d0m
	check "${1}__fabric_above" second_fabric "${@:3}"
	check "${1}__allreduce_right" many_frames 3
	check "${1}__not_the_frames_of_the_other" at_most "$2" "$(counter 0 drop_fabric)"
	node 0 torcollctl fabric del 3
	node 1 torcollctl fabric del 3
	check "${1}__fabrics_gone" no_fabric
	check "${1}__gone" not_above
}

# Both ways of a ring of two on one cable: the other one on a VLAN of it.
both_ways()
{
	node 0 torcollctl fabric add 1 dims 2 cables 2 node 0 &&
		node 1 torcollctl fabric add 1 dims 2 cables 2 node 1 &&
		node 0 torcollctl port add 1 dim 0 dir plus dev d0p &&
		node 1 torcollctl port add 1 dim 0 dir minus dev d0m &&
		port_above 0 d0p 1 minus vlan id 5 && port_above 1 d0m 1 plus vlan id 5 &&
		wait_for 20 up 0 2 && wait_for 20 up 1 2
}

module_load || bail "the module does not load"
torus_up 2 --no-fabric

enslaved bridge
enslaved bond miimon 100
check passthru__fabric fabric_on d0p d0m
check passthru__made node 0 ip link add macvlan0 link d0p up type macvlan mode passthru
eventually passthru__takes_a_port 20 port_is 0 '.state == "no-carrier" and (.reason | test("enslaved"))'
node 0 torcollctl port del 1 dim 0 dir plus
fails passthru__refused 2 '^Error: dev: .*bridge, bond' node 0 torcollctl port add 1 dim 0 dir plus dev d0p
node 0 ip link del macvlan0
check passthru__fabric_gone no_fabric
beside vrf0 sh -c "ip link add vrf0 type vrf table 9 && ip link set vrf0 up && ip link set d0p master vrf0"
beside macvlan0 ip link add macvlan0 link d0p up type macvlan mode bridge
above above_vlan 0 vlan id 5
above above_macvlan 1000 macvlan mode bridge
before=$(($(counters rx_duplicates 2) - $(counters tx_retransmits 2)))
check both_ways__up both_ways
check both_ways__allreduce_right many_frames 1
# where the guest has no time, some frames are sent again, and a link may go down; not all frames, nor at each hello
diag "$(counters tx_retransmits 2) frames sent again"
check both_ways__nothing_comes_twice at_most 100 $(($(counters rx_duplicates 2) - $(counters tx_retransmits 2) - before))
check both_ways__no_link_goes_down at_most 8 "$(counters link_downs 2)"
check both_ways__gone eval 'no_fabric && not_above'
finish
