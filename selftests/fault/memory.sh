#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# Softirqs get no memory, one time in ten: frames are not built, or dropped, and counted as that; results stay
# right. For kernels with fault injection.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

nodes=4
faults=/sys/kernel/debug/failslab
if [[ ! -w $faults/require-start ]]; then
	echo "1..0 # SKIP this kernel has no fault injection"
	exit
fi

# Only allocations that may not sleep, with a caller in the module's text.
aim()
{
	local start bytes

	start=$(</sys/module/torcoll/sections/.text)
	bytes=$(size -A "${TORCOLL_KO:?not in a guest}" | awk '$1 == ".text" { print $2 }')
	echo 0 >"$faults/verbose"
	echo Y >"$faults/ignore-gfp-wait"
	echo "$start" >"$faults/require-start"
	printf '%#x\n' $((start + bytes)) >"$faults/require-end"
	echo -1 >"$faults/times"
}

fail()
{
	echo "$1" >"$faults/probability"
}

above()
{
	(($(counters "$1" "$nodes") > $2))
}

# right COUNTER ARGUMENT...: allreduces whose results are, with memory short from the first one on until
# the counter has moved. Making a comm is refused then, as it should be.
right()
{
	local counter=$1 run ops before code=0

	shift
	before=$(counters "$counter" "$nodes") ops=$(counters ops "$nodes")
	torcollctl netns run torcoll-perf allreduce -w 0 "$@" >"$work/out" 2>&1 &
	run=$!
	wait_for 20 above ops "$ops" || code=1
	fail 10
	wait_for 20 above "$counter" "$before" || code=2
	fail 0
	wait "$run" || code=3
	cat "$work/out"
	return "$code"
}

# moves COUNTER NAME ARGUMENT...: such allreduces are right and move it.
moves()
{
	local counter=$1 name=$2 before now

	shift 2
	before=$(counters "$counter" "$nodes")
	check "${name}__right" right "$counter" "$@"
	now=$(counters "$counter" "$nodes")
	diag "$counter: $before before, $now after"
	check "${name}__counted" test "$now" -gt "$before"
}

# A tap shares the frames of a forwarder, which needs memory for a header of its own before it changes one.
start_taps()
{
	local dev

	taps=()
	for dev in d0p d0m; do
		ip netns exec tor-1 tap "$dev" >"$work/$dev" &
		taps+=($!)
		wait_for 20 grep -q listening "$work/$dev" || return
	done
}

work=$(mktemp -d)
cleanup rm -rf "$work"
cleanup fail 0
torus_up $nodes
aim
moves tx_no_memory no_memory_to_send -b 256K -e 256K --in-place -n 1 -c 100
on_one_cpu start_taps || bail "no taps"
moves drop_memory no_memory_to_forward -b 64K -e 64K --in-place -n 1 -c 400 --algorithm recdoub-lat
kill "${taps[@]}"
check memory_again__right torcollctl netns run torcoll-perf allreduce -b 8 -e 64K -f 32 -n 2
finish
