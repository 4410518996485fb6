#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# What core takes per frame, in instructions, is within a tenth of what docs/performance.md says: whoever makes it
# slower sees it, whoever makes it faster writes it down. And a plan takes no longer to make, nor a range of it to find, with many nodes.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit
ktap_header

# recorded NAME: the number in the page's table.
recorded()
{
	awk -F '|' -v name="$1" '{ gsub(/ /, "", $2) } $2 == name { print $3 + 0 }' docs/performance.md
}

near()
{
	awk -v got="$1" -v want="$2" 'BEGIN { exit !(want > 0 && got >= 0.9 * want && got <= 1.1 * want) }'
}

# the reductions of another processor are other instructions
if ! grep -qw avx2 /proc/cpuinfo || [[ $(uname -m) != x86_64 ]]; then
	skip instructions__as_recorded "recorded on a processor with AVX2"
	finish
fi
numbers=()
plans=(plan-{swing-bw,tree,bibucket,flood}-{16,16384} range-circulant-{16,16384})
while read -r name got; do
	numbers+=("$name")
	if [[ $name == frames-per-second ]]; then
		check frames__are_counted test "$got" -gt 0
		continue
	fi
	diag "$name: $got, recorded $(recorded "$name")"
	[[ $name != @(plan|range)-*-16 ]] || few=$got
	[[ $name != @(plan|range)-*-16384 ]] ||
		check "${name//-/_}__does_not_grow" test $((2 * got)) -le $((3 * few))
	check "instructions__of_${name}_as_recorded" near "$got" "$(recorded "$name")"
done < <(SECONDS_TOO=1 bench/core/run)
# a run that breaks off says fewer, and what it does not say is not checked
is all_numbers "${numbers[*]}" "send receive-and-reduce receive-and-forward plan-of-many-ranges ${plans[*]} frames-per-second"
finish
