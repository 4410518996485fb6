#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 900
# takes: 170
#
# Rings with chords: they come up, conform to a sequential program, are cut, and are refused where the shape has no cable. And what
# they are for: with slow cables, a short allreduce on 16+4 takes as much less time than on 4x4 as its hops are fewer.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

cases=$((TORCOLL_SLOW > 1 ? 8 : 40)) shorts=$((TORCOLL_SLOW > 1 ? 6 : 12))
work=$(mktemp -d)
cleanup rm -rf "$work"

# of NODE FILTER: of what fabric show says of that node's fabric.
of()
{
	node "$1" torcollctl -j fabric show | jq -r ".[0] | $2"
}

now()
{
	[[ $(of "$1" "$2") == "$3" ]]
}

# shows NODE TEXT: so does its text, somewhere.
shows()
{
	node "$1" torcollctl fabric show | grep -qF -- "$2"
}

# Hops of flood in what explain says: the diameter, if it is about this shape.
explained_hops()
{
	node 0 torcollctl -j explain allreduce 8 bits exact | jq '.[] | select(.algorithm == "flood").hops'
}

# perf ARGUMENT...: an allreduce whose results are right.
perf()
{
	torcollctl netns run torcoll-perf allreduce -d i32 "$@"
}

# by ALGORITHM BYTES
by()
{
	TORCOLL_ALGO="allreduce:$1" perf -n 2 -w 0 -b "$2" -e "$2"
}

# Ops go on while a cable is cut, and all their results are right.
cut()
{
	local pid before

	before=$(counter 1 ops)
	perf -n 300 -w 0 -b 32K -e 32K >"$work/cut" 2>&1 &
	pid=$!
	wait_for 60 ops_done 1 $((before + 20)) && node 0 ip link set d1p down && wait "$pid"
}

ops_done()
{
	(($(counter "$1" ops) >= $2))
}

conf_applies()
{
	node 1 torcollctl showconf as lab1 >"$work/conf" && grep -qx "dims = 8+3" "$work/conf" && grep -qx "port 1+ = d1p" "$work/conf" &&
		[[ $(node 1 torcollctl -j apply "$work/conf" as lab1 | jq .changes) == 0 ]]
}

# slow_cables MS: all take that long for a frame.
slow_cables()
{
	local n dev

	for ((n = 0; n < 16; n++)); do
		for dev in d0p d0m d1p d1m; do
			node "$n" tc qdisc add dev "$dev" root netem delay "$1ms" limit 10000 || return
		done
	done
}

# fastest ALGORITHM: the time of allreduces of 8 bytes, in place or not, whichever took less, us. The first ones, which are not
# timed, find out how long round trips are.
fastest()
{
	TORCOLL_ALGO="allreduce:$1" perf -n "$shorts" -w 2 -b 8 -e 8 --format json |
		jq -s '[.. | objects | .time_min_us? // empty] | min | floor'
}

# Are the hops of the two what their times differ by? Cables are so slow that whatever processors do is little beside a hop, of
# which 16+4 takes 3, and 4x4 4: flood has each rank receive 15 frames, which takes a kernel that checks itself longer than 20 ms.
fewer_hops()
{
	local still ms chords torus

	still=$(fastest flood)
	if [[ -z $still || $still == null ]]; then
		not_ok fewer_hops_take_less_time "no time on 16+4"
		return
	fi
	ms=$((still / 250 > 20 ? still / 250 : 20))
	# hellos would come too late for them to stay up
	if ((ms > 500)); then
		skip fewer_hops_take_less_time "on this machine an allreduce of 8 bytes takes $still us without slow cables"
		torus_down
		return
	fi
	slow_cables "$ms" || bail "no netem"
	chords=$(fastest flood)
	torus_down
	torus_up 4x4 "${patient[@]}"
	slow_cables "$ms" || bail "no netem"
	torus=$(fastest swing-lat)
	torus_down
	# shellcheck disable=SC2016 # of jq
	check fewer_hops_take_less_time jq -ne --argjson a "${chords:-0}" --argjson b "${torus:-0}" '$a > 0 and $a < $b'
	diag "8 bytes with $ms ms per cable: $chords us on 16+4, $torus us on 4x4; without, $still us on 16+4"
}

torus_up 8+3 "${patient[@]}"
is sides_and_kinds "$(of 0 '"\(.sides | join(" ")): \(.kinds | join(" ")), \(.coord | join(" "))"')" "8 3: ring chord, 0"
is all_cables_are_up "$(torcollctl netns run --no-prefix torcollctl -j fabric show | jq -s 'map(.[0].ports_up) | add')" 32
eventually fabric_check 60 node 0 torcollctl fabric check
check picture shows 1 "each row goes on in the next; 3 further is below"
check file_applies conf_applies
is explain__by_chords "$(explained_hops)" 2
check random_calls random_calls "chords.8+3" "$cases"
for algorithm in layers flood tree recdoub-lat bibucket; do
	check "allreduce_by_$algorithm" by "$algorithm" "$(up_to 64K)"
done
fails no_third_step any "no such dimension" node 0 torcollctl port add 1 dim 2 dir plus dev lo
check cut__is_not_seen_by_ops cut
eventually cut__is_known 30 now 3 .dead_links 2
is cut__leaves_all "$(of 0 .reached)" 8
check cut__layers_go_round by layers 8K
# a neighbour with another step
node 2 torcollctl fabric del 1 force
check other_step__set_up node 2 torcollctl fabric add 1 dims 8+2 node 2
check other_step__port node 2 torcollctl port add 1 dim 0 dir minus dev d0m
eventually other_step__why 30 shows 2 "has the shape 8+3, this node 8+2: apply"
fails step__not_half 1 "below half of the nodes" torcollctl fabric add 9 dims 8+4 node 0
fails step__not_one 1 "ascending from 2" torcollctl fabric add 9 dims 8+1 node 0
fails step__of_one_ring 1 "behind one ring" torcollctl fabric add 9 dims 4x4+2 node 0
torus_down

torus_up 25+7 "${patient[@]}"
check random_calls_25 random_calls "chords.25+7" "$cases"
check cut__of_25_is_not_seen_by_ops cut
eventually cut__of_25_is_known 30 now 12 .dead_links 2
torus_down

torus_up 16+4 "${patient[@]}"
check random_calls_16 random_calls "chords.16+4" "$cases"
check cut__of_16_is_not_seen_by_ops cut
eventually cut__of_16_is_known 30 now 6 .dead_links 2
node 0 ip link set d1p up
eventually cut__of_16_is_mended 30 now 6 .dead_links 0
fewer_hops
finish
