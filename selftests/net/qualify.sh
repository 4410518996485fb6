#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
#
# torcollctl qualify: good cables are called good, and what one loses is found, in which direction.

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

# lossy NODE DEVICE: where netem loses a tenth of what leaves.
lossy()
{
	on_one_cpu node "$1" tc qdisc add dev "$2" root netem loss 10%
}

mended()
{
	node "$1" tc qdisc del dev "$2" root
}

# Between 1 % and 40 % of what was sent.
some()
{
	jq -e --arg what "$1" '.[0].load | (if $what == "there" then .sent - .arrived else .arrived - .answered end) as $lost |
		$lost * 100 > .sent and $lost * 100 < 40 * .sent' "$work/out"
}

none()
{
	jq -e --arg what "$1" '.[0].load | (if $what == "there" then .sent - .arrived else .arrived - .answered end) as $lost |
		$lost * 100 <= .sent' "$work/out"
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
torus_up 3x3
qualify 4 >"$work/out"
is all_ports__exit_code "$?" 0
check all_ports__good all_good 4
before=$(counter 5 tx_echoes)
qualify 4 dev d0p >"$work/out"
is one_port__exit_code "$?" 0
check one_port__good all_good 1
is one_port__answers_counted $(($(counter 5 tx_echoes) - before)) "$(jq '.[0] | .rest.sent + .load.sent' "$work/out")"
check ops__go_on ops_go_on

lossy 4 d0p
qualify 4 d0p >"$work/out"
is lost_there__exit_code "$?" 2
check lost_there__found some there
check lost_there__not_back none back
mended 4 d0p
lossy 5 d0m
qualify 4 d0p >"$work/out"
is lost_back__exit_code "$?" 2
check lost_back__found some back
check lost_back__not_there none there
fails text__says_bad 2 "d0p: dim 0 plus, to node 5: BAD" node 4 torcollctl qualify d0p seconds 1
mended 5 d0m

node 5 ip link set d0m down
fails down__refused 2 "d0p: the link is not up, but no-carrier" qualify 4 d0p
node 5 ip link set d0m up
fails lo__is_no_port 2 "that device is no port" qualify 4 lo
fails nonsense__refused 1 "no device" qualify 4 nonsense
fails window__refused 1 "window: 1 to 64" qualify 4 window 65
fails permission__needed 2 "not permitted: needs CAP_NET_RAW" \
	node 4 setpriv --reuid 65534 --clear-groups --bounding-set=-all --inh-caps=-all \
	build/bin/torcollctl qualify d1p seconds 1
finish
