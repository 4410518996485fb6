#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# Promises about bits, by every algorithm, on BITS_VECTORS crafted and random vectors: see bits.c. A cable is cut before the
# last of three passes. BITS_SHAPES: on which tori, each with an algorithm behind a colon if that is all that is wanted there.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

vectors=${BITS_VECTORS:-$((TORCOLL_SLOW > 1 ? 8 : 24))}
work=$(mktemp -d)
cleanup rm -rf "$work"
module_load || bail "the module does not load"
cleanup torus_down

asks_for_cut()
{
	grep -qx cut "$work/out" || [[ -s $work/code ]]
}

# At both ends of the cable.
knows_of_cut()
{
	local n

	for n in 0 1; do
		[[ $(node "$n" torcollctl -j fabric show | jq '.[0].dead_links') == 2 ]] || return 1
	done
}

ended()
{
	[[ -s $work/code ]]
}

# shape SHAPE [ALGORITHM]
shape()
{
	local name=$1${2:+_${2//-/_}}

	rm -f "$work/cut" "$work/code"
	nodes_up "$1" "${patient[@]}" >/dev/null || bail "no torus: torcollctl netns up $1"
	{
		torcollctl netns run --no-prefix bits "$vectors" "$work/cut" ${2:+"$2"} >"$work/out" 2>&1
		echo $? >"$work/code"
	} &
	wait_for 3000 asks_for_cut
	node 0 ip link set d0p down
	eventually "${name}__the_cut_is_known" 60 knows_of_cut
	touch "$work/cut"
	wait_for 3000 ended
	is "${name}__bits_are_as_promised" "$(cat "$work/code") $(grep -v '^cut$\|^right ' "$work/out")" "0 "
	sed -n "s/^right /$name: /p" "$work/out" | diag
	check "${name}__is_served" grep -q "^right ${2:-auto ordered}" "$work/out"
	torcollctl netns down
}

for i in ${BITS_SHAPES:-2x2}; do
	IFS=: read -r dims algorithm <<<"$i"
	shape "$dims" "$algorithm"
done
finish
