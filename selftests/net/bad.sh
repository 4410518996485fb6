#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# Bad calls, bad requests and bad frames: each is refused in its own way, and everything goes on.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

hold()
{
	badframes hold >"$work/held" &
	holder=$!
	wait_for 10 test -s "$work/held"
}

let_go()
{
	kill "$holder"
	wait "$holder"
}

work=$(mktemp -d)
cleanup rm -rf "$work"
torus_up 2x2
# the first packet socket, and the last, are opened and closed by one processor alone
on_one_cpu hold || bail "no packet socket"
cleanup on_one_cpu let_go

fold badcalls timeout 120 badcalls
fold compat timeout 60 compat
fold badnetlink timeout 60 badnetlink
fold badframes timeout 240 badframes
check fabric__goes_on torcollctl netns run torcoll-perf allreduce -b 8 -e 64K -f 8 -n 2
check fabric__all_links_up jq -e 'all(.fabric.ports_up == 2)' <(torcollctl -j netns show)
finish
