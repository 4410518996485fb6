#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# Devices that a bridge or a bond has, or takes, are no ports; those of a VRF are, and so are those below a macvlan.

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
finish
