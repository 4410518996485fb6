#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 400
#
# A cable that fails and comes back, over and over: down for 1 s in every 3, for SECONDS s (60). Allreduces go on
# all the while, none fails, and all are right.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

periods=$((${SECONDS_OF_FLAPPING:-60} / 3))

flap()
{
	local i

	for ((i = 0; i < periods; i++)); do
		node 5 ip link set d0p down
		sleep 1
		node 5 ip link set d0p up
		sleep 2
	done
	touch "$work/over"
}

# Jobs of checked allreduces, one behind the other, until it is over. None goes on without a rank.
jobs_go_on()
{
	local runs=0 steps=100 whole

	while [[ ! -e $work/over ]]; do
		torcollctl netns run survive --steps "$steps" --count 8192 >"$work/out" 2>&1 ||
			{ head -n 20 "$work/out"; return 1; }
		whole=$(grep -c "of 16: $steps steps, shrunk 0 times, nodes ffff\$" "$work/out")
		((whole == 16)) || { head -n 20 "$work/out"; return 1; }
		runs=$((runs + 1))
	done
	echo "$((runs * steps)) allreduces" >"$work/done"
	((runs > 1))
}

work=$(mktemp -d)
cleanup rm -rf "$work"
torus_up 4x4
downs=$(counter 5 link_downs)
reroutes=$(counter 10 reroutes)
flap &
check flapping_link__all_right jobs_go_on
wait
downs=$(($(counter 5 link_downs) - downs))
reroutes=$(($(counter 10 reroutes) - reroutes))
diag "$(cat "$work/done" 2>/dev/null), link down $downs times, node 10 rerouted $reroutes times"
check flapping_link__flapped test "$downs" -ge "$periods"
# every time to and fro, but for views that changed twice before the table was built
check flapping_link__routes_followed test "$reroutes" -ge "$periods"
finish
