#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# torcollctl fabric show --all, fabric check and top, of surveys from files.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit

work=$(mktemp -d)
cleanup rm -rf "$work"

ctl()
{
	build/bin/torcollctl "$@"
}

# broken FILTER: the survey of the 4x4 torus, changed by jq.
broken()
{
	jq -c "$1" "$work/4x4" >"$work/broken"
}

# shows PATTERN ARGUMENT...
shows()
{
	local pattern=$1

	shift
	ctl "$@" | grep -E -- "$pattern"
}

same_by_any_spelling()
{
	diff <(ctl fabric show --all from "$work/4x4") <(ctl fabric show all 1 from "$work/4x4") &&
		diff <(ctl fabric show --all from "$work/4x4") <(ctl -a fabric show from "$work/4x4") &&
		diff <(ctl fabric show --all from "$work/4x4") <(ctl fabric show from "$work/4x4" --all)
}

# json FILTER ARGUMENT...
json()
{
	local filter=$1

	shift
	ctl -j "$@" | jq -e "$filter"
}

says_nothing()
{
	local out

	out=$(ctl "$@" 2>&1) && [[ -z $out ]] && return
	echo "$out"
	return 1
}

# The survey without its tests, which is said on stderr.
without_tests()
{
	broken 'del(.hosts[].ports[].test)'
	ctl fabric check from "$work/broken" 2>&1 | grep -E 'without tests'
}

# Live, on a terminal of 80 columns and 24 lines: it draws, shows its keys, and ends. Keys are pressed by who has seen that.
# shellcheck disable=SC2094 # that is read while it is written
on_a_terminal()
{
	: >"$work/screen"
	{
		wait_for 30 grep -q '16 of 16 answer' "$work/screen"
		printf '?'
		wait_for 30 grep -q 'Any key leaves this page' "$work/screen"
		printf 'x'
		sleep 1
		printf 'q'
	} | timeout 90 script -qec "stty rows 24 cols 80; TERM=linux build/bin/torcollctl top from $work/4x4" /dev/null >"$work/screen" &&
		grep -q '16 of 16 answer' "$work/screen" && grep -q 'Any key leaves this page' "$work/screen"
}

ktap_header
for shape in 4x4 2x2x2; do
	selftests/host/survey_torus.py "$shape" >"$work/$shape" || bail "no survey"
done
check show__any_spelling same_by_any_spelling
check show__head shows '^fabric 1: 4x4 torus of 16 nodes, 16 answer, 32 of 32 links up$' fabric show all from "$work/4x4"
check show__node shows '^ +5 +1,1 +c5 +0.1.0 +full +default +16 +1 +0 +0$' fabric show all from "$work/4x4"
check show__link shows '^ +1 +5 c5:d1p +9 c9:d1m +up +60 min +10000 +0 +0 +0 +0$' fabric show all from "$work/4x4"
check show__all_planes shows '^      2 /--- 3 /           6  --- 7$' fabric show all from "$work/2x2x2"
broken '(.hosts[5].ports[] | select(.device == "d0p").member) |= (.state = "waiting" | .lost = 7)'
check show__both_ends shows '^ +0 +5 c5:d0p +6 c6:d0m +waiting/up +60 min +10000 +7/0 ' fabric show all from "$work/broken"
check show__picture shows '^  --- 4 --- 5 -x- 6 --- 7 ---$|^  --- +4 --- +5 -x- +6 --- +7 ---$' fabric show all from "$work/broken"
broken 'del(.hosts[9])'
check show__no_answer shows '^ +9 +1,2 +no answer' fabric show all from "$work/broken"
check show__json_nodes json '.[0].nodes | length == 16 and all(.answers)' fabric show all from "$work/4x4"
check show__json_links json '.[0].links | length == 32 and all(.up) and all(.ends | length == 2)' fabric show all from "$work/4x4"
fails show__no_such_fabric 1 'in fabric 9' ctl fabric show all 9 from "$work/4x4"
fails show__no_file 1 'No such file' ctl fabric show all from "$work/none"
fails show__two_keys 1 'not expected' ctl fabric show all 1 2 from "$work/4x4"
fails check__no_such_fabric 1 'in fabric 9' ctl fabric check 9 from "$work/4x4"
check check__nothing_of_4x4 says_nothing fabric check from "$work/4x4"
check check__nothing_of_2x2x2 says_nothing fabric check from "$work/2x2x2"
check check__without_tests without_tests
broken '(.hosts[5].ports[] | select(.device == "d0p").test.bad) = 4'
fails check__damage 3 '^c6:d0m \(node 6\) -> c5:d0p \(node 5\): 4 of 1064 frames arrive damaged: replace' \
	ctl fabric check from "$work/broken"
fails check__json 3 '"rule":"damage"' ctl -j fabric check from "$work/broken"
broken '.hosts[3].version = "0.0.9"'
check check__hint_is_no_fault shows '^hint: c3 \(node 3\) has module 0.0.9' fabric check from "$work/broken"
check top__once shows '^  ---\[ 0\]---  1 ---  2 ---  3 ---  16 of 16 answer$' top once from "$work/4x4"
check top__once_in_colour shows $'\033\\[0;32m' top once colour from "$work/4x4"
fails top__needs_a_terminal 1 'top once' ctl top from "$work/4x4"
fails top__needs_its_keys 1 'needs a terminal' \
	timeout 10 script -qec "TERM=linux build/bin/torcollctl top from $work/4x4 </dev/null" /dev/null
fails top__no_json 1 'fabric show --all' ctl -j top once from "$work/4x4"
fails top__interval 1 'not 1 to 3600' ctl top once interval 0 from "$work/4x4"
check top__on_a_terminal on_a_terminal
finish
