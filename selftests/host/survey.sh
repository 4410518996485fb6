#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# torcollctl survey: a survey from a file is written again as it was, and shown with both ends of its cables.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit

work=$(mktemp -d)
cleanup rm -rf "$work"
ctl=build/bin/torcollctl

# Two hosts, of which one hears the other at its first device; every member is there once, at a limit where it has one.
cat >"$work/survey" <<'END'
{"self":"00000000000000aa","hosts":[{"id":"00000000000000aa","name":"a","version":"0.1.0","nodes":[{"key":18446744073709551615,"tag":5,"node":1,"epoch":9,"cables":1,"hello_ms":200,"rates":4294967295,"comms":2,"ops":3,"reached":4,"dead_links":6,"view":7,"ethertype":65535,"checksum":1,"byte_order":1,"retransmits":8,"sides":[2,2]}],"ports":[{"device":"p1","mac":"02:00:00:00:00:01","mtu":9000,"fabric":5,"speed":1000,"up":true,"carrier":true,"many":false,"peer":{"host":"ffffffffffffffff","device":"q0","mac":"02:00:00:00:00:02","mtu":9000,"fabric":6},"member":{"state":"up","dir":"minus","dim":1,"key":18446744073709551615,"expected":2,"heard_tag":3,"since_ms":1,"downs":2,"rx_frames":3,"tx_frames":4,"lost":5,"damaged":6,"resent":7,"heard":2},"test":{"pings":500,"pongs":499,"pinged":500,"rtt_min_ns":1000,"rtt_median_ns":2000,"rate":941,"train":64,"trains":64,"bad":1,"tested_ms":1500}}]},{"id":"ffffffffffffffff","name":"b","version":"0.1.0","nodes":[],"ports":[{"device":"q0","mac":"02:00:00:00:00:02","mtu":9000,"speed":0,"up":true,"carrier":true,"many":false},{"device":"q1","mac":"02:00:00:00:00:03","mtu":1500,"speed":0,"up":false,"carrier":false,"many":true}]}]}
END

same()
{
	diff <($ctl -j survey show from "$work/survey") "$work/survey"
}

# shows PATTERN: in the text.
shows()
{
	$ctl survey show from "$work/survey" | grep -E -- "$1"
}

# many HOSTS PORTS: a survey of so many that hear nobody.
many()
{
	jq -n --argjson hosts "$1" --argjson ports "$2" '{hosts: [range($hosts) | {id: "\(100000000 + .)0000000", name: "h\(.)",
		version: "0.1.0", nodes: [], ports: [range($ports) | {device: "p\(.)", mac: "02:00:00:00:00:01", mtu: 9000,
		speed: 1000, up: true, carrier: true, many: false}]}]}' >"$work/many"
}

# Two hosts, of which the first states a shape of 12,168 nodes.
large()
{
	jq '.hosts[0].nodes[0].sides = [13, 8, 13, 3, 3] | .hosts[0].nodes[0].key = 1' "$work/survey" >"$work/large"
}

# lines COMMAND...: how many it prints in 4 s of a processor.
lines()
{
	(ulimit -t 4 && "$@") | wc -l
}

# liars KIND NUMBER: what a host may have made up.
liars()
{
	selftests/host/survey_liars.py "$@" >"$work/crowd"
}

# overfull KIND NUMBER SENTENCE: more than is believed, which is said, also of what is kept of it.
overfull()
{
	liars "$1" "$2" && $ctl -j survey show from "$work/crowd" 2>"$work/said" >"$work/kept" && grep -xF -- "$3" "$work/said" &&
		$ctl survey show from "$work/kept" 2>&1 >/dev/null | grep -xF -- "$3"
}

# left_out: a report that lacks some devices, kept as such.
left_out()
{
	sed 's/]}]}$/],"left_out":40}]}/' "$work/survey" >"$work/cut"
	$ctl -j survey show from "$work/cut" 2>"$work/said" | diff - "$work/cut" &&
		grep -xF "b: 40 devices or fabrics more than its report has room for: ports of fabrics come first" "$work/said"
}

# cost COMMAND...: the processor's time of it, with its input, in ms.
cost()
{
	local TIMEFORMAT=%U

	{ time "$@" >/dev/null 2>&1; } 2>&1 | tr -d .
}

# costs FACTOR COMMAND...: less than so many times what the same survey costs that is read and printed.
costs()
{
	local factor=$1 shown spent

	shift
	shown=$(cost "$ctl" survey show from "$work/crowd")
	spent=$(cost "$ctl" "$@" from "$work/crowd")
	echo "$* costs $((10#$spent)) ms, survey show $((10#$shown)) ms"
	((10#$spent < factor * 10#$shown))
}

ktap_header
check json__is_read_and_written same
check text__other_end shows '^a +p1 .* 9000 +1000 +up +b:q0 .* dim 1 minus up +499 of 500 in 2.0 us, 941 Mbit/s, 1 damaged$'
check text__end_that_hears_nothing shows '^b +q0 .* up +a:p1, which is not heard'
check text__switch shows '^ +q1 .* 1500 +down +several hosts'
check text__of_many_hosts many 1000 12
is text__of_many_ports "$(lines $ctl survey show from "$work/many")" 12001
selftests/host/survey_torus.py 64x64 >"$work/crowd"
check check__of_many_hosts one_of 3 costs 3 fabric check
check qualify__of_many_hosts one_of 3 costs 3 qualify all
check json__says_what_is_left_out left_out
for liars in "places 48" "keys 48" "settings 16000" "shapes 16000"; do
	# shellcheck disable=SC2086	# two words
	check "liars__${liars% *}" liars $liars
	check "liars__${liars% *}_are_qualified" one_of 3 costs 2 qualify all
	check "liars__${liars% *}_are_checked" one_of 3 costs 3 fabric check 1
done
check liars__of_many_ports overfull ports 385 "h0: more than 384 devices or 896 fabrics: the others are left out"
check liars__of_many_hosts overfull hosts 32769 "more than 32768 hosts have answered: the others are left out"
check fabric__states_many_nodes large
is top__of_many_nodes "$(lines $ctl top once from "$work/large" | awk '{ print ($1 > 20) }')" 1
is fabric__of_many_nodes "$(lines $ctl fabric show all from "$work/large" | awk '{ print ($1 > 60000) }')" 1
echo '{"hosts": 1}' >"$work/number"
fails file__no_survey 1 'no survey' $ctl survey show from "$work/number"
# lists that are none have no elements
for filter in '.hosts[0].nodes[0].sides = 5' '.hosts[0].nodes[0].kinds = "ring"' '.hosts[0].nodes[0].kinds = {}' \
	'.hosts[0].nodes = 7' '.hosts[0].ports = {"device": "p1"}' '.hosts[0].nodes[0] = []' '.hosts[0] = null'; do
	jq "$filter" "$work/survey" >"$work/odd"
	check "file__odd_${filter%% =*}" $ctl survey show from "$work/odd"
	$ctl fabric show all 1 from "$work/odd" >"$work/text" 2>&1
	is "file__odd_${filter%% =*}_of_a_fabric" "$(($? < 128))" 1
done
fails file__missing 1 'No such file' $ctl survey show from "$work/none"
fails file__is_not_tested 1 'exclude each other' $ctl survey show test from "$work/survey"
finish
