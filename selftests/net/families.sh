#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# takes: 120
#
# Every plan family runs in the kernel with every collective that it serves, and gives right results.
# What is served is what torcoll-plan says of the shape, and auto always.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

collectives="allreduce reduce-scatter allgather broadcast reduce"

# planned TORCOLL-PLAN'S-ARGUMENT...: lines of algorithm and collective.
planned()
{
	local collective

	for collective in $collectives; do
		echo "auto $collective"
	done
	torcoll-plan --list "$@" | awk -v collectives="$collectives" \
		'$3 ~ /^[0-9]+$/ && index(" " collectives " ", " " $2 " ") { print $1, $2 }'
}

# planned_in_chunks SHAPE: likewise, of what goes in two chunks.
planned_in_chunks()
{
	local algorithm collective

	torcoll-plan --list --dims "$1" | awk 'NR > 1 && !seen[$1]++ { print $1 }' | while read -r algorithm; do
		for collective in $collectives; do
			! torcoll-plan --dims "$1" --algorithm "$algorithm" --collective "$collective" --count 1003 \
				--param chunks=2 --check >/dev/null 2>&1 || echo "$algorithm $collective"
		done
	done
}

# chunks SHAPE: what has chunks, with two.
chunks()
{
	local out

	if ! out=$(FAMILIES_CHUNKS=2 torcollctl netns run "$TORCOLL_TOP/build/bin/families" 2>&1); then
		not_ok "${1}_chunks__right" "a rank failed or saw a wrong result"
		diag <<<"$out"
		return
	fi
	ok "${1}_chunks__right"
	is "${1}_chunks__all_that_is_planned" "$(awk '{ print $(NF - 1), $NF }' <<<"$out" | sort)" \
		"$(planned_in_chunks "$1" | sort)"
	check "${1}_chunks__bibucket" grep -q "bibucket allreduce$" <<<"$out"
}

# families SHAPE [NODES]: all of them by resident ranks.
families()
{
	local name=$1${2:+_${2//,/_}} out served

	if ! out=$(torcollctl netns run "$TORCOLL_TOP/build/bin/families" "${@:2}" 2>&1); then
		not_ok "${name}__right" "a rank failed or saw a wrong result"
		diag <<<"$out"
		return
	fi
	ok "${name}__right"
	# each line comes with the number of its node before it
	served=$(awk '{ print $(NF - 1), $NF }' <<<"$out" | sort)
	is "${name}__all_that_is_planned" "$served" \
		"$(planned --dims "$1" ${2:+--nodes "$2"} | sort -u)"
}

# Slow kernels check the module rather than the plans: small shapes, fewer calls.
if ((TORCOLL_SLOW > 1)); then
	export FAMILIES_QUICK=1
	torus_up 2x2x2
	families 2x2x2
	torcollctl netns down
	torus_up 3x3
	families 3x3
	chunks 3x3
	finish
fi

torus_up 4x4 "${patient[@]}"
families 4x4
chunks 4x4
fails shape__refused_with_a_reason any "powers of three" \
	torcollctl netns run torcoll-perf allreduce -b 8 -e 8 --algorithm bruck-lat
torcollctl netns down

torus_up 3x3
families 3x3
families 3x3 7,0,5,2,4
# a row of three: what wants powers of it along a line, bruck-lat and allport
families 3x3 3,4,5
fails bits__refused_with_a_reason any "same float bits" \
	torcollctl netns run torcoll-perf allreduce -b 8 -e 8 -d f32 --algorithm bruck-lat
torcollctl netns down

torus_up 2x2x2
families 2x2x2
chunks 2x2x2
torcollctl netns down

torus_up 9
FAMILIES_QUICK=1 families 9
chunks 9
torcollctl netns down
finish
