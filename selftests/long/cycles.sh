#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 3000
#
# Load, configure, run, unconfigure, unload, 500 times (or CYCLES): memory is where it was, within 1 %. One look at it
# says no more than to 1 % itself, whatever ran before: it is the middle of the first four that is compared with the
# middle of the last four: a page lost in every fifth cycle is found.

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

# middle NUMBER...: of four numbers.
middle()
{
	printf '%d\n' "$@" | sort -n | awk '{ n[NR] = $1 } END { print int((n[2] + n[3]) / 2) }'
}

# within NAME KIB...: of these looks, the last four at most one percent above the first four.
within()
{
	local name=$1 before after

	shift
	before=$(middle "${@:1:4}")
	after=$(middle "${@: -4}")
	diag "$name: $before KiB at first, $after in the end"
	check "$name" test $(((after - before) * 100)) -le "$before"
}

check cycles__first_$warm many 1 $warm
measure
all_used=("$used") all_kernel=("$kernel")
# in eight parts
for ((part = 0; part < 8; part++)); do
	from=$((warm + 1 + part * (cycles - warm) / 8))
	to=$((warm + (part + 1) * (cycles - warm) / 8))
	check "cycles__${from}_to_$to" many $from $to || break
	measure
	diag "used: $used KiB, kernel: $kernel KiB"
	all_used+=("$used") all_kernel+=("$kernel")
done
diag <<<"$(grep -E '^(AnonPages|Shmem|Slab|Percpu|VmallocUsed|PageTables):' /proc/meminfo)"
within cycles__used_memory "${all_used[@]}"
within cycles__kernel_memory "${all_kernel[@]}"
finish
