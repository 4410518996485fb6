#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Configuration and views through netlink: what is refused, by which sentence about which word; what is shown;
# what is told when it changes.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

ctl()
{
	node 0 torcollctl "$@"
}

# refused NAME PATTERN ARGUMENT...: by the kernel, so with exit code 2.
refused()
{
	local name=$1 pattern=$2

	shift 2
	fails "$name" 2 "$pattern" node 0 torcollctl "$@"
}

# shows NAME FILTER ARGUMENT...: its JSON is as jq's filter wants it.
shows()
{
	local name=$1 filter=$2 out

	shift 2
	out=$(ctl -j "$@")
	if jq -e "$filter" >/dev/null <<<"$out"; then
		ok "$name"
	else
		not_ok "$name" "not so: $filter"
		diag <<<"$out"
	fi
}

# link NODE DIM DIR: state of that link.
link()
{
	node "$1" torcollctl -j port show |
		jq -r ".[] | select(.dim == $2 and .dir == \"$3\") | .state"
}

link_is()
{
	[[ $(link "$1" "$2" "$3") == "$4" ]]
}

told()
{
	jq -se "any($1)" "$work/events"
}

perf_counts()
{
	torcollctl netns run --no-prefix torcoll-perf allreduce -b 64 -e 64 -n 1 -w 0 --format json |
		jq -es 'length > 0 and all(.frames > 0)'
}

work=$(mktemp -d)
cleanup rm -rf "$work"
torus_up 4x4

# ---- fabrics ----

refused fabric_add__same_key '^Error: key: .*already' fabric add 1 dims 2x2 node 0
refused fabric_add__node_outside '^Error: node: ' fabric add 2 dims 2x2 node 4
fails fabric_add__no_nodes 1 '^Error: dims: ' node 0 torcollctl fabric add 2 dims 2048x0 node 0
refused fabric_add__too_fast_hellos '^Error: hello: .*10 to 10000' fabric add 2 dims 2x2 node 0 hello 1ms
refused fabric_add__three_cables '^Error: cables: .*1 to 2' fabric add 2 dims 2x2 node 0 cables 3
for type in 0x5ff 0x800 0x86dd 0x806 0x8100 0x88e5 0x10000; do
	refused "fabric_add__ethertype_$type" '^Error: ethertype: ' fabric add 2 dims 2x2 node 0 ethertype $type
done
refused fabric_add__unprivileged 'CAP_NET_ADMIN' netns exec 0 setpriv --reuid 65534 --clear-groups \
	torcollctl fabric add 2 dims 2x2 node 0
refused fabric_del__no_such_key '^Error: key: ' fabric del 2
refused port_add__is_one_already '^Error: dev: .*another that "port show" names' port add 1 dim 0 dir plus dev d0p
refused fabric_show__no_such_key '^Error: key: ' fabric show 2
check fabric_add__everything_set ctl fabric add 0xffffffffffffffff dims 2x3x1 coord 1,2,0 cables 2 \
	ethertype 0x88b7 hello 1s checksum header frame 1500
shows fabric_show__everything_set '.[0] | .key == 18446744073709551615 and .sides == [2,3,1] and
	.node == 5 and .coord == [1,2,0] and .cables == 2 and .ethertype == 34999 and
	.hello_ms == 1000 and .checksum == "header" and .frame_size == 1500 and .nodes == 6' \
	fabric show 0xffffffffffffffff
shows fabric_show__both 'length == 2' fabric show
check fabric_del__it ctl fabric del 18446744073709551615
shows fabric_show__the_first 'length == 1 and (.[0] | .key == 1 and .ports == 4 and .ports_up == 4)' \
	fabric show
check fabric_show__text grep -q 'here node 0 (0,0), 4 of 4 ports up' <(ctl fabric show)
shows node_show '.[0] | .fabric == 1 and .index == 0 and .coord == [0,0] and .epoch > 0 and
	.frame_bytes > 8000 and .memory > 0 and .memory < 256 * 1024' node show

# ---- ports ----

shows port_show 'length == 4 and all(.state == "up" and .mtu == 9000 and .rx_frames > 0 and
	.neighbour == .heard_node and .dim == .heard_dim and .dir != .heard_dir)' port show
refused port_add__device_taken '^Error: dev: .*a port already' port add 1 dim 0 dir plus dev d0m
refused port_add__no_such_fabric '^Error: key: ' port add 2 dim 0 dir plus dev lo
refused port_add__no_cable_there '^Error: dim: ' port add 1 dim 2 dir plus dev lo
refused port_add__no_such_dim '^Error: dim: ' port add 1 dim 6 dir plus dev lo
check port_del__by_device ctl port del dev d0p
refused port_del__twice '^Error: ' port del 1 dim 0 dir plus
refused port_add__not_ethernet '^Error: dev: .*Ethernet' port add 1 dim 0 dir plus dev lo
eventually port_del__other_side_notices 20 link_is 1 0 minus waiting
check port_show__says_why grep -q 'dim 0 minus (d0m): nothing heard' <(node 1 torcollctl port show)
check fabric_show__draws_it grep -qF -- '[ 0]-x-' <(ctl fabric show)
node 0 ip link add name br0 type bridge
node 0 ip link set d0p master br0
refused port_add__bridge_port '^Error: dev: .*bridge' port add 1 dim 0 dir plus dev d0p
refused port_add__bridge '^Error: dev: .*devices below it' port add 1 dim 0 dir plus dev br0
node 0 ip link set d0p nomaster

# ---- events ----

torcollctl netns exec 0 torcollctl -j monitor >"$work/events" &
monitor=$!
cleanup kill $monitor
# It listens from a moment on that only it knows: change something until it is told.
listens()
{
	ctl fabric add 3 dims 2 node 0 && ctl fabric del 3
	[[ -s $work/events ]]
}
eventually monitor__listens 20 listens
# The first that it was told may be the end of a fabric whose beginning it missed.
ctl fabric add 3 dims 2 node 0 && ctl fabric del 3
eventually monitor__fabric_new 20 told '.object == "fabric" and .event == "new" and .fabric.key == 3'
eventually monitor__fabric_deleted 20 told '.object == "fabric" and .event == "deleted" and .fabric.key == 3'
check port_add__again ctl port add 1 dim 0 dir plus dev d0p
eventually monitor__port_up 20 told '.object == "port" and .port.ifname == "d0p" and .port.state == "up"'
node 0 ip link set d0p down
eventually monitor__port_down 20 told '.object == "port" and .port.ifname == "d0p" and .port.state == "no-carrier"'
eventually port_down__other_side_notices 20 link_is 1 0 minus no-carrier
node 0 ip link set d0p up
eventually port_up__again 20 link_is 0 0 plus up
node 0 ip link set d0p mtu 100
eventually port_mtu__too_small 20 link_is 0 0 plus no-carrier
node 0 ip link set d0p mtu 9000
eventually port_mtu__restored 20 link_is 0 0 plus up
node 0 ip link del d0p
eventually port_gone__is_deleted 20 told '.object == "port" and .event == "deleted"'
shows port_gone__is_not_shown 'length == 3' port show

# ---- batches ----

printf 'fabric add 7 dims 3 node 1\nfabric del 7\nfabric del 7\nfabric add 8 dims 3 node 1\n' >"$work/batch"
fails batch__stops_at_the_error 2 'failed .*:3' node 0 torcollctl -b "$work/batch"
shows batch__did_not_go_on 'length == 1' fabric show

# ---- names ----

hostile=$'a\e[2J\x9b31mz\\'
has_comm()
{
	ctl comm show >"$work/comms" 2>/dev/null && grep -q '^comm ' "$work/comms"
}
TORCOLL_FABRIC=1 TORCOLL_COMM=$hostile TORCOLL_MEMBERS=0 TORCOLL_SIZE=1 TORCOLL_RANK=0 \
	node 0 torcoll-perf barrier -n 100000000 >/dev/null 2>&1 &
eventually comm_show__hostile_name 30 has_comm
check comm_show__name_is_harmless grep -qF 'comm a\x1b[2J\x9b31mz\x5c of fabric 1' "$work/comms"
# not UTF-8
shows comm_show__json_is_utf8 '.[0].name == "a\\x1b[2J\\x9b31mz\\x5c"' comm show
fails error__word_is_harmless any '\\x1b\[2J' ctl comm $'\e[2J'
pkill -x torcoll-perf
wait "$!"
eventually monitor__comm_deleted 20 told '.object == "comm" and .event == "deleted"'

# waits_for NODE RANK MISSING
waits_for()
{
	node "$1" torcollctl -j comm show | jq -e "any(.name == \"refused\" and .state == \"joining\" and .tag == 0 and
		.rank == $2 and .ranks == 2 and .missing == $3)"
}

# who_is_missing NAME NODE RANK MISSING MEMBERS
who_is_missing()
{
	TORCOLL_FABRIC=1 TORCOLL_COMM=refused TORCOLL_MEMBERS=$5 TORCOLL_RANK=$3 TORCOLL_TIMEOUT=600 \
		node "$2" torcoll-perf barrier -n 1 >/dev/null 2>&1 &
	eventually "$1" 30 waits_for "$2" "$3" "$4"
	pkill -x torcoll-perf
	wait "$!"
}

who_is_missing comm_show__rank_0_waits 0 0 1 0,1
who_is_missing comm_show__rank_1_waits 1 1 0 0,1
who_is_missing comm_show__rank_waits_for_one_of_its_node 0 1 0 0,0

# A join that nobody else takes part in, and after it a comm whose end is told as well.
TORCOLL_FABRIC=1 TORCOLL_COMM=refused TORCOLL_MEMBERS=0,1 TORCOLL_RANK=0 TORCOLL_TIMEOUT=1 \
	fails join__of_one_fails any '' node 0 torcoll-perf barrier -n 1
TORCOLL_FABRIC=1 TORCOLL_COMM=after TORCOLL_MEMBERS=0 TORCOLL_SIZE=1 TORCOLL_RANK=0 \
	check comm__after_it node 0 torcoll-perf barrier -n 1
eventually monitor__comm_after_it_deleted 20 told '.object == "comm" and .event == "deleted" and .comm.name == "after"'
fails monitor__refused_comms_do_not_end any '' told '.object == "comm" and .comm.name == "refused"'

# ---- ops that come and go ----

fold dumps timeout $((60 * TORCOLL_SLOW)) dumps

# ---- ends ----

# Its links go while it is deleted, of which more would be said. One that is made and deleted after that shows that all is said.
last_words()
{
	jq -s 'map(select(.object == "fabric" and .fabric.key == 1)) | last.event' "$work/events"
}
check fabric_del__with_links ctl fabric del 1 force
sleep 1
ctl fabric add 4 dims 2 node 0 && ctl fabric del 4
eventually monitor__another_deleted 20 told '.object == "fabric" and .event == "deleted" and .fabric.key == 4'
is monitor__deleted_is_the_last_word "$(last_words)" '"deleted"'

torcollctl netns down
fails netns_up__impossible 2 'fabric add' torcollctl netns up 2x2 ethertype 0x800
check netns_up__impossible_leaves_nothing test -z "$(find /run/netns -name 'tor-*')"
torus_up 2x2 cables 2 key 0
check netns_show__all_links_up jq -e 'all(.fabric.ports_up == 4)' <(torcollctl -j netns show)
check perf__counts_frames_of_fabric_0 perf_counts
finish
