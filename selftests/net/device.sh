#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# What happens to the devices of ports, idle and in the middle of collectives: another name, another MTU,
# a cable pulled and put back, a namespace deleted with all its devices.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

# port_is NODE DEVICE FILTER: of that port, as shown.
port_is()
{
	node "$1" torcollctl -j port show | jq -e ".[] | select(.ifname == \"$2\") | $3"
}

right()
{
	torcollctl netns run torcoll-perf allreduce -b 8 -e 1M -f 64 -n 2 -w 0
}

ops_go_on()
{
	(($(counter 0 ops) > $1 + 2))
}

# during NAME COMMAND...: begins in the middle of allreduces, which are right.
during()
{
	local name=$1 run ops code=0

	shift
	ops=$(counter 0 ops)
	torcollctl netns run torcoll-perf allreduce -b 256K -e 256K --in-place -c 50 -n 1 -w 0 >"$work/out" 2>&1 &
	run=$!
	wait_for 20 ops_go_on "$ops" || code=1
	kill -0 $run 2>/dev/null || code=2
	"$@" || code=3
	wait $run || code=4
	if ((code)); then
		not_ok "$name" "code $code: 1 no op, 2 ended before, 3 the event failed, 4 allreduce failed"
		diag <"$work/out"
	else
		ok "$name"
	fi
}

# 6.1 renames no device that is up.
rename()
{
	node 0 ip link set "$1" name "$2" ||
		{ node 0 ip link set "$1" down && node 0 ip link set "$1" name "$2" && node 0 ip link set "$2" up; }
}

there_and_back()
{
	rename d0p other && rename other d0p
}

# mtu SIZE: of both ends of the cable between nodes 0 and 1
mtu()
{
	node 0 ip link set d0p mtu "$1" && node 1 ip link set d0m mtu "$1"
}

lower_and_restore()
{
	mtu 1500 && sleep 0.5 && mtu 9000
}

raise()
{
	mtu 9500 && mtu 9000
}

flap()
{
	node 0 ip link set d0p down && sleep "${1:-1}" && node 0 ip link set d0p up
}

flap_often()
{
	local i

	for ((i = 0; i < 10; i++)); do
		flap 0.05 || return 1
	done
}

both_up()
{
	port_is 0 d0p '.state == "up"' && port_is 1 d0m '.state == "up"'
}

delete_namespaces()
{
	local n

	for n; do
		ip netns del "tor-$n" || return 1
	done
}

# ports_of NODE NUMBER: it has as many
ports_of()
{
	node "$1" torcollctl -j port show | jq -e "length == $2"
}

work=$(mktemp -d)
cleanup rm -rf "$work"
torus_up 2x2

check rename__idle rename d0p cable
eventually rename__shown 5 port_is 0 cable '.state == "up"'
check rename__allreduce_right right
check rename__back rename cable d0p
eventually rename__up_again 5 both_up
during rename__busy there_and_back

check mtu__lowered mtu 1500
eventually mtu__shown 5 port_is 0 d0p '.mtu == 1500 and .frame_bytes < 1500'
check mtu__allreduce_right right
check mtu__restored mtu 9000
eventually mtu__restored_shown 5 port_is 0 d0p '.mtu == 9000'
check mtu__restored_allreduce_right right
during mtu__raised_busy raise
during mtu__lowered_for_a_while_busy lower_and_restore

check carrier__down node 0 ip link set d0p down
eventually carrier__shown 5 port_is 1 d0m '.state == "no-carrier"'
check carrier__up node 0 ip link set d0p up
eventually carrier__up_again 5 both_up
during carrier__down_for_a_second_busy flap 1
during carrier__flaps_busy flap_often
eventually carrier__up_in_the_end 5 both_up

# a namespace lives on, without a name, as long as there are processes in it
during namespaces__deleted_busy delete_namespaces 0 1 2 3
check namespaces__deleted_busy_leave_nothing module_unload

torus_up 2x2
check namespace__deleted_idle delete_namespaces 3
eventually namespace__neighbours_port_is_gone 5 ports_of 1 1
eventually namespace__other_neighbours_port_is_gone 5 ports_of 2 1
check namespace__others_are_up port_is 0 d0p '.state == "up"'
torcollctl netns down
check namespace__deleted_leaves_nothing module_unload
finish
