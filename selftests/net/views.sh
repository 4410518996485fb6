#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# What one can see from outside: memory of nodes, tracepoints, who is late.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

tracing=/sys/kernel/tracing
limit_kib=256

# Kernel memory that can only be ours while nothing else happens, in KiB.
kernel_kib()
{
	echo 3 >/proc/sys/vm/drop_caches
	awk '/^(SUnreclaim|Percpu|VmallocUsed):/ { sum += $2 } END { print sum }' /proc/meminfo
}

# Sixteen more nodes, of a second fabric in the same namespaces.
memory_of_a_node()
{
	local n before after

	before=$(kernel_kib)
	for ((n = 0; n < 16; n++)); do
		node "$n" torcollctl fabric add 2 dims 4x4 node "$n" ethertype 0x88b7 || return 1
	done
	after=$(kernel_kib)
	echo "16 nodes take $((after - before)) KiB"
	for ((n = 0; n < 16; n++)); do
		node "$n" torcollctl fabric del 2 || return 1
	done
	(((after - before) / 16 < limit_kib))
}

said_memory()
{
	local bytes

	bytes=$(node 0 torcollctl -j node show | jq '[.. | objects | .memory? | numbers] | add')
	echo "node show says $bytes bytes"
	((bytes > 0 && bytes < limit_kib * 1024))
}

# The tracepoints that fired while all ranks said hello.
trace_hello()
{
	echo 1 >$tracing/events/torcoll/enable
	torcollctl netns run hello >/dev/null || return 1
	echo 0 >$tracing/events/torcoll/enable
	grep -oE 'torcoll_[a-z_]+:' $tracing/trace | sort | uniq -c
	: >$tracing/trace
}

fired()
{
	grep -q " $1:" <<<"$events"
}

# A rank that does not call: the others' op says for whom it waits.
late_rank_is_named()
{
	node 0 torcollctl -j op show | jq -e '.. | objects | select(has("waits_for")) | .waits_for != []'
}

work=$(mktemp -d)
cleanup rm -rf "$work"
torus_up 4x4 "${patient[@]}"
check memory__of_a_node memory_of_a_node
check memory__as_shown said_memory
events=$(trace_hello)
diag <<<"$events"
for event in torcoll_tx torcoll_rx torcoll_op_submit torcoll_op_done; do
	check "trace__$event" fired $event
done

# rank 5 stops before it calls
ops=$(counter 0 ops)
torcollctl netns run torcoll-perf allreduce -b "$(up_to 1M)" -e "$(up_to 1M)" -n 100000 -w 0 >"$work/out" 2>&1 &
run=$!
stop_rank_5()
{
	local pid

	for pid in $(pgrep -x torcoll-perf); do
		grep -qz '^TORCOLL_RANK=5$' "/proc/$pid/environ" && kill -STOP "$pid" && return
	done
	return 1
}
running()
{
	(($(counter 0 ops) > ops + 2))
}
check late__ops_run wait_for 30 running || diag <"$work/out"
check late__rank_stopped stop_rank_5
eventually late__is_named 20 late_rank_is_named
diag <<<"$(node 0 torcollctl op show)"
kill "$run"
pkill -CONT -x torcoll-perf
wait "$run"
finish
