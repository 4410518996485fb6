#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 500
#
# Broadcasts cost each cable a frame or two, whatever becomes of cables meanwhile; and random frames, written to the
# network device or sent by a neighbour, harm nobody.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

# broadcasts NAME: one from each node; what they cost is in $work/NAME.
broadcasts()
{
	broadcast 4x4 tor0 $((10 * TORCOLL_SLOW)) >"$work/$1"
}

# said NAME NUMBER
said()
{
	awk -v name="$2" '{ for (i = 1; i < NF; i += 2) if ($i == name) print $(i + 1) }' "$work/$1"
}

# costs_little NAME: no cable more than two frames for a broadcast, and none arrives twice.
costs_little()
{
	diag <"$work/$1"
	check "$1__at_most_two_frames_a_cable" test "$(said "$1" most)" -le 2
	is "$1__none_twice" "$(said "$1" again)" 0
	is "$1__all_was_seen" "$(said "$1" blind)" 0
}

everyone_knows()
{
	torcollctl -j netns show | jq -e "all(.fabric.dead_links == $1)"
}

flap()
{
	until [[ -e $work/stop ]]; do
		node 6 ip link set d1p down
		node 6 ip link set d1p up
	done
}

while_flapping()
{
	local flapping

	flap &
	flapping=$!
	broadcasts flapping
	touch "$work/stop"
	wait "$flapping"
}

goes_on()
{
	check "$1__every_pair_pings" pairs_ping 4
	check "$1__every_pair_pings_by_ipv6" pairs_ping 6
	check "$1__broadcasts" broadcasts "$1"
	is "$1__broadcasts_arrive" "$(said "$1" arrived)" 240
	costs_little "$1"
	check "$1__allreduce" torcollctl netns run torcoll-perf allreduce -b 64K -e 64K -n 2 -w 0
}

frames=$((100000 / TORCOLL_SLOW))
work=$(mktemp -d)
cleanup rm -rf "$work"
torus_up 4x4 "${patient[@]}"
stamps_up || bail "no times of packets"
eventually fabric__no_dead_links 30 everyone_knows 0
ip_up 16 || bail "no network device"
on_one_cpu hold_socket || bail "no packet socket"
cleanup on_one_cpu release_socket

check calm__broadcasts broadcasts calm
is calm__arrive_everywhere "$(said calm arrived)" 240
# a tree of 16 nodes has 15 cables
is calm__a_frame_for_each_cable_of_the_tree "$(said calm frames)" 240
is calm__some_cables_carry_none "$(said calm least)" 0
costs_little calm

node 6 ip link set d1p down
eventually cut__everyone_knows 30 everyone_knows 2
check cut__broadcasts broadcasts cut
is cut__arrive_everywhere "$(said cut arrived)" 240
costs_little cut
node 6 ip link set d1p up
eventually cut__mended 30 everyone_knows 0

check flapping__broadcasts while_flapping
costs_little flapping
eventually flapping__mended 60 everyone_knows 0

check garbage__at_the_device garbage device 5 tor0 $frames 1
goes_on device
check garbage__at_a_cable garbage cable 6 d0p $frames 2
check garbage__at_another_cable garbage cable 9 d1m $frames 3
goes_on cable
finish
