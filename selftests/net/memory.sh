#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# Kinds of memory, and the library's cache of registered memory. Nothing of either is left.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

work=$(mktemp -d)
cleanup rm -rf "$work"
torus_up 2x2 "${patient[@]}"
memory()
{
	torcollctl netns run memory >"$work/out" 2>&1
	sed 's/^\[[0-9]*\] //' "$work/out"
}
fold memory memory
eventually memory__leaves_nothing_charged 20 nothing_charged
finish
