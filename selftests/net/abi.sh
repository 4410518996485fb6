#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A program that was built for the first version of torcoll runs with this one.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

torus_up 2x2 "${patient[@]}"
check first_program__runs torcollctl netns run first
check first_program__asks_for_no_newer_symbol test -z "$(nm -D "$TORCOLL_TOP/build/bin/first" |
	grep -oE 'torcoll_[a-z_]+@.*' | grep -v '@TORCOLL_0\.1$')"
finish
