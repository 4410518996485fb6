#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Recordings of a terminal and pictures of them, from which docs/demo.svg is made; and what is known of that picture.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit

work=$(mktemp -d) || exit
cleanup rm -rf "$work"

# cast EVENT...: of a terminal of three lines
cast()
{
	printf '%s\n' '{"version": 2, "width": 100, "height": 3}' "$@"
}

# Text of each frame, its lines after each other with a slash.
frames()
{
	/usr/bin/python3 - "$1" <<-'END'
		import re, sys
		svg = open(sys.argv[1]).read()
		lines = {n: "".join(re.findall(r">([^<]*)</text>", text)) for n, text in re.findall(r'<g id="(l\d+)">(.*?)</g>', svg)}
		for frame in re.findall(r'<svg x="\d+"[^>]*>(.*?)</svg>', svg):
		    print("/".join(lines[n] for n in re.findall(r'href="#(l\d+)"', frame)))
	END
}

# says NAME WANTED EVENT...
says()
{
	cast "${@:3}" | scripts/cast-svg >"$work/a.svg" || not_ok "$1" "cast-svg fails"
	is "$1" "$(frames "$work/a.svg")" "$2"
}

# times NAME WANTED: where in the whole each frame begins, in per cent
times()
{
	is "$1" "$(sed -nE 's/^([0-9.]+)% \{.*/\1/p' "$work/a.svg" | paste -sd' ')" "$2"
}

records()
{
	scripts/cast-record "$work/cast" bash -c 'printf "one\n"; sleep 2; printf "two\n"; exit 7' >"$work/out"
	[[ $? == 7 && $(<"$work/out") == $'one\ntwo' && $(wc -l <"$work/cast") == 3 ]] &&
		jq -se '.[0].version == 2 and .[1][1:] == ["o", "one\n"] and .[2][0] - .[1][0] > 1' "$work/cast"
}

well_formed()
{
	/usr/bin/python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$1"
}

demo_is_small()
{
	local size

	size=$(stat -c %s docs/demo.svg) || return
	((size < 500000)) || { echo "$size bytes"; return 1; }
}

# What it is there to show.
demo_shows()
{
	local what bad=0

	for what in 'cable between nodes 0 and 1' 'node 10 ' '15 of 16 nodes' 'torcoll_comm_shrink' \
		'Everything is as it should be' '-x-'; do
		grep -qF -- "$what" docs/demo.svg || { echo "docs/demo.svg does not show: $what"; bad=1; }
	done
	((!bad))
}

ktap_header
check record__what_is_printed_and_when one_of 3 records
says svg__lines_are_added $'a\na/b' '[0, "o", "a\n"]' '[1, "o", "b\n"]'
times svg__times "0.000 14.286"
says svg__the_last_lines_are_seen $'a\nb/c/d' '[0, "o", "a\n"]' '[1, "o", "b\nc\nd\n"]'
says svg__what_is_erased_is_gone $'a/b\na/c' '[0, "o", "a\nb\n"]' '[1, "o", "\u001b[1A\u001b[Jc\n"]'
says svg__what_is_the_same_is_one_frame $'a\na/b' '[0, "o", "a\n"]' '[1, "o", "\u001b[1A\u001b[Ja\n"]' '[2, "o", "b\n"]'
says svg__soon_after_each_other_is_one_frame 'a/b' '[0, "o", "a\n"]' '[0.1, "o", "b\n"]'
says svg__long_pauses_are_cut $'a\na/b' '[0, "o", "a\n"]' '[100, "o", "b\n"]'
times svg__times_of_long_pauses "0.000 16.667"
says svg__colours_and_signs 'red&lt;&amp;' '[0, "o", "\u001b[31mred\u001b[0m  <&\n"]'
check svg__is_xml well_formed "$work/a.svg"
check demo__is_xml well_formed docs/demo.svg
check demo__is_small demo_is_small
check demo__shows_what_happens demo_shows
finish
