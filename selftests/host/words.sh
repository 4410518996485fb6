#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Words of torcollctl's command line: abbreviations, options of one letter, help, and what is said of wrong words.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit
PATH=$PWD/build/bin:$PATH

# says NAME TEXT COMMAND...: all that it prints.
says()
{
	local name=$1 text=$2

	shift 2
	is "$name" "$("$@" 2>&1)" "$text"
}

same_help()
{
	diff <(torcollctl "$1" help) <(torcollctl help "$1")
}

# Lines of help that a terminal of 80 columns breaks.
wide()
{
	local object

	torcollctl help | awk 'length > 80'
	for object in $(torcollctl help | sed -nE '/^Objects/,/^$/s/^  ([a-z]+) .*/\1/p'); do
		torcollctl "$object" help | awk -v object="$object" 'length > 80 { print object ": " $0 }'
	done
}

# One line with the error, one that names the help.
two_lines()
{
	local out

	out=$(torcollctl "${@:2}" 2>&1) && return 1
	[[ $(wc -l <<<"$out") == 2 && $(tail -n 1 <<<"$out") == "\"torcollctl $1\" tells more." ]] ||
		{ echo "$out"; return 1; }
}

# rate LINE: a file of rates that has it among others.
rate()
{
	printf '%s 1\n' op-ps round-ps message-ps link-fs byte-fs >"$work/rates"
	echo "$1" >>"$work/rates"
	torcollctl tune load "$work/rates"
}

work=$(mktemp -d)
cleanup rm -rf "$work"

ktap_header
check stat__is_stats grep -q 'torcollctl \[-a\] stats' <(torcollctl stat help)
check statistics__is_stats grep -q 'torcollctl \[-a\] stats' <(torcollctl statisti help)
fails ambiguous__names_both 1 '"n" may be node or netns' torcollctl n show
for object in fabric port stats explain qualify monitor netns env; do
	check "help__$object" same_help "$object"
done
is help__fits_in_80_columns "$(wide)" ""
check help__alone grep -q '^Objects:' <(torcollctl help)
fails help__of_nothing 1 '"nonsense" is no object' torcollctl help nonsense
says letters__combined "$(torcollctl -j -p env show)" torcollctl -jp env show
says letters__behind "$(torcollctl -j -p env show)" torcollctl env show -pj
says pretty__is_json "$(torcollctl -j -p env show)" torcollctl -p env show
says pretty__behind "$(torcollctl -j -p env show)" torcollctl env show --pretty
says pretty__letters "$(torcollctl -a -j -p env show)" torcollctl env show -ap
fails letters__unknown 1 'there is no option "-jx"' torcollctl -jx env show
check wrong__object two_lines help nonsense
check wrong__option two_lines help -x
check wrong__command two_lines "port help" port nonsense
check wrong__word two_lines "port help" port add 1 nonsense
check wrong__number two_lines "port help" port add 1 dim x
check wrong__missing two_lines "port help" port add 1 dim
check wrong__by_alias two_lines "stats help" statistics x
# the last one would count, and nobody say so
fails apply__as_twice 1 '^Error: "as" is given twice$' torcollctl apply /dev/null as lab0 as lab1
while read -r word words; do
	# shellcheck disable=SC2086 # words
	fails "twice__${words// /_}" 1 "^Error: \"$word\" is given twice" torcollctl $words
done <<-'END'
	dry-run apply /dev/null --dry-run dry-run
	dims fabric add 1 dims 4 node 0 d 3
	hello fabric add 1 dims 4 hello 1s node 0 hello 2s
	dim port add 1 dim 0 dim 1
	mtu netns up 2 mtu 1500 mtu 9000
	prefix netns up 2 --prefix a prefix b
	list advise 16 4 list list
	key discover key 1 key 2
	from survey show from a from b
	from fabric check from a from b
	interval top interval 1 interval 2
	port monitor port comm port
	seconds qualify seconds 1 seconds 2
	dev qualify lo dev lo
	dev qualify dev lo lo
END
for number in 5e6 -1 0x10 5.5 5us "5 6" 18446744073709551616 ""; do
	fails "rates__${number:-none}" 1 'rates:6: a rate and a number are expected' rate "hop-ps $number"
done
fails rates__one_is_missing 1 'hop-ps is missing' rate '  # hop-ps 5'
fails rates__folder 1 'Is a directory' torcollctl tune load "$work"
for word in -h --help help; do
	check "help__of_advise_$word" diff <(torcollctl advise help) <(torcollctl advise "$word")
	check "help__of_discover_$word" diff <(torcollctl discover help) <(torcollctl discover "$word")
	check "help__of_qualify_$word" diff <(torcollctl qualify help) <(torcollctl qualify "$word")
done
fails advise__dims_need_more_ports 1 '4x4 needs 4 ports at each host, not 2' torcollctl advise 16 2 dims 4x4
fails advise__dims_have_too_many_hops 1 'more than 255 hops' torcollctl advise 600 2 dims 600
for number in nan inf -1 1m ""; do
	fails "time__${number:-none}" 1 'is not a time like 200ms' torcollctl fabric add 1 dims 4 node 0 hello "$number"
done
finish
