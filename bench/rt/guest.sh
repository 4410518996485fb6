#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The measuring part of "make bench-rt", in its guest.

set -euo pipefail

read -ra shapes <<<"${SHAPES:-2 2x2}"
bytes=${BYTES:-32M}
seconds=${SECONDS_EACH:-5}
limit=${LIMIT:-200}
out=$TORCOLL_RESULTS/rt
job=""

load-module
trap '[[ -z $job ]] || kill "$job" 2>/dev/null; torcollctl netns down >/dev/null 2>&1 || :; rmmod torcoll' EXIT
# those of the real-time class may take all of a processor
sysctl -qw kernel.sched_rt_runtime_us=-1

# How many vectors node 0 has sent.
sent()
{
	torcollctl netns exec 0 torcollctl -j stats |
		jq --argjson bytes "$(numfmt --from=iec "$bytes")" '[.. | objects | .tx_bytes? | numbers] | add // 0 | . / $bytes | floor'
}

die()
{
	cat "$TORCOLL_RESULTS/job" >&2
	exit 1
}

# measure WORDS: cycles, least, average and worst latency of a thread that asks to run each 500 us.
measure()
{
	cyclictest --quiet --mlockall --policy fifo --priority 90 --interval 500 --duration "$seconds" |
		awk -v words="$1" '
			/^T:/ {
				for (i = 1; i < NF; i++)
					if ($i ~ /^[A-Z][a-z]*:$/)
						value[$i] = $(i + 1)
				printf "%-28s %7d cycles  least %3d  average %3d  worst %4d us\n", words, value["C:"],
					value["Min:"], value["Avg:"], value["Max:"]
			}' | tee -a "$out"
}

echo "$(uname -r), $(uname -v | grep -o 'PREEMPT[_A-Z]*')"
: >"$out"
measure idle
for shape in "${shapes[@]}"; do
	torcollctl netns up "$shape" >/dev/null
	# until it is killed
	torcollctl netns run --no-prefix torcoll-perf allreduce -b "$bytes" -e "$bytes" -n 1000000 -w 1 --out-of-place \
		>"$TORCOLL_RESULTS/job" 2>&1 &
	job=$!
	# beyond those that are warm-up and checked, each of one to two vectors, only the module works
	until ((($(sent)) >= 5)); do
		kill -0 "$job" 2>/dev/null || die
		sleep 0.1
	done
	before=$(sent)
	measure "allreduce of $bytes, $shape"
	(($(sent) > before)) || die
	kill "$job"
	wait "$job" 2>/dev/null || :
	job=""
	torcollctl netns down >/dev/null
done
[[ $(uname -v) == *PREEMPT_RT* ]] || exit 0
awk -v limit="$limit" '$(NF - 1) > limit { n++ } END { if (n) { print n " took longer than " limit " us"; exit 1 } }' "$out"
