#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The measuring part of "make bench-ip", in its guest: TCP over the network device of a fabric beside TCP over the bare
# cable, and, four hops away, beside IP forwarding by static routes over the same cables. A ring of nine nodes; node 4 is
# four hops from node 0, and IP takes the same way as torcoll. Instruction time (-icount), one processor, kinds
# in turn, medians.
#
# Cables are used in three ways, by both alike:
#
#	whole	as veth comes: 64 KiB cross it as one frame, whatever its MTU is
#	frames	every frame has at most the MTU: "tso off", as on a cable of copper
#	gro	frames, and receivers put them together again: "gro on"; IP then forwards what was put together
#
# A line for each to $TORCOLL_RESULTS/ip.tsv: MTU MODE HOPS KIND NS-PER-KIB REPETITION.

set -euo pipefail

read -ra mtus <<<"${MTUS:-1500 9000}"
read -ra modes <<<"${MODES:-whole frames gro}"
read -ra hops <<<"${HOPS:-1 4}"
read -ra kinds <<<"${KINDS:-ip tor0}"
kib=${KIB:-16384} repetitions=${REPETITIONS:-3} nodes=9
out=$TORCOLL_RESULTS/ip.tsv

node()
{
	torcollctl netns exec "$@"
}

# address KIND NODE
address()
{
	case $1 in
	ip)	echo "10.9.0.$(($2 + 1))" ;;
	tor0)	node "$2" ip -4 -j address show tor0 | jq -r '.[0].addr_info[0].local' ;;
	esac
}

set_mode()
{
	local n dev tso=off gro=off

	[[ $1 != whole ]] || tso=on
	[[ $1 != gro ]] || gro=on
	for ((n = 0; n < nodes; n++)); do
		for dev in d0p d0m; do
			node $n ethtool -K $dev tso $tso gro $gro
		done
	done
}

# Of what crosses the cables at the receiver: that it took the way that it is measured for.
received()
{
	node "$1" ip -j -s link show d0m | jq '.[0].stats64.rx.bytes'
}

# measure MODE KIND HOPS: more of what takes less, so that all take about as long.
measure()
{
	local before after ns amount=$kib

	[[ $1 != whole ]] || amount=$((kib * 4))
	before=$(received "$3")
	ns=$(stream tor-0 "tor-$3" "$(address "$2" "$3")" "$amount")
	after=$(received "$3")
	((after - before > amount * 1024)) || { echo "$2: $((after - before)) bytes came by the cable" >&2; return 1; }
	echo "$ns"
}

torus()
{
	local n

	torcollctl netns up $nodes mtu "$1" >/dev/null
	bench/routes $nodes
	[[ " ${kinds[*]} " == *" tor0 "* ]] || return 0
	for ((n = 0; n < nodes; n++)); do
		node $n torcollctl fabric 1 ip on prefix 10.7.0.0/24
	done
}

load-module
sysctl -qw net.core.netdev_max_backlog=10000
cat /proc/kallsyms >"$TORCOLL_RESULTS/kallsyms"
: >"$out"
trap 'torcollctl netns down; rmmod torcoll' EXIT
for mtu in "${mtus[@]}"; do
	torus "$mtu"
	for mode in "${modes[@]}"; do
		set_mode "$mode"
		for ((r = 1; r <= repetitions; r++)); do
			for hop in "${hops[@]}"; do
				for kind in "${kinds[@]}"; do
					ns=$(measure "$mode" "$kind" "$hop")
					printf '%s\t' "$mtu" "$mode" "$hop" "$kind" "$ns" >>"$out"
					echo $r >>"$out"
				done
			done
		done
	done
	torcollctl netns down >/dev/null
done
