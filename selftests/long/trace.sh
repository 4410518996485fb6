#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
#
# The lines of docs/observing.md answer the questions that they stand under.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

# The command under a question of the page, which may have several lines.
command_under()
{
	awk -v question="**$1**" 'index($0, question) == 1 { on = 1 }
		on && /^    bpftrace/ { body = 1 }
		body && NF == 0 { exit }
		body { print }' "$TORCOLL_TOP/docs/observing.md"
}

# All probes have their perf event, besides those that its output takes.
attached()
{
	local probes

	probes=$(sed -n 's/^Attaching \([0-9]*\) probe.*/\1/p' "$work/out")
	[[ -n $probes ]] &&
		(($(find "/proc/$tracer/fd" -lname '*perf_event*' | wc -l) >= probes + $(nproc)))
}

start_tracing()
{
	bash -c "exec $(command_under "$1" | sed 's/^ *bpftrace/bpftrace/')" >"$work/out" 2>&1 &
	tracer=$!
	wait_for 60 attached
}

stop_tracing()
{
	kill -INT "$tracer"
	wait "$tracer"
}

# watch QUESTION COMMAND...: the command while the line for that question runs; what it said is in $work/out.
watch()
{
	local question=$1

	shift
	start_tracing "$question" || bail "no tracing: $(<"$work/out")"
	"$@" >"$work/log" 2>&1 || diag <"$work/log"
	stop_tracing
	diag <"$work/out"
}

allreduce()
{
	torcollctl netns run torcoll-perf allreduce -b "$1" -e "$1" -n "$2" -w 0 --in-place
}

rank_2()
{
	local pid

	for pid in $(pgrep -x torcoll-perf); do
		grep -qz '^TORCOLL_RANK=2$' "/proc/$pid/environ" && echo "$pid" && return
	done
	return 1
}

# Rank 2 gets to run one moment in six.
with_a_late_rank()
{
	local run pid

	# as many as take some seconds if nobody is late: it must be found while it runs
	allreduce 4K 8000 &
	run=$!
	wait_for 20 rank_2 || return 1
	pid=$(rank_2)
	while kill -STOP "$pid" 2>/dev/null; do
		sleep 0.05
		kill -CONT "$pid"
		sleep 0.01
	done
	wait "$run"
}

# The node whose data came 16 ms or more late most often, out of histograms under "@late_us[1, 2]:".
latest()
{
	awk '
		/^@late_us\[/ { gsub(/[],:]/, " "); src = $2 }
		/^\[(16|32|64|128|256|512)K, / { n[src] += $3 }
		END { for (s in n) print n[s], s }' "$work/out" | sort -rn | head -n 1 | cut -d' ' -f2
}

# "@again[1, 0]: 17": the node and port with the most.
most()
{
	sed -nE 's/^@again\[([0-9]+), ([0-9]+)\]: ([0-9]+)$/\3 \1 \2/p' "$work/out" | sort -rn |
		head -n 1 | cut -d' ' -f2-
}

# What is printed, not summed up, may be on its way for a while.
pull_cable()
{
	node 0 ip link set d0p down
	wait_for 10 grep -q no-carrier "$work/out"
}

work=$(mktemp -d)
cleanup rm -rf "$work"
torus_up 4

watch "Who is late?" with_a_late_rank
is who_is_late__rank_2 "$(latest)" 2

node 1 tc qdisc add dev d0p root netem loss 10%
watch "Which cable loses frames?" allreduce 1M 5
is which_cable_loses__plus_of_node_1 "$(most)" "1 0"
node 1 tc qdisc del dev d0p root

node 3 tc qdisc add dev d0m root netem corrupt 20%
watch "What is thrown away, where and why?" allreduce 256K 5
check what_is_thrown_away__damaged_headers grep -qE '^@dropped\[2, 0, drop_header_crc\]: [0-9]+' "$work/out"
node 3 tc qdisc del dev d0m root

watch "How long do calls take?" allreduce 4K 20
check how_long__a_histogram grep -qE '^\[[0-9]+[KM]?, [0-9]+[KM]?\)' "$work/out"

watch "Which links come and go?" pull_cable
check which_links__no_carrier grep -q 'node 0 port 0 no-carrier' "$work/out"
finish
