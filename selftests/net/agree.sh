#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# What nodes must have in common: each difference is told at both ends of a cable, in a sentence with both values. Communicators
# take the rates of their rank 0; where nodes differ in what cannot be taken over, every rank is refused at once, and told by whom.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header
torus_up 4

cables=$(node 0 torcollctl -j fabric show | jq '.[0].cables')
hello=$(node 0 torcollctl -j fabric show | jq '.[0].hello_ms')ms

# renew N KEY DIMS NODE [OPTION]...: the fabric of namespace N anew.
renew()
{
	local n=$1 key=$2 dims=$3 self=$4 dir

	shift 4
	node "$n" torcollctl fabric del "$(node "$n" torcollctl -j fabric show | jq '.[0].key')"
	node "$n" torcollctl fabric add "$key" dims "$dims" node "$self" cables "$cables" hello "$hello" "$@"
	for dir in plus minus; do
		node "$n" torcollctl port add "$key" dim 0 dir $dir dev d0${dir:0:1}
	done
}

all_up()
{
	local n

	for n in 0 1 2 3; do
		node "$n" torcollctl -j port show | jq -e 'length == 2 and all(.state == "up")' >/dev/null &&
			node "$n" torcollctl -j fabric show | jq -e '.[0].dead_links == 0' >/dev/null || return
	done
}

# says N SENTENCE: port show of that node does, at some port; a pattern.
says()
{
	node "$1" torcollctl port show | grep -q -- "$2"
}

# Nobody has anything to say.
quiet()
{
	local n said=0

	for n in 0 1 2 3; do
		node "$n" torcollctl port show | grep '^    dim' && said=1
	done
	((!said))
}

# All nodes join, or fail within seconds, far below the default time to wait. For $said and $code.
joins()
{
	local begun=$SECONDS

	said=$(torcollctl netns run torcoll-perf allreduce -b 64 -e 4K -n 1 -w 0 2>&1)
	code=$?
	diag <<<"$said"
	((SECONDS - begun < 90 * ${TORCOLL_SLOW:-1})) && return "$code"
	echo "it took $((SECONDS - begun)) s"
	return 77
}

# all_told SENTENCE: each of the ranks was refused with it.
all_told()
{
	local rank

	joins && return 1
	for rank in 0 1 2 3; do
		grep "^\[$rank\]" <<<"$said" | grep EPROTO | grep -qF -- "$1" || { echo "rank $rank was not told"; return 1; }
	done
	((code != 77))
}

# ---- names ----

check name__of_the_neighbour eval 'node 0 torcollctl -j port show | jq -e "[.[].heard_name] | sort == [\"node1\", \"node3\"]"'
node 1 torcollctl host name "a b"
eventually name__follows 20 eval 'node 0 torcollctl -j port show | jq -e "any(.[]; .heard_name == \"a b\")"'
fails name__printable_only 2 "name: a host's name is 1 to 64 printable" node 1 torcollctl host name $'a\tb'
fails name__not_empty 2 "name: a host's name is 1 to 64 printable" node 1 torcollctl host name ""
fails name__not_too_long 1 "longer than 64" node 1 torcollctl host name "$(printf '%065d' 0)"
fails name__needs_permission 2 "not permitted" \
	node 1 setpriv --reuid 65534 --clear-groups --bounding-set=-all --inh-caps=-all build/bin/torcollctl host name x
check name__default node 1 torcollctl host name default
is name__of_the_system "$(node 1 torcollctl host show)" "$(hostname)"
node 1 torcollctl host name node1
eventually same__nothing_to_say 20 quiet

# ---- rates ----

node 2 torcollctl tune set 1 hop 77ns
node 0 torcollctl tune set 1 round 33us
rates_2=$(node 2 torcollctl -j fabric show | jq '.[0].rates')
rates_1=$(node 1 torcollctl -j fabric show | jq '.[0].rates')
told=$(printf 'the rates of node 2 (node2) are 0x%08x, this node.s 0x%08x:' "$rates_2" "$rates_1")
eventually rates__told_at_one_end 20 says 1 "$told"
told=$(printf 'the rates of node 1 (node1) are 0x%08x, this node.s 0x%08x:' "$rates_1" "$rates_2")
eventually rates__told_at_the_other 20 says 2 "$told"
eventually rates__links_are_up 20 all_up
check rates__those_of_rank_0 joins
# a name that is the same each time is one that other users can take
torcollctl netns run torcollctl tune run >/tmp/tune 2>&1 &
tune=$!
# those before are closed, and stay in the list for some seconds
eventually rates__are_measured_by_the_launchers_name 60 eval 'node 0 torcollctl -j comm show |
	jq -e "any(.[]; .state == \"up\") and all(.[]; .name != \"torcollctl tune\")"'
wait "$tune"
is rates__are_measured_though_they_differ "$?" 0
diag </tmp/tune
is rates__the_same_afterwards "$(node 2 torcollctl -j tune show)" "$(node 1 torcollctl -j tune show)"
node 2 torcollctl tune set 1 round 7us
node 0 torcollctl tune save /tmp/rates
torcollctl netns run torcollctl tune load /tmp/rates
eventually rates__nothing_to_say 20 quiet

# ---- checksum ----

renew 2 1 4 2 checksum header
eventually checksum__told_at_one_end 20 says 1 'checksum is "header", this node.s "full"'
eventually checksum__told_at_the_other 20 says 2 'checksum is "full", this node.s "header"'
eventually checksum__links_are_up 20 all_up
check checksum__all_ranks_are_told all_told "rank 2 on node 2 (node2) has checksum header, rank 0 has full"

# Rank 3 comes when all others have gone.
# shellcheck disable=SC2016 # each rank's own
late()
{
	said=$(torcollctl netns run sh -c '
		[ $TORCOLL_RANK = 3 ] && sleep 3
		exec torcoll-perf allreduce -b 64 -e 64 -n 1 -w 0' 2>&1) && return 1
	diag <<<"$said"
	grep "^\[3\]" <<<"$said" | grep -F "rank 2 on node 2 (node2) has checksum header" || return
	((SECONDS - begun < 90 * ${TORCOLL_SLOW:-1}))
}

begun=$SECONDS
check checksum__told_to_who_comes_later late
renew 0 1 4 0 checksum header
renew 1 1 4 1 checksum header
eventually checksum__links_are_up_again 20 all_up
check checksum__others_are_at_fault all_told "rank 3 on node 3 (node3) has checksum full, rank 0 has header"
renew 3 1 4 3 checksum header
eventually checksum__nothing_to_say 20 quiet
eventually checksum__all_up 20 all_up
check checksum__the_same_everywhere joins

# ---- another list of members ----

lists()
{
	# shellcheck disable=SC2016
	said=$(torcollctl netns run sh -c '
		[ $TORCOLL_RANK = 3 ] && export TORCOLL_MEMBERS=0,2,1,3
		exec torcoll-perf allreduce -b 64 -e 64 -n 1 -w 0' 2>&1) && return 1
	diag <<<"$said"
	grep "^\[0\]" <<<"$said" | grep -F "node 3 (node3) names another list of members than rank 0"
}

check members__node_is_named lists

# ---- another fabric at the other end ----

tag_1=$(node 1 torcollctl -j fabric show | jq '.[0].tag')
renew 2 2 4 2 checksum header
tag_2=$(node 2 torcollctl -j fabric show | jq '.[0].tag')
eventually key__told_at_one_end 20 says 1 \
	"$(printf 'another fabric (tag 0x%08x, here 0x%08x): give both nodes the same key' "$tag_2" "$tag_1")"
eventually key__told_at_the_other 20 says 2 \
	"$(printf 'another fabric (tag 0x%08x, here 0x%08x): give both nodes the same key' "$tag_1" "$tag_2")"
# shellcheck disable=SC2016 # evaluated there
check key__state eval 'node 1 torcollctl -j port show | jq -e "any(.[]; .state == \"fabric\" and .heard_tag == $tag_2)"'
check key__neighbour says 1 "fabric *[0-9]* s *2, heard: another fabric"

# ---- another shape ----

renew 2 1 5 2 checksum header
eventually shape__told_at_one_end 20 says 1 'node 2 (node2) has the shape 5, this node 4: apply'
eventually shape__told_at_the_other 20 says 2 'node 1 (node1) has the shape 4, this node 5: apply'

# ---- a wrong node number ----

renew 2 1 4 3 checksum header
eventually number__told_at_one_end 20 says 1 \
	"node 3 (node2)'s port dim 0 minus is heard, node 2's port dim 0 minus belongs here: move the cable"
eventually number__told_at_the_other 20 says 2 \
	"node 1 (node1)'s port dim 0 plus is heard, node 2's port dim 0 plus belongs here: move the cable"
check number__neighbour says 1 "miswired *[0-9]* s *2, heard: 3"
renew 2 1 4 2 checksum header
eventually number__all_up 20 all_up
eventually number__nothing_to_say 20 quiet

# ---- the two cables of a node, exchanged ----

node 2 torcollctl port del dev d0p
node 2 torcollctl port del dev d0m
node 2 torcollctl port add 1 dim 0 dir plus dev d0m
node 2 torcollctl port add 1 dim 0 dir minus dev d0p
eventually plugs__told_where_they_are 20 says 2 \
	"port dim 0 minus belongs here: move the cable to dim 0 minus (d0p)"
eventually plugs__told_at_the_other_end 20 says 1 \
	"node 2's port dim 0 minus belongs here: move its plug there to that port"
renew 2 1 4 2 checksum header
eventually plugs__all_up 20 all_up

# ---- MTU ----

node 1 ip link set d0p mtu 1500
eventually mtu__told_at_one_end 20 says 1 'the MTU is 1500 here and 9000 at node 2 (node2): frames have the smaller size'
eventually mtu__told_at_the_other 20 says 2 'the MTU is 9000 here and 1500 at node 1 (node1): frames have the smaller size'
eventually mtu__links_are_up 20 all_up
check mtu__joins joins
finish
