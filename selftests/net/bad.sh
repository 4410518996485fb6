#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# processors: 2
#
# Bad calls, bad requests and bad frames: each is refused in its own way, and everything goes on.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

says_of_order()
{
	node 0 torcollctl port show | grep -q "dim 0 plus.* byte order is big-endian, .* little-endian: put them"
}

orders_heard()
{
	node "$1" torcollctl -j port show | jq -c 'map(.heard_order) | unique'
}

is_shown_no_more()
{
	! says_of_order
}

# What the kernel's own tools see of frames thrown away: "REASON frames" by line, from a count by reason.
reasons_seen()
{
	local reason n

	sed -n 's/^{ reason: *\([0-9]*\) } hitcount: *\([0-9]*\)$/\1 \2/p' "$event/hist" | while read -r reason n; do
		echo "$(grep -o "{ *$reason, \"[A-Z_]*\"" "$event/format" | cut -d '"' -f 2) $n"
	done
}

forget_reasons()
{
	echo "!$by_reason" >"$event/trigger"
}

work=$(mktemp -d)
cleanup rm -rf "$work"
torus_up 2x2
event=/sys/kernel/tracing/events/skb/kfree_skb
by_reason="hist:keys=reason if protocol == 0x88b5"
if echo "$by_reason" 2>/dev/null >"$event/trigger"; then
	cleanup forget_reasons
	torcollctl netns run torcoll-perf allreduce -b 8 -e 64K -f 8 -n 2 >/dev/null || bail "no allreduce"
	# before there are packet sockets, whose own drops are none of ours
	is good_frames__are_not_dropped "$(reasons_seen)" ""
else
	skip good_frames__are_not_dropped "this kernel does not count reasons"
fi
# the first packet socket, and the last, are opened and closed by one processor alone
on_one_cpu hold_socket || bail "no packet socket"
cleanup on_one_cpu release_socket

# its rows are computed for them: a struct of a page, a byte behind one
if (($(getconf PAGESIZE) == 4096)); then
	fold badcalls timeout $((120 * TORCOLL_SLOW)) badcalls
else
	skip badcalls "for pages of 4 KiB"
fi
fold compat timeout $((60 * TORCOLL_SLOW)) compat
fold badnetlink timeout $((60 * TORCOLL_SLOW)) badnetlink
fold badframes timeout $((240 * TORCOLL_SLOW)) badframes
fold nested timeout $((60 * TORCOLL_SLOW)) nested
if [[ -e $event/hist ]]; then
	reasons_seen >"$work/reasons"
	diag <"$work/reasons"
	for reason in PKT_TOO_SMALL UNHANDLED_PROTO SKB_CSUM OTHERHOST NO_SOCKET; do
		check "bad_frames__seen_as_$reason" grep -q "^$reason " "$work/reasons"
	done
fi
is order__the_same "$(orders_heard 0)" '["little"]'
badframes big-endian &
liar=$!
check order__another_one_is_shown wait_for 10 says_of_order
is order__of_whom_it_is "$(orders_heard 2)" '["little"]'
kill "$liar"
wait "$liar"
check order__shown_no_more wait_for 10 is_shown_no_more
check fabric__goes_on torcollctl netns run torcoll-perf allreduce -b 8 -e 64K -f 8 -n 2
check fabric__all_links_up jq -e 'all(.fabric.ports_up == 2)' <(torcollctl -j netns show)
finish
