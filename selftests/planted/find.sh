#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# In a guest, with the module of selftests/planted/run: find.sh MODULE. T and CASES as there.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

# cases NUMBER: with that bug in place, until one fails.
cases()
{
	echo "$1" >/sys/module/torcoll/parameters/tor_planted
	torcollctl netns run --no-prefix conformance "planted.$1" "${CASES:-400}" first </dev/null
	echo 0 >/sys/module/torcoll/parameters/tor_planted
}

# is_found NUMBER: says by what.
is_found()
{
	local out

	out=$(cases "$1" 2>&1)
	grep -m 1 'not ok' <<<"$out" | cut -c 8- | diag
	tail -n 1 <<<"$out" | diag
	grep -q ' passed, 1 failed$' <<<"$out"
}

nothing_is_found()
{
	cases 0 | tail -n 1 | grep " passed, 0 failed$"
}

"$TORCOLL_TOP/qemu/guest/load-module" "$1" || bail "the module does not load"
cleanup torus_down
nodes_up 4x4 "${patient[@]}" || bail "no torus: torcollctl netns up 4x4"
[[ -n ${T-} ]] || check no_bug__nothing_is_found nothing_is_found
number=0
while IFS=$'\t' read -r name _; do
	number=$((number + 1))
	[[ -z ${T-} || $T == "$name" ]] || continue
	is_found "$number"
	check "${name//-/_}__is_found" test $? = 0
done < <(grep -v '^#' "$TORCOLL_TOP/selftests/planted/list")
finish
