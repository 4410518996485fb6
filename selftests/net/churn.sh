#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# processors: 2
#
# 16 processes make and close comms, each with 256 ops in flight: COMMS of them, 16 unless it says otherwise
# (selftests/long/churn.sh). Results are right, and nothing is left.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

comms=${COMMS:-16}

memory()
{
	torcollctl netns exec 0 torcollctl -j node show | jq '.[0].memory'
}

memory_is_back()
{
	[[ $(memory) == "$before" ]]
}

# Four on each node, a comm of one of them each.
churn()
{
	local i pids=() code=0

	for i in 0 1 2 3; do
		torcollctl netns run churn $((comms / 4)) &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i" || code=1
	done
	return "$code"
}

# While nothing else is on the nodes.
alike()
{
	torcollctl netns run alike
}

# What is closed lingers, and would be freed while bytes are counted.
alike_order()
{
	wait_for 30 memory_is_back && torcollctl netns run alike order
}

torus_up 2x2 "${patient[@]}"
before=$(memory)
check churn__alike_ranks_share_epochs alike
check churn__alike_heir_costs_its_ranks alike_order
eventually churn__alike_leaves_nothing 30 memory_is_back
ops=$(counter 0 ops)
check churn__all_right churn
is churn__ops "$(counter 0 ops)" $((ops + comms * 64))
eventually churn__leaves_nothing_charged 30 nothing_charged
eventually churn__memory_is_back 30 memory_is_back
finish
