#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# processors: 2
#
# Ranks that call different things are told so, on both sides, in words that name both calls. Nodes that protect frames in
# different ways are told so before anything is called.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

# told_both RANK: that rank read what both called.
told_both()
{
	grep "^\[$1\]" <<<"$said" | grep EPROTO | grep "f32 sum count 100 " | grep "i64 max count 200 "
}

torus_up 2
# shellcheck disable=SC2016 # each rank's own
said=$(torcollctl netns run sh -c '
	case $TORCOLL_RANK in
	0)	exec torcoll-perf allreduce --counts 100 -d f32 -o sum -n 1 -w 0 ;;
	1)	exec torcoll-perf allreduce --counts 200 -d i64 -o max -n 1 -w 0 ;;
	esac' 2>&1)
check mismatch__told_at_rank_0 told_both 0
check mismatch__told_at_rank_1 told_both 1
diag <<<"$said"

# Node 1 with another setting: each of the two would wait for frames that it drops.
said_of_ports()
{
	node "$1" torcollctl port show | grep -qF "the neighbour's checksum is \"$2\", this node's \"$3\""
}

refused_at_once()
{
	local begun=$SECONDS

	said=$(torcollctl netns run torcoll-perf barrier -n 1 -w 0 2>&1) && return 1
	diag <<<"$said"
	((SECONDS - begun < 90 * ${TORCOLL_SLOW:-1})) && grep -q "checksum.*EPROTO" <<<"$said"
}

node 1 torcollctl fabric del 1
node 1 torcollctl fabric add 1 dims 2 node 1 cables "$(node 0 torcollctl -j fabric show | jq '.[0].cables')" \
	hello "$(node 0 torcollctl -j fabric show | jq '.[0].hello_ms')ms" checksum header
for dir in plus minus; do
	node 1 torcollctl port add 1 dim 0 dir $dir dev d0${dir:0:1} 2>/dev/null
done
eventually checksum__seen_by_who_has_it 20 said_of_ports 0 header full
eventually checksum__seen_by_who_has_none 20 said_of_ports 1 full header
check checksum__no_comm_at_once refused_at_once
finish
