#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 900
#
# Random calls of every kind against a sequential program, on tori of several shapes. CONFORMANCE_CASES are drawn from
# CONFORMANCE_SEED; with few of them not every pair can be met, which is then no failure.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

seed=${CONFORMANCE_SEED:-1} cases=${CONFORMANCE_CASES:-$((TORCOLL_SLOW > 1 ? 60 : 400))}
shapes=(2 3 8 4x4 3x5 2x2x2)

# run SHAPE CASES: its lines, and a verdict.
run()
{
	local out last passed failed

	nodes_up "$1" "${patient[@]}" >/dev/null || bail "no torus: torcollctl netns up $1"
	out=$(torcollctl netns run --no-prefix conformance "$seed.$1" "$2" 2>&1)
	torcollctl netns down
	diag <<<"$1: ${out//$'\n'/$'\n'$1: }"
	last=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' <<<"$out" | tail -n 1)
	read -r passed _ failed _ <<<"${last:-0 passed, 1 failed}"
	is "${1}__${2}_cases" "$passed right, $failed wrong" "$2 right, 0 wrong"
	total_passed=$((total_passed + passed)) total_failed=$((total_failed + failed))
}

module_load || bail "the module does not load"
cleanup torus_down
total_passed=0 total_failed=0
for shape in "${shapes[@]}"; do
	run "$shape" $((cases / ${#shapes[@]} + 1))
done
diag "$total_passed passed, $total_failed failed"
finish
