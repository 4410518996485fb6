#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The measuring part of "make bench-stall MANY=1", in its guest: what very many ranks and nodes stall, by bench/stall/many.c. Fails if
# anything took longer than LIMIT microseconds.

set -euo pipefail

limit=${LIMIT:-2000}
out=$TORCOLL_RESULTS/many
read -ra joins <<<"${CALLS:-join join-first join-pairs join-here}"

load-module
sysctl -qw vm.percpu_pagelist_high_fraction=5000
trap 'torcollctl fabric del 1 >/dev/null 2>&1 || :; rmmod torcoll' EXIT

# A fabric of this shape with one node, number $2, at one end of a cable.
node()
{
	ip link add cable type veth peer name neighbour
	ip link set cable up
	ip link set neighbour up
	torcollctl fabric add 1 dims "$1" node "$2"
	torcollctl port add 1 dim 0 dir plus dev cable
}

no_node()
{
	torcollctl fabric del 1
	ip link del cable
}

: >"$out"
{
	node 128x128x64 5 >&2
	many 1 5 neighbour "${joins[@]}"
	no_node >&2
	node 64x32x32 0 >&2
	many 1 0 neighbour flap
} | while read -r call n us why; do
	printf '%3d:%02d %-12s %8d %8s us %s\n' $((SECONDS / 60)) $((SECONDS % 60)) "$call" "$n" "$us" "$why"
	echo "$call $n $us" >>"$out"
done
awk -v limit="$limit" '$3 > limit { n++ } END { if (n) { print n " took longer than " limit " us"; exit 1 } }' "$out"
