#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# processors: 2
#
# What programs do in the middle of ops, and that nothing of them is left.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

pinned()
{
	echo 1 >/proc/sys/vm/stat_refresh
	awk '/^nr_foll_pin_acquired/ { a = $2 } /^nr_foll_pin_released/ { r = $2 }
		END { print a - r }' /proc/vmstat
}

nothing_pinned()
{
	[[ $(pinned) == "$base" ]]
}

torus_up 2x2 "${patient[@]}"
base=$(pinned)
fold misuse timeout $((200 * TORCOLL_SLOW)) misuse
fold misuse timeout $((200 * TORCOLL_SLOW)) misuse_threads
fold misuse timeout $((60 * TORCOLL_SLOW)) misuse_memory
fold races timeout $((90 * TORCOLL_SLOW)) races
eventually misuse__leaves_nothing_pinned 20 nothing_pinned
eventually misuse__leaves_nothing_charged 20 nothing_charged
finish
