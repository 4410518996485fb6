#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 2400
#
# Guests of two architectures in one fabric, two of each: they train the digits and end with the same bits, and sums of
# crafted and random floats, NaNs among them, are the same on all, at levels agree and ordered.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit

# torus NAME COMMAND...
torus()
{
	qemu/torus --timeout 1000 --results "$work" --logs "build/log/check/vms/mixed-$1" --kernel 6.12-amd64,6.12-arm64 \
		--env STEPS=10 --env LARGEST=64K 2x2 "${@:2}"
}

# Each guest as a rank: see net/bits.c, which waits for no cut where the file is there.
bits()
{
	# shellcheck disable=SC2016 # for the guests to expand
	torus bits bash -c 'bits 24 /proc/version >"$TORCOLL_RESULTS/node-$TORCOLL_NODE/said" 2>&1'
}

work=$(mktemp -d)
ktap_header
cleanup rm -rf "$work"
check train__ends_with_the_same_bits torus train qemu/guest/demo-node.sh
check bits__as_promised bits
sed -n 's/^right /2x2, mixed: /p' "$work/node-0/said" | diag
check bits__ordered_is_served grep -q '^right auto ordered' "$work/node-0/said"
is architectures "$(cat "$work"/node-*/up | sed 's/.*-//' | sort | uniq -c | xargs)" "2 amd64 2 arm64"
finish
