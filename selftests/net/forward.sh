#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# processors: 2
#
# A node between two others copies nothing and allocates nothing for the frames that cross it: counted in the kernel, by
# its function tracer, over an exchange of nodes 0 and 3 of a ring of 8, which nodes 1 and 2 carry.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

tracing=/sys/kernel/tracing
if [[ ! -w $tracing/set_graph_function ]]; then
	echo "1..0 # SKIP this kernel traces no functions"
	exit
fi

# What gives memory, and what copies frames; names differ between kernels.
watched=(
	'kmem_cache_alloc*' '__kmalloc*' 'kmalloc_*' '__alloc_pages*' '__alloc_frozen_pages*' '*page_frag_alloc*'
	'__get_free_pages*' '__alloc_skb*' 'skb_clone' 'skb_copy*' '__skb_linearize' '__pskb_copy*' '__pskb_pull_tail'
	'pskb_expand_head'
)

# Ranks on nodes 0 and 3.
exchange()
{
	local rank pids=()

	for rank in 0 1; do
		TORCOLL_FABRIC=$key TORCOLL_COMM=$1 TORCOLL_SECRET=1 TORCOLL_MEMBERS=0,3 TORCOLL_SIZE=2 TORCOLL_RANK=$rank \
			node $((rank * 3)) torcoll-perf allreduce -b 256K -e 256K -n 2 -w 0 --in-place &
		pids+=($!)
	done
	wait "${pids[0]}" && wait "${pids[1]}"
}

# exchange_whole NAME: with what lingers of it, which is charged as long, and sends frames.
exchange_whole()
{
	exchange "$1" && wait_for 30 nothing_charged
}

forwarded()
{
	echo $(($(counter 1 forwarded) + $(counter 2 forwarded)))
}

# exchange_counted NAME: how many frames it forwarded is in $trace.counted, as a check has a shell of its own.
exchange_counted()
{
	local before code

	before=$(forwarded)
	exchange_whole "$1"
	code=$?
	echo $(($(forwarded) - before)) >"$trace.counted"
	return "$code"
}

# tracing_during COMMAND...: receptions and what of $watched they called, in $trace.
tracing_during()
{
	local f code

	echo 0 >"$tracing/tracing_on"
	echo 8192 >"$tracing/buffer_size_kb"
	echo 'tor_frame_rx*' >"$tracing/set_ftrace_filter"
	for f in tor_forward "${watched[@]}"; do
		# a kernel that has none of that name refuses
		echo "$f" >>"$tracing/set_ftrace_filter"
	done 2>/dev/null
	echo 'tor_frame_rx*' >"$tracing/set_graph_function"
	echo function_graph >"$tracing/current_tracer"
	echo 0 >"$tracing/options/funcgraph-irqs"
	echo 1 >"$tracing/tracing_on"
	"$@"
	code=$?
	echo 0 >"$tracing/tracing_on"
	cat "$tracing/trace" >"$trace"
	grep -h 'overrun\|dropped' "$tracing/per_cpu/cpu"*/stats >"$trace.overrun"
	echo nop >"$tracing/current_tracer"
	: >"$tracing/set_graph_function"
	: >"$tracing/set_ftrace_filter"
	echo 1 >"$tracing/tracing_on"
	return "$code"
}

# Per kind of reception, "forwarded" or "delivered": how many, and what they called. Receptions do not nest; but those of a
# softirq that came while the tracer was about to record another function are printed as if they were called by it.
receptions()
{
	awk '
		match($0, /\| +/) { depth = RLENGTH }
		/tor_frame_rx/ && /\{/ { open = depth; kind = "delivered"; calls = ""; next }
		/tor_frame_rx/ { n["delivered"]++; next }
		open && depth == open && /\| +\}/ { open = 0; n[kind]++; called[kind] = called[kind] calls; next }
		open && /tor_forward/ { kind = "forwarded"; next }
		open && match($0, /[a-zA-Z_0-9.]+(\(\)| \[[a-z]+\]\(\))/) { calls = calls " " substr($0, RSTART, RLENGTH) }
		END {
			for (kind in n)
				print kind, n[kind] called[kind]
		}' "$trace"
}

# Frames that events of the kernel's see leave, while an exchange goes on. The ones of the module's own queue no frames.
sent_as_traced()
{
	local event=$tracing/events/net/$1

	: >"$tracing/trace"
	echo 1 >"$event/enable"
	exchange_whole "$1" >/dev/null
	echo 0 >"$event/enable"
	grep -c "$1: dev=d0[pm] " "$tracing/trace"
}

# band NODE DEVICE CLASS: packets that left by it.
band()
{
	node "$1" tc -s class show dev "$2" | awk -v class="$3" '
		/^class/ { mine = $3 == class }
		mine && /Sent/ { print $4; exit }'
}

# Data goes from node 0 through 1 and 2 to 3, and as much comes back: each end acknowledges.
banded()
{
	node 0 tc qdisc add dev d0p root handle 1: prio && node 1 tc qdisc add dev d0p root handle 1: prio &&
		exchange banded >/dev/null &&
		diag <<<"own: $(band 0 d0p 1:1), $(band 0 d0p 1:2); forwarded: $(band 1 d0p 1:1), $(band 1 d0p 1:2)"
}

trace=$(mktemp)
cleanup rm -f "$trace" "$trace.overrun" "$trace.counted"
torus_up 8 "${patient[@]}"
key=$(node 0 torcollctl -j fabric show | jq -r '.[0].key')
exchange_whole warm >/dev/null || bail "no exchange"

check exchange__right on_one_cpu tracing_during exchange_counted traced
counted=$(cat "$trace.counted")
check trace__complete test "$(awk '{ n += $NF } END { print n + 0 }' "$trace.overrun")" -eq 0
diag <<<"counted $counted"$'\n'"$(receptions | cut -c 1-300)"

check nodes_between__forward test "$counted" -ge 50
# a word of the exchange before may cross between the tracer and the counter: those are seen and not counted
check forwarded__each_was_seen test "$(receptions | awk '$1 == "forwarded" { print $2 }')" -ge "$counted"
is forwarded__allocates_and_copies_nothing "$(receptions | awk '$1 == "forwarded" { print NF - 2 }')" 0
# so the tracer would have shown them: whoever receives data sends acks
check delivered__allocates test "$(receptions | awk '$1 == "delivered" { print NF - 2 }')" -gt 0

# events of the kernel's that a driver called by us alone would not hit
for event in net_dev_queue net_dev_start_xmit net_dev_xmit; do
	before=$(forwarded)
	seen=$(sent_as_traced "$event")
	diag <<<"$event: $seen frames, of which $(($(forwarded) - before)) were forwarded"
	check "$event"__sees_what_is_sent test "$seen" -gt $(($(forwarded) - before))
done

check acks__with_bands banded
for n in 0 1; do
	check "acks__in_the_first_band_$n" test "$(band "$n" d0p 1:1)" -gt 0
	check "acks__data_in_the_second_$n" test "$(band "$n" d0p 1:2)" -gt "$(band "$n" d0p 1:1)"
done
finish
