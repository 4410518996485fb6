#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 400
#
# torcollctl tune measures a 4x4 torus in less than half a minute, says what it found, and disturbs nobody.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header
work=$(mktemp -d)
cleanup rm -rf "$work"

ctl()
{
	torcollctl netns exec 0 torcollctl "$@"
}

perf()
{
	torcollctl netns run torcoll-perf allreduce -b 64 -e 4K -f 8 -n "$1" -w 0 -d i32 --in-place
}

# six rates, none outside its range
within_spread()
{
	# shellcheck disable=SC2016 # awk's
	awk '
		/^(op|round|hop|message)-ps|^(link|byte)-fs/ { n++; bad += !($3 <= $2 && $2 <= $4) }
		END { exit n != 6 || bad }' "$work/tune"
}

torus_up 4x4
begin=$SECONDS
torcollctl netns run torcollctl tune run save "$work/rates" >"$work/tune" 2>"$work/progress"
is tune__measures "$?" 0
seconds=$((SECONDS - begin))
sed -i 's/^\[0\] //' "$work/tune"
diag <"$work/tune"
check tune__within_30_s test $seconds -lt $((30 * TORCOLL_SLOW))
check tune__progress grep -q "round 1, " "$work/progress"
check tune__spread grep -qE '^message-ps +[0-9]+ +[0-9]+ +[0-9]+$' "$work/tune"
check tune__rates_within_their_spread within_spread
check tune__something_costs_something grep -qE -- '-(ps|fs) [1-9]' "$work/rates"
is tune__same_everywhere "$(torcollctl netns exec 11 torcollctl -j tune show)" "$(ctl -j tune show)"
tuned=$(ctl -j tune show)
torcollctl netns run torcollctl tune default
torcollctl netns run torcollctl tune load "$work/rates"
is load__same_again "$(ctl -j tune show)" "$tuned"
check load__comms_are_made perf 2

# Beside others: a comm made before goes on by its own tables.
perf 100 >"$work/beside" 2>&1 &
beside=$!
torcollctl netns run torcollctl tune >"$work/tune" 2>&1
is beside__measures "$?" 0
wait "$beside"
is beside__nothing_disturbed "$?" 0
diag <"$work/beside"
finish
