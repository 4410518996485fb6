#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
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
	finish
fi

torus_up 4x4 "${patient[@]}"
families 4x4
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
torcollctl netns down

torus_up 9
FAMILIES_QUICK=1 families 9
torcollctl netns down
finish
