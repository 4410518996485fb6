#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What "make demo" runs in its guest: a torus of 16 nodes, a benchmark on it, a training run in which a cable is cut and a
# host dies, what happened in words, and a verdict. Fails if anything shown is not as it should be. On a terminal that is
# large enough, DEMO_LIVE=1, the training is shown by a picture of the fabric that is drawn again and again.

set -uo pipefail
cd "$TORCOLL_TOP" || exit
# shellcheck source=qemu/guest/demo-lib.sh
. qemu/guest/demo-lib.sh
# shellcheck source=qemu/guest/demo-live.sh
. qemu/guest/demo-live.sh

shape=4x4 nodes=16 steps=${STEPS:-100}
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

# Without a word to anyone: processes stop, cables go dark. Sets begin to when that is done.
power_off()
{
	local pids

	pids=$(ip netns pids "tor-$1") || return
	happened "$2"
	# shellcheck disable=SC2016 # for that shell to expand
	xargs kill -STOP <<<"$pids" &&
		torcollctl netns exec "$1" sh -c 'for dev in d0p d0m d1p d1m; do ip link set $dev down || exit; done' || return
	begin=${EPOCHREALTIME/[.,]/}
	xargs kill -KILL <<<"$pids"
}

# until_true COMMAND...: bounded, looked at twenty times a second.
until_true()
{
	local i

	for ((i = 0; i < 2400; i++)); do
		! "$@" || return 0
		sleep 0.05
	done
	return 1
}

# reached STEP: rank 0 has come so far.
reached()
{
	grep -q "^\[0\] step $1 " "$work/train" 2>/dev/null
}

recovered()
{
	grep -q 'ranks go on with step' "$work/train.err"
}

# What happens to the training, and what it says of that. Each is said as it begins: the programs leave little time for it.
strike()
{
	local cut=$((steps / 5 / 10 * 10)) off=$((steps / 2 / 10 * 10)) begin step

	until_true reached $cut || return
	happened "After step $cut: the cable between nodes 0 and 1 is cut. The program goes on: frames take other ways."
	torcollctl netns exec 0 ip link set d0p down && show_map &
	until_true reached $off || return
	power_off 10 "After step $off: node 10 loses its power." || return
	show_map &
	until_true recovered || return
	step=$(sed -nE 's/.*ranks go on with step ([0-9]+).*/\1/p' "$work/train.err" | head -n 1)
	happened "$(seconds "$begin") later: in step $step all others were told that rank 10 is down (EHOSTDOWN)," \
		"made a communicator of the 15 that are left (torcoll_comm_shrink), and went on."
	wait
}

all_but_one_succeeded()
{
	((perf_code == 0 && single_code == 0)) &&
		[[ $(grep '^torcollctl: ' "$work/train.err") == "torcollctl: rank 10 killed by SIGKILL" ]]
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
show_on_all "$work/perf" torcoll-perf allreduce -b 8 -e 256K -f 8 -d f32 -o sum -n 3 -w 1
perf_code=$?

heading "3. Training a model on 16 nodes, while a cable is cut and a host dies"
text "A classifier of handwritten digits, data-parallel: each node has a sixteenth of the data, and an" \
	"allreduce adds up the gradients in every step. Soon after the start a cable is cut: frames go round" \
	"it, and the program does not notice. Later node 10 loses its power. That the program has to notice:" \
	"all others get an error that names the node, make a communicator of those that are left, share the" \
	"data anew, and go on."
strike &
train_shown --survive --pause 100 --data $data --steps "$steps"
wait
text "" "What happened:" ""
sed 's/^/- /' "$work/happened" | fold -s -w 92 | sed 's/^/  /; s/^  \([^-]\)/    \1/; s/ *$//'

text "" "The same in one process with all the data, without torcoll:"
train_single
single_code=$?

heading "4. What came out"
compare train 15
verdict "Every program ended well, but for that of the lost host, which was killed." all_but_one_succeeded
verdict "No result of an allreduce was wrong." none_wrong
verdict "All was seen: a cable cut, a host lost, and the recovery." [ "$(wc -l <"$work/happened")" = 3 ]
verdict "The loss curve is that of one process (to 0.0001), as if nothing had happened." close_enough "$distance"
verdict "The 15 nodes that are left ended with the same weights, bit for bit." [ "$sums" = 15/1 ]

text "" "Taking the torus down."
show torcollctl netns down || failed=1
verdict "Nothing holds the module any more: it unloads." rmmod torcoll

conclude "\"make shell\" leaves you in node 0 of such a torus, to try things yourself."
