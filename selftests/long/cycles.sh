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

# What nothing could give back, in KiB: used memory without caches, and of that what is the kernel's.
used_kib()
{
	sync
	echo 3 >/proc/sys/vm/drop_caches
	# free pages that processors keep for themselves go back, too
	echo 1 >/proc/sys/vm/compact_memory
	awk '/^MemTotal:/ { used = $2 } /^(MemFree|Buffers|Cached|SReclaimable):/ { used -= $2 }
		END { print used }' /proc/meminfo
}

kernel_kib()
{
	awk '/^(SUnreclaim|Percpu|VmallocUsed|KernelStack|PageTables):/ { sum += $2 } END { print sum }' \
		/proc/meminfo
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
used=$(used_kib) kernel=$(kernel_kib)
for ((from = warm + 1; from <= cycles; from += 60)); do
	to=$((from + 59 < cycles ? from + 59 : cycles))
	check "cycles__${from}_to_$to" many $from $to || break
	diag "used: $(used_kib) KiB, kernel: $(kernel_kib) KiB"
done
diag <<<"$(grep -E '^(AnonPages|Shmem|Slab|Percpu|VmallocUsed|PageTables):' /proc/meminfo)"
within cycles__used_memory "$used" "$(used_kib)"
within cycles__kernel_memory "$kernel" "$(kernel_kib)"
finish
