#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# processors: 2
#
# Signals that come while comms are made and shrunk: at all ranks, all the time. Nobody may notice.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

torus_up 2x2 "${patient[@]}"
# where calls take longer, or no call would come to its end
every=$((5 * TORCOLL_SLOW))
check handler__lone_ranks torcollctl netns run signals 12 "$every"
check handler__ranks_that_share_nodes torcollctl netns run --ppn 1,2,3,1 signals 12 "$every"
check handler__ranks_that_share_node_0 torcollctl netns run --ppn 3,1,1,1 signals 12 "$every"
# What says that a comm is complete is lost at times, and comes after others have shrunk it.
check losses__netem node 1 tc qdisc add dev d1p root netem loss 30%
check handler__with_losses torcollctl netns run --ppn 1,2,3,1 signals 12 "$every"
eventually nothing_is_charged 30 nothing_charged
finish
