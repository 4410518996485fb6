#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 580
#
# What loss costs: the goodput of an allreduce of SIZE (1M) on 4x4, MTU 9000, with 0, 0.1, 1 and 5 % of all frames
# lost on every link. At 1 % at least half of what it is at 0, at 5 % at least a sixth. Only ratios count,
# within this boot; the best of ROUNDS (3) that take turns, since others use the machine as well.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

levels=(0 0.1 1 5)
size=${SIZE:-1M} rounds=${ROUNDS:-3}

# Every port of every node, at once.
lose()
{
	local n dev

	for dev in d0p d0m d1p d1m; do
		# what is replaced keeps its parameters
		echo "qdisc del dev $dev root"
		echo "qdisc add dev $dev root netem loss $1% limit 10000"
	done >"$work/tc"
	for ((n = 0; n < 16; n++)); do
		node "$n" tc -force -batch "$work/tc" 2>/dev/null
		node "$n" tc qdisc show dev d1m | grep -q netem || return 1
	done
}

# One line: microseconds per call, retransmitted frames, wrong values.
measure()
{
	torcollctl netns run --only 0 --no-prefix torcoll-perf allreduce -b "$size" -e "$size" -n 3 -w 1 \
		--format csv 2>"$work/err" |
		awk -F, '$1 == "allreduce" && !n++ { print int($9), $17, $14 }'
}

work=$(mktemp -d)
cleanup rm -rf "$work"
torus_up 4x4
node 0 ip link show d0p | grep -q "mtu 9000" || bail "MTU is not 9000"
declare -A best=() lost=()
wrong=0
for ((r = 0; r < rounds; r++)); do
	for level in "${levels[@]}"; do
		lose "$level" || bail "no netem"
		read -r us retransmits bad < <(measure) || bail "$(head -n 3 "$work/err")"
		wrong=$((wrong + bad))
		((us < ${best[$level]:-1000000000})) && best[$level]=$us
		lost[$level]=$((${lost[$level]:-0} + retransmits))
	done
done

diag "$(printf '%-8s %12s %12s %14s' loss us/call goodput retransmitted)"
for level in "${levels[@]}"; do
	diag "$(printf '%-8s %12d %11d%% %14d' "$level %" "${best[$level]}" \
		"$((100 * best[0] / best[$level]))" "${lost[$level]}")"
done
is loss__results_right "$wrong" 0
check loss__frames_were_lost test "${lost[5]}" -gt "${lost[0]}"
check loss_1__at_least_half test "$((2 * best[0]))" -ge "${best[1]}"
check loss_5__at_least_a_sixth test "$((6 * best[0]))" -ge "${best[5]}"
finish
