#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The measuring part of "make bench-floor", in its guest: how many instructions an allreduce takes, by torcoll and by
# bench/floor/bare.c, which sends the same frames. A line each to $TORCOLL_RESULTS/floor.tsv:
#
#	floor	SHAPE BYTES NODES CALLS TORCOLL BARE	(files of bench/profile/insns.c)

set -euo pipefail

bare=$1
read -ra shapes <<<"${FLOOR_SHAPES:-8 4x4 8x8}"
read -ra sizes <<<"${FLOOR_SIZES:-8 4096}"
out=$TORCOLL_RESULTS/floor.tsv

ranks()
{
	torcollctl netns run --no-prefix "$@"
}

stretches()
{
	find "$TORCOLL_RESULTS" -name 'insns.*' | wc -l
}

measure()
{
	local shape=$1 nodes=$2 bytes=$3 calls wrong ours

	read -r _ _ calls wrong _ < <(ranks torcoll_allreduce "${FLOOR_SECONDS:-0.2}" "$bytes")
	((wrong == 0)) || { echo "$shape: $wrong wrong elements" >&2; return 1; }
	ours=$(stretches)
	ranks floor "$shape" "$bytes" "$calls"
	printf 'floor\t%s\t%d\t%d\t%d\tinsns.%d\tinsns.%d\n' "$shape" "$bytes" "$nodes" "$calls" "$ours" \
		"$(stretches)" >>"$out"
}

rm -f "$out" "$TORCOLL_RESULTS"/insns.*
load-module
insmod "$bare"
cat /proc/kallsyms >"$TORCOLL_RESULTS/kallsyms"
for shape in "${shapes[@]}"; do
	torcollctl netns up "$shape" >/dev/null
	for bytes in "${sizes[@]}"; do
		measure "$shape" $((${shape//x/*})) "$bytes"
	done
	torcollctl netns down >/dev/null
done
rmmod bare torcoll
