#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Ranks that call different things are told so, on both sides, in words that name both calls.

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
finish
