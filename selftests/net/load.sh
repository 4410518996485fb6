#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Loading and unloading, idle and in use.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

# Slow kernels have a test of many more.
load_cycles()
{
	local i n=$((TORCOLL_SLOW > 1 ? 2 : 20))

	for ((i = 0; i < n; i++)); do
		module_load && rmmod torcoll || return 1
	done
}

hold_device()
{
	exec 9<>/dev/torcoll
}

# What the module said when it chose the fastest checksum: how long each took.
checksum_times()
{
	dmesg | grep 'torcoll: CRC32C of 4096 bytes' | tail -n 1 | grep -oE '(library|table|instruction) [0-9]+ ns'
}

# Does the monitor of node 0 listen? A fabric is changed until it tells of that.
hears()
{
	node 0 torcollctl fabric add 3 dims 2 node 0 && node 0 torcollctl fabric del 3
	grep -q 'fabric deleted 3' "$work/events"
}

# reload KEY: quickly, so that the module is back before whoever listens has heard that it was gone; then what is made at once.
reload()
{
	rmmod torcoll && module_load && node 0 torcollctl fabric add "$1" dims 2 node 1
}

# lose_events COMMAND...: the monitor stands still while more events come than its socket holds, and then that happens.
lose_events()
{
	local i code

	kill -STOP "$monitor"
	for ((i = 0; i < 200; i++)); do
		echo fabric add 3 dims 2 node 0
		echo fabric del 3
	done | node 0 torcollctl -b - && "$@"
	code=$?
	kill -CONT "$monitor"
	return "$code"
}

work=$(mktemp -d)
cleanup rm -rf "$work"
check load__and_unload_again_and_again load_cycles
module_load || bail "the module does not load"
wait_for 20 test -c /dev/torcoll
check device__is_there test -c /dev/torcoll
# nothing sums 4 KiB within 50 ns: a clock that stands still, or code that the compiler took out
diag <<<"$(checksum_times)"
check checksums__were_really_timed test "$(checksum_times | awk '$2 >= 50' | wc -l)" -ge 2
is checksums__none_was_not "$(checksum_times | awk '$2 < 50')" ""
hold_device
fails unload__refused_while_a_file_is_open any "in use|unavailable" rmmod torcoll
exec 9>&-
check unload__after_close wait_for 20 rmmod torcoll

torus_up 2x2
fails fabric_add__twice any "already" node 0 torcollctl fabric add 1 dims 2x2 node 0
torcollctl netns exec 0 torcollctl monitor >"$work/events" 2>"$work/said" &
monitor=$!
cleanup kill "$monitor"
eventually monitor__listens 20 hears
check unload__with_configured_nodes rmmod torcoll
check load__again module_load
: >"$work/events"
eventually monitor__says_that_it_was_unloaded 20 grep -qx 'The module was unloaded.' "$work/said"
eventually monitor__says_that_it_is_loaded 20 grep -qx 'The module is loaded.' "$work/said"
eventually monitor__listens_again 20 hears
check reload__at_once reload 4
eventually monitor__what_was_made_at_once 20 grep -q 'fabric new 4 2 node 1: ' "$work/events"
check lost__module_goes_and_comes lose_events reload 5
eventually lost__is_said 20 grep -qx 'Events were lost.' "$work/said"
eventually lost__monitor_tells_what_is_there 20 grep -q 'fabric new 5 2 node 1: ' "$work/events"
check lost__fabric_is_deleted node 0 torcollctl fabric del 5
eventually lost__monitor_listens 20 grep -q 'fabric deleted 5' "$work/events"
: >"$work/said"
check lost__module_goes lose_events rmmod torcoll
eventually lost__monitor_says_so 20 grep -qx 'The module was unloaded.' "$work/said"
torcollctl netns down
finish
