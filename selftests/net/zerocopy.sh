#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# processors: 2
#
# A large allreduce over veth copies no payload on its way out, nor its input before, and wakes nobody on its way.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

tracing=/sys/kernel/tracing

run()
{
	torcollctl netns run torcoll-perf allreduce -w 0 "$@"
}

# The functions that would copy a payload, traced while the command runs: their hits.
copies_during()
{
	local f

	echo 0 >$tracing/tracing_on
	: >$tracing/set_ftrace_filter
	for f in skb_copy_ubufs __skb_linearize __pskb_pull_tail skb_copy pskb_expand_head; do
		grep -qw "$f" $tracing/available_filter_functions && echo $f >>$tracing/set_ftrace_filter
	done
	echo function >$tracing/current_tracer
	echo 1 >$tracing/tracing_on
	"$@" >/dev/null
	echo 0 >$tracing/tracing_on
	# only what our receive and send paths cause; netlink and the tools may copy as they like
	echo "by callers: $(grep -oE '[a-z_]+ <-[a-z_]+' $tracing/trace | sort | uniq -c | tr '\n' ';')"
	grep -cE '<-(tor_|receive|build|xmit|veth_|validate_xmit|__dev_queue_xmit|dev_queue_xmit|skb_may_pull)' \
		$tracing/trace
	echo nop >$tracing/current_tracer
	: >$tracing/set_ftrace_filter
	: >$tracing/trace
	echo 1 >$tracing/tracing_on
}

# Calls of a function while the command runs; not found: nothing.
calls_during()
{
	echo 0 >$tracing/tracing_on
	grep -w "^$1" $tracing/available_filter_functions | cut -d' ' -f1 >$tracing/set_ftrace_filter || return
	echo function >$tracing/current_tracer
	echo 1 >$tracing/tracing_on
	"${@:2}" >/dev/null
	echo 0 >$tracing/tracing_on
	grep -c "$1" $tracing/trace
	echo nop >$tracing/current_tracer
	: >$tracing/set_ftrace_filter
	: >$tracing/trace
	echo 1 >$tracing/tracing_on
}

# Voluntary context switches per op, at the size where there are most of them.
few_switches()
{
	local out worst

	out=$(run -b 8 -e "$(up_to 1M)" -f 128 -n 20 --stats --in-place --format json)
	worst=$(sed -n 's/^\[0\] //p' <<<"$out" | jq -s 'map(.. | objects | .switches? // empty) | max')
	echo "$worst" | tee -a "$work/switches.$shape"
	jq -ne "$worst | numbers < 1.6"
}

# blocks of several frames each, which smaller vectors have not
large=$( ((TORCOLL_SLOW > 1)) && echo 1M || echo 4M)
work=$(mktemp -d)
cleanup rm -rf "$work"
torus_up 4x4 "${patient[@]}"
run -b 64K -e 64K -n 1 >/dev/null || bail "no allreduce"
before=$(counters tx_copied_bytes 16)
check allreduce__right run -b "$large" -e "$large" -n 1 --in-place
after=$(counters tx_copied_bytes 16)
# the benchmark itself agrees on times by an allreduce of a few bytes: frames of up to that are copied
diag "tx_copied_bytes: $before before, $after after"
check tx_copied_bytes__stays_small test $((after - before)) -lt 65536

# the input stays in its region, but for what blocks and frames have of a grain of 64 bytes
trace_copies()
{
	local out

	out=$(copies_during run -b 1M -e 1M -n 1 --in-place)
	diag <<<"$out"
	is ftrace__no_copy_of_payload "$(tail -n 1 <<<"$out")" 0
	is ftrace__no_copy_of_input "$(calls_during tor_mem_copy run -b 1M -e 1M -n 1)" 0
	check ftrace__input_stays test "$(calls_during tor_input_begin run -b 1M -e 1M -n 1)" -ge 16
}

if [[ -w $tracing/set_ftrace_filter ]]; then
	trace_copies
else
	skip ftrace__copies "this kernel traces no functions"
fi

# nobody is woken per round, nor by another op's slot that becomes free: on 4x4 and on a ring of 16 alike
for shape in 4x4 16; do
	[[ $shape == 4x4 ]] || { torcollctl netns down; torus_up $shape "${patient[@]}"; }
	if [[ $(uname -v) == *PREEMPT_RT* ]]; then
		skip "switches__hardly_more_than_1_per_op_on_$shape" "the kernel's locks sleep, too"
	else
		check "switches__hardly_more_than_1_per_op_on_$shape" one_of 3 few_switches
		diag "voluntary context switches per op on $shape, in turn: $(tr '\n' ' ' <"$work/switches.$shape")"
	fi
done
finish
