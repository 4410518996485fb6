#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 900
#
# Fabrics that are no tori: open lines and full meshes, alone and as one of two dimensions. Random calls against a sequential
# program, what is said of such a fabric, and what is refused.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

cases=$((TORCOLL_SLOW > 1 ? 8 : 40))

# of NODE FILTER: of what fabric show says of that node's fabric.
of()
{
	node "$1" torcollctl -j fabric show | jq -r ".[0] | $2"
}

# perf SHAPE: large and small vectors, as auto does them.
perf()
{
	check "${1}__allreduce" torcollctl netns run torcoll-perf allreduce -n 1 -w 0 -b 8 -e "$(up_to 1M)" -f 16
	check "${1}__reduce_scatter" torcollctl netns run torcoll-perf reduce-scatter -n 1 -w 0 -b 4K -e 64K -f 16
}

# shape SHAPE SIDES KINDS CABLES: a fabric of it comes up and works.
shape()
{
	torus_up "$1" "${patient[@]}"
	is "${1}__sides_and_kinds" "$(of 0 '"\(.sides | join(" ")): \(.kinds | join(" "))"')" "$2: $3"
	is "${1}__all_cables_are_up" "$(torcollctl netns run --no-prefix torcollctl -j fabric show |
		jq -s 'map(.[0].ports_up) | add')" $(($4 * 2))
	eventually "${1}__fabric_check" 60 node 0 torcollctl fabric check
	perf "$1"
	check "${1}__random_calls" random_calls "shapes.$1" "$cases"
}

# up_again NODE DIMS: node NODE of fabric 1, with no ports.
up_again()
{
	node "$1" torcollctl fabric del 1 force && node "$1" torcollctl fabric add 1 dims "$2" node "$1"
}

# port_says NODE STATE: of its only port.
port_says()
{
	[[ $(node "$1" torcollctl -j port show | jq -r '.[0].state') == "$2" ]]
}

# now NODE FILTER WANTED: fabric show says that now.
now()
{
	[[ $(of "$1" "$2") == "$3" ]]
}

# shows NODE TEXT: so does its text, somewhere.
shows()
{
	node "$1" torcollctl fabric show | grep -qF -- "$2"
}

# hops NODE: of flood in what explain says of that node's fabric, which is one of this shape then.
hops()
{
	node "$1" torcollctl -j explain allreduce 8 bits exact | jq '.[] | select(.algorithm == "flood").hops'
}

# The file that node 1 would have.
mesh_file()
{
	node 1 torcollctl showconf as lab1 >"$file" && grep -qx "dims = 4:mesh" "$file" && grep -qx "port 0+2 = d0s2" "$file"
}

mesh_file_applies()
{
	[[ $(node 1 torcollctl -j apply "$file" as lab1 | jq .changes) == 0 ]]
}

file=$(mktemp)
cleanup rm -f "$file"

shape 3:line 3 line 2
check line__picture shows 1 "0 ---[1]--- 2"
is line__explain_knows_its_ends "$(hops 1)" 2
fails line__has_an_end any "has no cable there" node 0 torcollctl port add 1 dim 0 dir minus dev lo
fails line__has_no_steps any "no such direction" node 1 torcollctl port add 1 dim 0 dir +2 dev lo
# what is behind the cut is out of reach, and the sentence says so
node 1 ip link set d0p down
eventually line__a_cut_splits_it 30 now 0 .reached 2
node 1 ip link set d0p up
eventually line__mended 30 now 0 .reached 3
# a neighbour that takes the line for a ring
check ring_beside_line__set_up up_again 2 3
check ring_beside_line__port node 2 torcollctl port add 1 dim 0 dir minus dev d0m
eventually ring_beside_line__other_shape 30 port_says 2 fabric
eventually ring_beside_line__why 30 shows 2 "has the shape 3:line, this node 3: apply"
torus_down

shape 4:mesh 4 mesh 6
check mesh__picture shows 1 "dim 0 joins each node with each: 2 more links"
is mesh__ports_by_steps "$(node 1 torcollctl -j port show | jq -r 'map(.dir) | join(" ")')" "+1 +2 +3"
check mesh__minus_is_the_last_way node 1 torcollctl port del 1 dim 0 dir minus
is mesh__that_was_three_steps_up "$(node 1 torcollctl -j port show | jq -r 'map(.dir) | join(" ")')" "+1 +2"
check mesh__last_way_is_minus node 1 torcollctl port add 1 dim 0 dir - dev d0s3
eventually mesh__up_again 30 now 1 .ports_up 3
check mesh__file mesh_file
check mesh__file_applies mesh_file_applies
# the other two ways are one hop longer
node 0 ip link set d0s2 down
eventually mesh__a_cut_is_known 30 now 3 .dead_links 2
is mesh__a_cut_leaves_all "$(of 0 .reached)" 4
perf 4:mesh_with_a_cut
torus_down

shape 5x3:line "5 3" "ring line" 25
torus_down
shape 4:meshx4 "4 4" "mesh ring" 40
torus_down

# a HyperX: any two of a row or column are neighbours, all others two hops apart by two ways
shape 3:meshx3:mesh "3 3" "mesh mesh" 18
is hyperx__ports_by_steps "$(node 4 torcollctl -j port show | jq -r 'map("\(.dim)\(.dir)") | sort | join(" ")')" "0+1 0+2 1+1 1+2"
eventually hyperx__discover 20 node 0 torcollctl discover dims 3:meshx3:mesh
node 0 ip link set d0s1 down
eventually hyperx__a_cut_is_known 30 now 8 .dead_links 2
is hyperx__a_cut_leaves_all "$(of 0 .reached)" 9
perf 3:meshx3:mesh_with_a_cut
torus_down

module_load || bail "the module does not load"
fails mesh__too_many_ports any "12 ports at a node" torcollctl fabric add 9 dims 14:mesh node 0
fails no_such_kind any ":line or :mesh" torcollctl fabric add 9 dims 4:star node 0
module_unload
finish
