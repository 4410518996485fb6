#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# processors: 2
#
# What libtorcoll adds to the module: ops beyond the depth of a comm, waits for several things, layouts and operators of
# programs. With a rank on each node, and with several.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

# good PREFIX [OPTIONS...]: all cases.
good()
{
	local out name prefix=$1

	shift
	out=$(torcollctl netns run "$@" queue 2>&1)
	diag <<<"$out"
	while read -r name; do
		check "$prefix$name" grep -q "right $name\$" <<<"$out"
	done < <(sed -n '/^} cases/,/^}/s/^	{ "\([a-z_]*\)", .*/\1/p' "$TORCOLL_TOP/selftests/net/queue.c")
}

torus_up 2x2
good ""
good shared__ -n 3 --ppn 1,2,2
eventually queue__leaves_nothing 15 nothing_charged
finish
