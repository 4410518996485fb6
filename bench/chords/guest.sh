#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The measuring part of "make bench-chords", in its guest: what an allreduce of 8 bytes takes on the shapes given, by some
# algorithms, on cables without delay and on slow ones. Instruction time (-icount), one processor. A line each in
# $TORCOLL_RESULTS/chords.tsv: shape, delay, algorithm, us.

set -euo pipefail

calls=${CALLS:-20}

# delays NODES: none; 100 us; as many times that as there are hosts. What all hosts compute, one after the other, this one
# processor takes: only with the last is it to the cables what it is on hosts of their own with 100 us.
delays()
{
	echo "0 100us $((100 * $1))us"
}

# On a ring with chords, and on a torus: those that may be the fastest for short vectors.
algorithms()
{
	case $1 in
	*+*)	echo tree flood ;;
	*)	echo tree recdoub-lat swing-lat trivance-lat ;;
	esac
}

# delay TIME NODES: of all cables
delay()
{
	local n dev

	for ((n = 0; n < $2; n++)); do
		while read -r dev; do
			tc -n "tor-$n" qdisc replace dev "$dev" root netem delay "$1" limit 10000
		done < <(ip -n "tor-$n" -br link show type veth | sed 's/@.*//')
	done
}

# The mean of the better of in place and out of place, us; nothing where the algorithm does not serve the shape.
time_of()
{
	TORCOLL_ALGO="allreduce:$1" torcollctl netns run --no-prefix --only 0 torcoll-perf allreduce -d i32 -b 8 -e 8 -w 4 \
		-n "$calls" --format json 2>/dev/null | jq -s '[.[] | select(.wrong == 0).time_us] | min // empty'
}

load-module
trap 'torcollctl netns down; rmmod torcoll' EXIT
for shape; do
	torcollctl netns up "$shape" hello 1s wait 300
	nodes=$(torcollctl netns exec 0 torcollctl -j fabric show | jq '.[0].nodes')
	for d in $(delays "$nodes"); do
		[[ $d == 0 ]] || delay "$d" "$nodes"
		for a in $(algorithms "$shape"); do
			us=$(time_of "$a") || us=""
			[[ -z $us ]] || printf '%s\t%s\t%s\t%s\n' "$shape" "$d" "$a" "$us" | tee -a "$TORCOLL_RESULTS/chords.tsv"
		done
	done
	torcollctl netns down
done
