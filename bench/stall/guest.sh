#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The measuring part of "make bench-stall", in its guest: for each shape and size, what is wanted of CALLS, a line each as
# it is known. Fails if anything took longer than LIMIT microseconds.

set -euo pipefail

read -ra shapes <<<"${SHAPES:-2 4x4}"
calls=(idle memory
	allreduce allreduce/ring allreduce/direct allreduce/flood allreduce/auto/ordered
	reduce-scatter allgather broadcast alltoall scan exscan)
[[ -z ${CALLS-} ]] || read -ra calls <<<"$CALLS"
limit=${LIMIT:-2000}
out=$TORCOLL_RESULTS/stall

load-module
# Else the kernel's allocator gives up to 2,016 pages back to their zone in one go, whoever frees one: 2 to 4 ms.
sysctl -qw vm.percpu_pagelist_high_fraction=5000
trap 'torcollctl netns down >/dev/null 2>&1 || :; rmmod torcoll' EXIT
# what the first that is longer consists of, by the kernel's events
if [[ -n ${TRACE-} ]]; then
	export STALL_TRACE=$TRACE
	cd /sys/kernel/tracing
	echo 4096 >buffer_size_kb
	for event in irq sched/sched_switch sched/sched_wakeup workqueue/workqueue_execute_start napi torcoll; do
		echo 1 >"events/$event/enable" || :
	done
	cd - >/dev/null
fi
[[ -z ${BUDGET-} ]] || sysctl -qw net.core.netdev_budget="$BUDGET"
: >"$out"
for shape in "${shapes[@]}"; do
	sizes=${SIZES:-8M 32M 256M}
	# as much memory as ranks, and as long
	[[ $shape == 2 || -n ${SIZES-} ]] || sizes=8M
	# shellcheck disable=SC2086 # words
	bytes=$(numfmt --from=iec $sizes | paste -sd ,)
	torcollctl netns up "$shape" >/dev/null
	torcollctl netns run --no-prefix stall "$bytes" "${calls[@]}" |
		while read -r call size us why; do
			printf '%3d:%02d %-4s %-24s %6s %8s us %s\n' $((SECONDS / 60)) $((SECONDS % 60)) "$shape" "$call" \
				"$(numfmt --to=iec "$size")" "$us" "$why"
			echo "$shape $call $size $us" >>"$out"
		done
	torcollctl netns down >/dev/null
done
[[ -z ${TRACE-} ]] || cp /sys/kernel/tracing/trace "$TORCOLL_RESULTS/trace"
awk -v limit="$limit" '$4 > limit { n++ } END { if (n) { print n " took longer than " limit " us"; exit 1 } }' "$out"
