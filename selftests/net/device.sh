#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# What happens to the devices of ports, idle and in the middle of collectives: another name, another MTU,
# a cable pulled and put back, a port removed and added, a device deleted and made again, a namespace deleted
# with all its devices. Ops go on over other cables where there are some.

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
	torcollctl netns run torcoll-perf allreduce -b 8 -e "$(up_to 1M)" -f 64 -n 2 -w 0
}

ops_above()
{
	(($(counter 0 ops) > $1))
}

# more_ops NUMBER: so many end within a minute.
more_ops()
{
	local ops

	ops=$(counter 0 ops)
	wait_for 60 ops_above $((ops + $1 - 1))
}

# Allreduces with checked results, one benchmark behind the other, until there is a file stop.
busy()
{
	while [[ ! -e $work/stop ]]; do
		torcollctl netns run torcoll-perf allreduce -b "$size" -e "$size" --in-place -c 20 -n 1 -w 0 || return
	done
}

# during NAME COMMAND...: begins in the middle of allreduces, which go on and are right.
during()
{
	local name=$1 run code=0

	shift
	rm -f "$work/stop"
	busy >"$work/out" 2>&1 &
	run=$!
	more_ops 2 || code=1
	"$@" >"$work/event" 2>&1 || code=2
	more_ops 3 || code=3
	touch "$work/stop"
	wait "$run" || code=4
	if ((code)); then
		not_ok "$name" "code $code: 1 no op, 2 the event failed, 3 ops do not go on, 4 allreduce failed"
		diag <<<"$(cat "$work/event" "$work/out")"
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
	rename d0p other && more_ops 2 && rename other d0p
}

# mtu SIZE: of both ends of the cable between nodes 0 and 1
mtu()
{
	node 0 ip link set d0p mtu "$1" && node 1 ip link set d0m mtu "$1"
}

# What is in use does not fit any more: that cable is avoided.
lower_and_restore()
{
	mtu 1500 && more_ops 2 && mtu 9000
}

raise()
{
	mtu 9500 && more_ops 2 && mtu 9000
}

# A moment, or as long as it takes some ops to end over other cables.
flap()
{
	node 0 ip link set d0p down && "${@:-true}" && node 0 ip link set d0p up
}

flap_often()
{
	local i

	for ((i = 0; i < 10; i++)); do
		flap sleep 0.05 || return 1
	done
}

both_up()
{
	port_is 0 d0p '.state == "up"' && port_is 1 d0m '.state == "up"'
}

remove_and_add_port()
{
	node 0 torcollctl port del 1 dim 0 dir plus && ports_of 0 1 && more_ops 2 && add_port
}

add_port()
{
	node 0 torcollctl port add 1 dim 0 dir plus dev d0p && wait_for 20 both_up
}

# The other end of a veth pair goes with it.
delete_and_make_device()
{
	node 0 ip link del d0p && wait_for 20 ports_of 0 1 && wait_for 20 ports_of 1 1 && more_ops 2 &&
		node 0 ip link add d0p mtu 9000 type veth peer name d0m netns tor-1 mtu 9000 &&
		node 0 ip link set d0p up && node 1 ip link set d0m up &&
		node 1 torcollctl port add 1 dim 0 dir minus dev d0m && add_port
}

# refused WORDS COMMAND...: it fails, and says so.
refused()
{
	local words=$1 said

	shift
	! said=$(LC_ALL=C "$@" 2>&1) && grep "$words" <<<"$said"
}

# Neither module nor fabric can go while ops run, which these do until they are killed.
refused_busy()
{
	local run code=0

	torcollctl netns run torcoll-perf allreduce -b "$size" -e "$size" -n 1000000 -w 0 >"$work/out" 2>&1 &
	run=$!
	more_ops 2 || code=1
	refused 'in use\|unavailable' rmmod torcoll || code=2
	refused 'has a comm' node 0 torcollctl fabric del 1 || code=3
	kill -0 "$run" && more_ops 2 || code=4
	pkill -x torcoll-perf
	wait "$run"
	return "$code"
}

delete_namespaces()
{
	local n

	for n; do
		ip netns del "tor-$n" || return 1
	done
}

# A namespace lives on, without a name, as long as there are processes in it.
names_deleted()
{
	local run

	torcollctl netns run torcoll-perf allreduce -b "$size" -e "$size" --in-place -c 200 -n 1 -w 0 &
	run=$!
	more_ops 2 || return 1
	delete_namespaces 0 1 2 3 || return 1
	kill -0 "$run" || return 1
	wait "$run"
}

# ports_of NODE NUMBER: it has as many
ports_of()
{
	node "$1" torcollctl -j port show | jq -e "length == $2"
}

# of the ops that something happens to
size=$(up_to 256K)
work=$(mktemp -d)
cleanup rm -rf "$work"
torus_up 2x2

check rename__idle rename d0p cable
eventually rename__shown 20 port_is 0 cable '.state == "up"'
check rename__allreduce_right right
check rename__back rename cable d0p
eventually rename__up_again 20 both_up
during rename__busy there_and_back

check mtu__lowered mtu 1500
eventually mtu__shown 20 port_is 0 d0p '.mtu == 1500 and .frame_bytes < 1500'
check mtu__allreduce_right right
check mtu__restored mtu 9000
eventually mtu__restored_shown 20 port_is 0 d0p '.mtu == 9000'
check mtu__restored_allreduce_right right
during mtu__raised_busy raise
during mtu__lowered_for_a_while_busy lower_and_restore

check carrier__down node 0 ip link set d0p down
eventually carrier__shown 20 port_is 1 d0m '.state == "no-carrier"'
check carrier__up node 0 ip link set d0p up
eventually carrier__up_again 20 both_up
during carrier__down_for_some_ops_busy flap more_ops 2
during carrier__flaps_busy flap_often
eventually carrier__up_in_the_end 20 both_up

during port__removed_busy remove_and_add_port
eventually port__added_again 20 both_up
during device__deleted_busy delete_and_make_device
eventually device__made_again 20 both_up
check unload__refused_busy refused_busy

check namespaces__deleted_busy names_deleted
check namespaces__deleted_busy_leave_nothing module_unload

# of a case that failed
ip -all netns delete
torus_up 2x2
check namespace__deleted_idle delete_namespaces 3
eventually namespace__neighbours_port_is_gone 20 ports_of 1 1
eventually namespace__other_neighbours_port_is_gone 20 ports_of 2 1
check namespace__others_are_up port_is 0 d0p '.state == "up"'
torcollctl netns down
check namespace__deleted_leaves_nothing module_unload
finish
