#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# processors: 2
#
# Frames get lost: results stay right, and counters say so.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

# lose PERCENT
lose()
{
	local n

	for ((n = 0; n < 16; n++)); do
		printf "qdisc add dev %s root netem loss $1%%\n" d0p d0m d1p d1m | node "$n" tc -batch - || return 1
	done
}

torus_up 4x4 "${patient[@]}"
clean=$(counters tx_retransmits 16)
check netem__one_percent_on_every_port lose 1
check allreduce__right_with_loss torcollctl netns run torcoll-perf allreduce -b 8 -e "$(up_to 1M)" -f 8 -n 5
check allreduce__swing_right_with_loss torcollctl netns run torcoll-perf allreduce \
	-b 8 -e "$(up_to 1M)" -f 8 -n 2 --algorithm swing-bw
lossy=$(counters tx_retransmits 16)
diag "retransmitted: $clean frames before, $lossy after"
check counters__retransmissions_moved test "$lossy" -gt "$clean"
finish
