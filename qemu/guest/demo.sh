#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What "make demo" runs in its guest: a torus of 16 nodes, a benchmark and a training run on it, the same run again
# while a cable is cut and a host dies, and in the end a verdict in words. Fails if anything shown is not as it should be.

set -uo pipefail
cd "$TORCOLL_TOP" || exit
# shellcheck source=qemu/guest/demo-lib.sh
. qemu/guest/demo-lib.sh

shape=4x4 nodes=16 steps=${STEPS:-150}
work=$(mktemp -d)

# As netns run prints it: a line of rank R begins with "[R] ". That of rank 0 alone, without.
of_rank_0()
{
	sed -u -n 's/^\[0\] \{0,1\}//p'
}

# What several ranks say, once.
once()
{
	sed -u 's/^\[[0-9]*\] //' | awk '!said[$0]++ { print; fflush() }'
}

# Runs a command on every node; shows rank 0, keeps everything in $1.
show_on_all()
{
	local file=$1 begin=${EPOCHREALTIME/[.,]/} code

	shift
	printf '\n  $ torcollctl netns run %s\n' "$*"
	{
		{
			torcollctl netns run "$@" 2>&1 >&3 | tee "$file.err" | once | sed -u 's/^/  ! /' >&4
		} 3>&1 | tee "$file" | of_rank_0 | sed -u 's/^/  /'
	} 4>&1
	code=$?
	printf '  (%s)\n' "$(seconds "$begin")"
	return $code
}

# Something that happens while a program runs, and the map after it, between the program's lines.
event()
{
	local map

	printf '\n  >> %s\n\n' "$1"
	map=$(torcollctl netns show | sed '1,/^$/d; s/^./   &/')
	printf '%s\n\n' "$map"
}

# All at once and without a word to anyone: processes stop, cables go dark.
power_off()
{
	local pids

	pids=$(ip netns pids "tor-$1") || return
	# shellcheck disable=SC2016 # for that shell to expand
	xargs kill -STOP <<<"$pids" &&
		torcollctl netns exec "$1" sh -c 'for dev in d0p d0m d1p d1m; do ip link set $dev down || exit; done' &&
		xargs kill -KILL <<<"$pids"
}

# reached STEP: rank 0 of the second training has come so far.
reached()
{
	local i

	for ((i = 0; i < 1200; i++)); do
		! grep -q "^\[0\] step $1 " "$work/faults" 2>/dev/null || return 0
		sleep 0.05
	done
	return 1
}

# Maps are drawn while the training goes on.
strike()
{
	reached $((steps * 2 / 15)) && torcollctl netns exec 0 ip link set d0p down || return
	event "The cable between nodes 0 and 1 was cut." &
	reached $((steps * 7 / 15)) && power_off 10 || return
	event "Node 10 has lost its power."
	wait
}

all_but_one_succeeded()
{
	[[ $(grep '^torcollctl: ' "$work/faults.err") == "torcollctl: rank 10 killed by SIGKILL" ]]
}

all_succeeded()
{
	((perf_code == 0 && train_code == 0 && single_code == 0))
}

trap 'rm -rf "$work"' EXIT

text "torcoll: collectives in the kernel, on a torus of direct cables" \
	"This is Linux $(uname -r) in a virtual machine, with $(nproc) processors and all 16 nodes of the" \
	"torus in it. Times are those of an emulated machine: they say nothing about real ones."

heading "1. A torus"
text "Every node is a network namespace, as separate as a host of its own. 32 cables (veth pairs) wire" \
	"them as a $shape torus: each node has a neighbour in either direction of either dimension. There" \
	"is no switch, no bridge and no IP address on them."
show load-module || exit
show torcollctl netns up "$shape" || exit

text "" "Node 0 has found its neighbours by itself:"
show torcollctl netns exec 0 torcollctl fabric show || failed=1
show torcollctl netns exec 0 torcollctl port show || failed=1

heading "2. Allreduce"
text "One process per node. Each submits a vector, the kernels exchange and add up frames until all" \
	"have the sum of all 16 vectors, and only then each process is woken, once. Every result is checked" \
	"against a computed one (#wrong)."
show_on_all "$work/perf" torcoll-perf allreduce -b 8 -e 1M -f 8 -d f32 -o sum -n 5 -w 1
perf_code=$?

heading "3. Training a model on 16 nodes"
text "A classifier of handwritten digits, data-parallel: each node has a sixteenth of the data, and an" \
	"allreduce adds up the gradients in every step."
show_on_all "$work/train" train --data $data --steps "$steps"
train_code=$?

text "" "The same in one process with all the data, without torcoll:"
train_single
single_code=$?

heading "4. What came out"
compare_training

heading "5. The same, while a cable is cut and a host dies"
text "Soon after the start a cable is cut. Frames go round it, and the program does not notice. Later node 10" \
	"loses its power. That the program has to notice: all others get an error that names the node, make a" \
	"communicator of those that are left (torcoll_comm_shrink), share the data anew, and go on."
strike &
show_on_all "$work/faults" train --survive --pause 100 --data $data --steps "$steps"
wait
text ""
compare faults 15
verdict "The loss curve is the same with a cable cut and a host lost." close_enough "$distance"
verdict "The 15 nodes that are left ended with the same weights, bit for bit." [ "$sums" = 15/1 ]
verdict "Only the program on the lost host was killed." all_but_one_succeeded

text "" "Taking the torus down."
show torcollctl netns down || failed=1
verdict "Nothing holds the module any more: it unloads." rmmod torcoll

conclude "\"make shell\" leaves you in node 0 of such a torus, to try things yourself."
