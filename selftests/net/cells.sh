#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# processors: 2
#
# Ops for which the completion ring has no place: more than it has, and where the library has none.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

torus_up 2x2
out=$(torcollctl netns run cells 2>&1)
diag <<<"$out"
while read -r name; do
	check "$name" grep -q "right $name\$" <<<"$out"
done < <(sed -n '/^} cases/,/^}/s/^	{ "\([a-z_]*\)", .*/\1/p' "$TORCOLL_TOP/selftests/net/cells.c")
eventually ring__leaves_nothing 15 nothing_charged
finish
