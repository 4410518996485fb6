#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 900
# takes: 150
#
# torcollctl qualify: good cables are called good; one that is down, slow or late is told from its siblings, and
# what one loses or damages is found, in which direction.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

# qualify NODE ARGUMENT...: for a second.
qualify()
{
	local n=$1

	shift
	node "$n" torcollctl -j qualify seconds 1 "$@"
}

# Every test frame arrived, and was answered.
all_good()
{
	jq -e --argjson ports "$1" 'length == $ports and all(.good and .rest.sent > 9 and .rest.answered == .rest.sent and
		.load.sent > 9 and .load.arrived == .load.sent and .load.answered == .load.sent and
		.load.bps > 0 and .load.rtt_min_ns > 0 and .load.rtt_median_ns <= .load.rtt_99_ns)' "$work/out" || { cat "$work/out"; return 1; }
}

# impair NODE DEVICE QDISC...: what leaves there.
impair()
{
	on_one_cpu node "$1" tc qdisc add dev "$2" root "${@:3}"
}

mended()
{
	node "$1" tc qdisc del dev "$2" root
}

# verdict DEVICE FILTER: of that port's result.
verdict()
{
	jq -e --arg dev "$1" "[.[] | select(.ifname == \$dev)][0] | $2" "$work/out" || { cat "$work/out"; return 1; }
}

# The port is bad, for the reason; all others are not.
only_bad()
{
	jq -e --arg dev "$1" --arg why "$2" 'length == 4 and all(.[] | select(.ifname != $dev); .verdict != "bad") and
		any(.[]; .ifname == $dev and .verdict == "bad" and any(.reasons[]; test($why)) and (.advice | length > 0))' \
		"$work/out" || { cat "$work/out"; return 1; }
}

# Between 1 % and 40 % of what was sent on the way "there" or "back" are missing, or less than 1 %.
some()
{
	jq -e --arg what "$1" '.[0].load | (if $what == "there" then .sent - .arrived else .arrived - .answered end) as $lost |
		$lost * 100 > .sent and $lost * 100 < 40 * .sent' "$work/out" || { cat "$work/out"; return 1; }
}

none()
{
	jq -e --arg what "$1" '.[0].load | (if $what == "there" then .sent - .arrived else .arrived - .answered end) as $lost |
		$lost * 100 <= .sent' "$work/out" || { cat "$work/out"; return 1; }
}

# Damage on one way only; most of what is missing there is damaged, not lost.
damaged()
{
	jq -e --arg way "$1" '.[0].load | (if $way == "there" then [.damaged_there, .sent - .arrived, .damaged_back] else
		[.damaged_back, .arrived - .answered, .damaged_there] end) as [$here, $missing, $elsewhere] |
		$here > 0 and $here * 2 > $missing and $elsewhere == 0' "$work/out" || { cat "$work/out"; return 1; }
}

# all_are_good PORTS NODE ARGUMENT...: so many of that node.
all_are_good()
{
	qualify "${@:2}" >"$work/out" || { echo "exit code $?"; cat "$work/out"; return 1; }
	all_good "$1"
}

# finds_late, finds_slow, finds_crawling, finds_down: only d0p is bad, and for that reason; nothing is lost.
finds_late()
{
	qualify 4 >"$work/out"
	(($? == 2)) && only_bad d0p 'a round trip takes ([2-9][0-9]|[1-9][0-9]{2,})[.]. ms, .* its siblings' &&
		verdict d0p '.load.answered == .load.sent'
}

finds_slow()
{
	qualify 4 >"$work/out"
	(($? == 2)) && only_bad d0p 'to node 5, .* % of its siblings'
}

finds_crawling()
{
	qualify 4 >"$work/out"
	(($? == 2)) && only_bad d0p 'to node 5, 0[.].* % of its siblings' &&
		verdict d0p '(any(.reasons[]; test("lost|damaged")) | not) and .load.answered == .load.sent'
}

finds_down()
{
	qualify 4 >"$work/out"
	(($? == 2)) && only_bad d0p 'the link is no-carrier: '
}

# whom there|back: whose frames those are, in the reasons of node 4's d0p.
whom()
{
	[[ $1 == there ]] && echo "frames to node 5" || echo "frames to this node"
}

# blames WORDS there|back: the verdict says so of that way, and nothing of the other.
blames()
{
	local other=back

	[[ $2 == there ]] || other=there
	verdict d0p "any(.reasons[]; test(\"$(whom "$2") $1\")) and (any(.reasons[]; test(\"$(whom "$other")\")) | not)"
}

# loses there|back: a part of the frames is lost on that way from node 4's d0p, and hardly any on the other; that is what is said.
loses()
{
	local other=back

	[[ $1 == there ]] || other=there
	qualify 4 d0p >"$work/out"
	(($? == 2)) && some "$1" && none "$other" && blames "were lost" "$1"
}

# damages there|back: the same of damage.
damages()
{
	qualify 4 d0p >"$work/out"
	(($? == 2)) && damaged "$1" && blames "arrived damaged" "$1"
}

# All that the neighbour has answered is in the report; an answer more tells its count before the test, if it comes at once.
counts_answers()
{
	local before

	before=$(counter 5 tx_echoes)
	qualify 4 dev d0p >"$work/out"
	(($(counter 5 tx_echoes) - before == $(jq '.[0] | .rest.sent + .load.sent + 1' "$work/out"))) && return
	echo "$(counter 5 tx_echoes) answers after $before"
	cat "$work/out"
	return 1
}

is_up()
{
	node "$1" torcollctl -j port show | jq -e --arg dev "$2" 'any(.[]; .ifname == $dev and .state == "up")'
}

is_down()
{
	node "$1" torcollctl -j port show | jq -e --arg dev "$2" 'any(.[]; .ifname == $dev and .state == "no-carrier")'
}

# The result of that port's test; there is none while the link is down, as it is for a moment where hellos begin to be late.
is_measured()
{
	qualify "$1" "$2" >"$work/out"
	jq -e 'length == 1 and all(.rest.sent > 0)' "$work/out"
}

ops_go_on()
{
	local job code

	torcollctl netns run torcoll-perf allreduce -b 64K -e 64K -n 200 >"$work/perf" 2>&1 &
	job=$!
	qualify 0 d0p >"$work/out"
	code=$?
	wait "$job" || { cat "$work/perf"; return 1; }
	jq -e '.[0].load.answered > 0' "$work/out" || return 1
	echo "exit code $code"
}

work=$(mktemp -d)
cleanup rm -rf "$work"
# The linear part of larger frames of a packet socket is the MAC header, and netem damages nothing else.
torus_up 3x3 mtu 3000
check all_ports__good one_of 5 all_are_good 4 4
check one_port__answers_counted one_of 3 counts_answers
check one_port__good one_of 5 all_are_good 1 4 dev d0p
check ops__go_on ops_go_on

impair 4 d0p netem loss 10%
check lost_there__found_and_not_back one_of 3 loses there
mended 4 d0p
impair 5 d0m netem loss 10%
check lost_back__found_and_not_there one_of 3 loses back
fails text__says_bad 2 "d0p: dim 0 plus, to node 5: BAD" node 4 torcollctl qualify d0p seconds 1
mended 5 d0m

impair 4 d0p netem corrupt 10%
check damaged_there__found one_of 3 damages there
mended 4 d0p
impair 5 d0m netem corrupt 10%
check damaged_back__found one_of 3 damages back
mended 5 d0m

impair 4 d0p netem delay 20ms
check late__found_and_nothing_lost one_of 3 finds_late
mended 4 d0p

rate=$(jq '[.[] | select(.ifname != "d0p") | .load.bps] | min' "$work/out")
impair 4 d0p tbf rate $((rate / 10))bit burst 20k latency 300ms
check slow__found one_of 3 finds_slow
mended 4 d0p
# below this its queue drops some of the few frames, and it must be less than a hundredth of the others'
crawl=$((rate / 1000 > 200000 ? rate / 1000 : 200000))
if ((rate > 200 * crawl)); then
	impair 4 d0p tbf rate ${crawl}bit burst 20k latency 1s
	check crawling__found_and_nothing_lost one_of 3 finds_crawling
	mended 4 d0p
else
	skip crawling__found_and_nothing_lost "cables carry no more than $rate bits per second here"
fi

# It holds frames up for longer than they are waited for: answers come during later ones' test, and the first of all tells how many
# the neighbour has received in its life.
impair 4 d0p netem delay 3s limit 10000
eventually held_up__is_measured 60 is_measured 4 d0p
check held_up__no_more_arrive_than_were_sent jq -e 'all(.rest.arrived <= .rest.sent and
	.load.arrived <= .load.sent and .load.answered <= .load.sent)' "$work/out"
mended 4 d0p
eventually held_up__mended 60 is_up 4 d0p

node 5 ip link set d0m down
eventually down__noticed 20 is_down 4 d0p
check down__is_bad one_of 3 finds_down
check down__others_are_measured jq -e 'map(select(.load)) | length == 3' "$work/out"
qualify 4 d0p >"$work/out"
is down_alone__exit_code "$?" 2
fails down__text 2 "d0p: dim 0 plus, to node 5: BAD" node 4 torcollctl qualify d0p
node 5 ip link set d0m up
fails lo__is_no_port 2 "that device is no port" qualify 4 lo
fails nonsense__refused 1 "no device" qualify 4 nonsense
fails window__refused 1 "window: 1 to 64 frames" qualify 4 window 65
fails permission__needed 2 "not permitted: needs CAP_NET_RAW" \
	node 4 setpriv --reuid 65534 --clear-groups --bounding-set=-all --inh-caps=-all \
	build/bin/torcollctl qualify d1p seconds 1

# ---- all cables, from one host ----

# by surveys, which net/survey has
if ((TORCOLL_SLOW > 1)); then
	skip all "on slow kernels: minutes of surveys"
	finish
fi

# From node 0, which has no part in the cable between nodes 1 and 3.
all()
{
	node 0 torcollctl -j qualify all
}

# The worst cable is that between nodes 1 and 3, for the reason, and the only bad one.
worst_of_all()
{
	jq -e --arg why "$1" 'length == 4 and map(select(.verdict == "bad")) == .[:1] and
		([.[0] | .from, .to | "\(.node) \(.ifname) \(.dir)"] | sort) == ["1 d1p plus", "3 d1m minus"] and
		any(.[0].reasons[]; test($why)) and (.[0].advice | length > 0)' "$work/out" || { cat "$work/out"; return 1; }
}

torcollctl netns down
torus_up 2x2 mtu 3000
all_is_well()
{
	if ! all >"$work/out" || ! jq -e 'length == 4 and all(.[]; .verdict != "bad" and .there.bps > 0 and .back.bps > 0 and
		.there.sent > 1000 and .there.lost == 0 and .back.damaged == 0 and .rtt_median_ns > 0)' "$work/out"; then
		cat "$work/out"
		return 1
	fi
}

# all_finds REASON: the exit code says so, and it is the worst cable.
all_finds()
{
	all >"$work/out"
	(($? == 2)) && worst_of_all "$1"
}

all_finds_one_way()
{
	all_finds 'frames to .*:d1p were lost' &&
		jq -e 'all(.[0].reasons[]; test("frames to .*:d1m were") | not)' "$work/out"
}

check all__measured one_of 5 all_is_well
check all__option jq -e 'length == 4' <(node 0 torcollctl -j qualify --all)
check all__table grep -q '^VERDICT *FROM *TO *RATE *BACK' <(node 0 torcollctl qualify all)
impair 3 d1m netem loss 20%
check all_lost__found_one_way one_of 3 all_finds_one_way
node 0 torcollctl -j survey show test >"$work/survey"
fails all_from_file__judges_it 2 'frames to .*:d1p were lost' torcollctl qualify all from "$work/survey"
mended 3 d1m
impair 3 d1m netem corrupt 20%
check all_damaged__found one_of 3 all_finds 'frames to .*:d1p arrived damaged'
mended 3 d1m
impair 3 d1m netem delay 20ms
check all_late__found one_of 3 all_finds 'a round trip takes [0-9.]+ ms'
mended 3 d1m
impair 3 d1m tbf rate 10mbit burst 20k latency 1s
check all_slow__found one_of 3 all_finds 'Mb/s to .*:d1p, .* of its siblings'
mended 3 d1m
node 3 ip link set d1m down
eventually all_down__noticed 20 is_down 1 d1p
all >"$work/out"
is all_down__exit_code "$?" 2
check all_down__found jq -e '.[0].verdict == "bad" and any(.[0].reasons[]; test("is no-carrier"))' "$work/out"
node 3 ip link set d1m up
jq '.hosts |= map(.ports |= map(if .test then .test.tested_ms = 60000 else . end))' "$work/survey" >"$work/old"
fails all_from_file__too_old 2 "without tests" torcollctl qualify all from "$work/old"
finish
