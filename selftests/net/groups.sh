#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# processors: 2
#
# Groups: dup, split, slice and block of comms, by what they add up and by whom they do not disturb.
# And batches of ops.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

torus_up 4x3
out=$(torcollctl netns run groups 2>&1)
diag <<<"$out"
while read -r name; do
	check "$name" grep -q "right $name\$" <<<"$out"
done < <(sed -n 's/^	{ "\([a-z_]*\)", .*/\1/p' "$TORCOLL_TOP/selftests/net/groups.c")
gone()
{
	[[ $(node 5 torcollctl -j comm show) == "[]" ]]
}
check batches__right torcollctl netns run batch
eventually groups__leave_nothing 30 gone
finish
