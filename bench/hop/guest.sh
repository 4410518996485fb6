#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The measuring part of "make bench-hop", in its guest: what a frame costs a node that it only crosses. A chain of
# namespaces (the ring of torcollctl netns up); floods from node 0 to node 1, which crosses no node, and to node
# 4, which crosses three. The difference by three is a hop: reception, forwarding, sending. Instruction
# time (-icount), one processor, kinds in turn, medians of five.

set -euo pipefail

count=${COUNT:-2000} bytes=${BYTES:-1500} far=4 repetitions=${REPETITIONS:-5}
bare=$1

node()
{
	torcollctl netns exec "$@"
}

mac_of()
{
	node "$1" ip -j link show "$2" | jq -r '.[0].address'
}

# An address at node $1, a way to it from node 0, and nobody there.
ip_path()
{
	local n

	for ((n = 0; n < $1; n++)); do
		node "$n" ip neigh replace 10.8.0.1 lladdr "$(mac_of $((n + 1)) d0m)" dev d0p
		node "$n" ip route add "10.9.0.$1/32" via 10.8.0.1 dev d0p onlink
		node "$n" sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0 \
			net.ipv4.conf.d0m.rp_filter=0 net.ipv4.conf.all.send_redirects=0
	done
	node "$1" sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.d0m.rp_filter=0
	node "$1" ip route add blackhole "10.9.0.$1/32"
}

flood_to()
{
	node 0 flood "$1" d0p "$(mac_of 1 d0m)" "$2" "$bytes" "$count" "$tag"
}

# Of what: frames received by the last node's port, so that none was lost on the way.
received()
{
	node "$1" ip -j -s link show d0m | jq '.[0].stats64.rx.packets'
}

# One repetition of a kind: nanoseconds per hop.
hop()
{
	local kind=$1 near long before after

	near=$(flood_to "$kind" 1)
	[[ $kind != bare ]] || { insmod "$bare"; }
	before=$(received $far)
	long=$(flood_to "$kind" $far)
	after=$(received $far)
	[[ $kind != bare ]] || rmmod bare
	((after - before >= count)) || { echo "$kind: $((after - before)) of $count frames arrived" >&2; return 1; }
	echo "$near $long" | awk -v n=$((far - 1)) '{ print ($2 - $1) / n }'
}

median()
{
	sort -n | sed -n "$(((repetitions + 1) / 2))p"
}

load-module
cat /proc/kallsyms >"$TORCOLL_RESULTS/kallsyms"
torcollctl netns up 9
trap 'torcollctl netns down; rmmod torcoll' EXIT
tag=$(node 0 torcollctl -j fabric show | jq '.[0].tag')
ip_path 1
ip_path $far
for ((n = 1; n < far; n++)); do
	node "$n" ip link set d0m alias hop
done

work=$(mktemp -d)
# the first of each warms up
for ((r = 0; r <= repetitions; r++)); do
	for kind in torcoll bare ip; do
		ns=$(hop $kind)
		((r == 0)) || echo "$ns" >>"$work/$kind"
	done
done
for kind in torcoll bare ip; do
	printf '%-8s %8.0f ns per hop, %s to %s\n' $kind "$(median <"$work/$kind")" \
		"$(sort -n "$work/$kind" | head -n 1)" "$(sort -n "$work/$kind" | tail -n 1)"
done
awk -v t="$(median <"$work/torcoll")" -v b="$(median <"$work/bare")" -v i="$(median <"$work/ip")" 'BEGIN {
	printf "torcoll / ip   %.2f, at most 0.60\n", t / i
	printf "torcoll / bare %.2f, at most 1.20\n", t / b
	exit t > 0.6 * i || t > 1.2 * b
}'
