#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 3000
#
# Load, configure, run, unconfigure, unload, 500 times (or CYCLES): memory is where it was, within 1 %.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

cycles=${CYCLES:-500}
warm=20

# Free pages that processors keep for themselves: 30 MB at times, since the kernel chooses their number.
kept_free_kib()
{
	awk -v page="$(getconf PAGESIZE)" '/^ +count:/ { n += $2 } END { print n * page / 1024 }' /proc/zoneinfo
}

# What nothing could give back, in KiB: used memory without caches and without what processes have mapped
# of their own, as this shell, which grows (a page that a dead process left pinned counts); and of that
# what is the kernel's.
used_kib()
{
	awk -v kept="$(kept_free_kib)" '/^MemTotal:/ { used = $2 }
		/^(MemFree|Buffers|Cached|SReclaimable|AnonPages):/ { used -= $2 } END { print used - kept }' /proc/meminfo
}

kernel_kib()
{
	awk '/^(SUnreclaim|Percpu|VmallocUsed|KernelStack|PageTables):/ { sum += $2 } END { print sum }' \
		/proc/meminfo
}

# Caches go, and slabs without objects.
settle()
{
	local slab

	sync
	echo 3 >/proc/sys/vm/drop_caches
	for slab in /sys/kernel/slab/*/shrink; do
		echo 1 >"$slab"
	done 2>/dev/null
}

# Into used and kernel: the least of some looks, since what has ended is not gone at once.
measure()
{
	local i now

	used="" kernel=""
	for ((i = 0; i < 5; i++)); do
		settle
		now=$(used_kib)
		[[ -n $used ]] && ((used <= now)) || used=$now
		now=$(kernel_kib)
		[[ -n $kernel ]] && ((kernel <= now)) || kernel=$now
		sleep 0.5
	done
}

cycle()
{
	module_load && torcollctl netns up 2 &&
		torcollctl netns run torcoll-perf allreduce -b 64K -e 64K -n 1 -w 0 --in-place &&
		torcollctl netns down && module_unload
}

# many FROM TO: cycles of these numbers, until one fails.
many()
{
	local i out

	for ((i = $1; i <= $2; i++)); do
		out=$(cycle 2>&1) || { echo "cycle $i:"; echo "$out"; return 1; }
	done
}

# within NAME BEFORE AFTER: at most one percent more.
within()
{
	diag "$1: $2 KiB after $warm cycles, $3 after $cycles"
	check "$1" test $((($3 - $2) * 100)) -le "$2"
}

check cycles__first_$warm many 1 $warm
measure
used_before=$used kernel_before=$kernel
for ((from = warm + 1; from <= cycles; from += 60)); do
	to=$((from + 59 < cycles ? from + 59 : cycles))
	check "cycles__${from}_to_$to" many $from $to || break
	measure
	diag "used: $used KiB, kernel: $kernel KiB"
done
diag <<<"$(grep -E '^(AnonPages|Shmem|Slab|Percpu|VmallocUsed|PageTables):' /proc/meminfo)"
within cycles__used_memory "$used_before" "$used"
within cycles__kernel_memory "$kernel_before" "$kernel"
finish
