#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What "make demo" runs in its guest: a torus of 16 nodes, a benchmark and a training run on it, and in
# the end a verdict in words. Fails if anything shown is not as it should be.

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

# Runs a command on every node; shows rank 0, keeps everything in $1.
show_on_all()
{
	local file=$1 begin=${EPOCHREALTIME/[.,]/} code

	shift
	printf '\n  $ torcollctl netns run %s\n' "$*"
	torcollctl netns run "$@" 2>"$file.err" | tee "$file" | of_rank_0 | sed -u 's/^/  /'
	code=$?
	sed 's/^/  ! /' "$file.err"
	printf '  (%s)\n' "$(seconds "$begin")"
	return $code
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
show_on_all "$work/perf" torcoll-perf allreduce -b 8 -e 4M -f 4 -d f32 -o sum -n 5 -w 1
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

text "" "Taking the torus down."
show torcollctl netns down || failed=1
verdict "Nothing holds the module any more: it unloads." rmmod torcoll

conclude "\"make shell\" leaves you in node 0 of such a torus, to try things yourself."
