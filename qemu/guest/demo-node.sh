#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What "make demo VMS=2x2" runs in each of its guests, as node.sh has made it a node. All run the same
# programs; node 0 shows what it sees, waits for what the others have written, and judges.

set -uo pipefail
cd "$TORCOLL_TOP" || exit
# shellcheck source=qemu/guest/demo-lib.sh
. qemu/guest/demo-lib.sh

nodes=$TORCOLL_SIZE steps=${STEPS:-150}
work=$TORCOLL_RESULTS/node-$TORCOLL_NODE
patience=300

others_done()
{
	local n

	for ((n = 1; n < nodes; n++)); do
		[[ -s $TORCOLL_RESULTS/node-$n/codes ]] || return 1
	done
}

# wait_until COMMAND: bounded, looked at five times a second.
wait_until()
{
	local i

	for ((i = 0; i < patience * 5; i++)); do
		! "$@" || return 0
		sleep 0.2
	done
	echo "node $TORCOLL_NODE: not within $patience s: $*" >&2
	return 1
}

# run NAME COMMAND...: a program as one of the ranks of a comm of that name; output in $work/NAME.
run()
{
	TORCOLL_COMM=$1 "${@:2}" 2>&1 | tee "$work/$1"
}

# The same at node 0, shown.
show_run()
{
	local begin=${EPOCHREALTIME/[.,]/} code

	printf '\n  $ %s\n' "${*:2}"
	run "$@" | sed -u 's/^/  /'
	code=$?
	printf '  (%s)\n' "$(seconds "$begin")"
	return $code
}

perf=(perf torcoll-perf allreduce -b 8 -e "${LARGEST:-1M}" -f 8 -d f32 -o sum -n 3 -w 1)
train=(train train --data "$data" --steps "$steps")

# Others serve until node 0 is through: they forward its frames.
serve()
{
	local code=0

	run "${perf[@]}" >/dev/null || code=1
	run "${train[@]}" >/dev/null || code=1
	echo $code >"$work/codes.new"
	mv "$work/codes.new" "$work/codes"
	wait_until test -e "$TORCOLL_RESULTS/node-0/done" || exit 1
	torcollctl fabric del "$TORCOLL_FABRIC" && rmmod torcoll || exit 1
	exit $code
}

all_succeeded()
{
	((perf_code == 0 && train_code == 0 && single_code == 0)) &&
		! grep -qvx 0 "$TORCOLL_RESULTS"/node-*/codes
}

kernels_of_all()
{
	local n

	for ((n = 0; n < nodes; n++)); do
		printf '  node %d: Linux %s\n' $n "$(<"$TORCOLL_RESULTS/node-$n/up")"
	done
}

((TORCOLL_NODE == 0)) || serve

text "torcoll: collectives in the kernel, on a torus of direct cables" \
	"Every node is a virtual machine with a kernel of its own; cables go from one to the next. There is" \
	"no switch, no bridge and no IP address. Times are those of emulated machines on this one: they" \
	"say nothing about real ones."

heading "1. A torus"
# each says that it is up when its own links are
all_marked()
{
	local n

	for ((n = 0; n < nodes; n++)); do
		[[ -s $TORCOLL_RESULTS/node-$n/up ]] || return 1
	done
}
wait_until all_marked || exit
kernels_of_all
text "" "Node 0 has found its neighbours by itself:"
show torcollctl fabric show || failed=1
show torcollctl port show || failed=1

heading "2. Allreduce"
text "One process per node. Each submits a vector, the kernels exchange and add up frames until all" \
	"have the sum of all $nodes vectors, and only then each process is woken, once. Every result is checked" \
	"against a computed one (#wrong)."
show_run "${perf[@]}"
perf_code=$?

heading "3. Training a model on $nodes nodes"
text "A classifier of handwritten digits, data-parallel: each node has its part of the data, and an" \
	"allreduce adds up the gradients in every step."
show_run "${train[@]}"
train_code=$?

text "" "The same in one process with all the data, without torcoll:"
train_single
single_code=$?

heading "4. What came out"
verdict "The others have ended." wait_until others_done
cat "$TORCOLL_RESULTS"/node-[1-9]*/train >>"$work/train.all"
cat "$work/train" >>"$work/train.all"
mv "$work/train.all" "$work/train"
compare_training

touch "$work/done"
show torcollctl stats || failed=1
show torcollctl fabric del "$TORCOLL_FABRIC" || failed=1
verdict "Nothing holds the module any more: it unloads." rmmod torcoll
conclude "Output and kernel logs of all nodes: build/log/torus."
