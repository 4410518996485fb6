#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# takes: 140
#
# Addresses on the network device: set by command and by the file of a fabric, found without a frame on the cables, seen on
# the way by traceroute, gone when switched off.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header
work=$(mktemp -d)
cleanup rm -rf "$work"
nodes=16

# all COMMAND...: on every node.
all()
{
	torcollctl netns run -n "$nodes" --no-prefix "$@"
}

# ip_json N: the network device of node N.
ip_json()
{
	node "$1" torcollctl -j fabric 1 ip show
}

# entry N ADDRESS: the MAC address that node N has for it.
entry()
{
	node "$1" ip -j neigh show "$2" dev tor0 | jq -r '.[0].lladdr // "none"'
}

# The MAC address and the link-local address of a node.
mac()
{
	ip_json "$1" | jq -r '.[0].mac'
}

link_local()
{
	node "$1" ip -6 -j address show dev tor0 | jq -r '[.[].addr_info[] | select(.scope == "link")][0].local'
}

# sent: group frames that all nodes together have sent.
sent()
{
	torcollctl netns run -n "$nodes" --no-prefix ethtool -S tor0 | awk '/tx_group:/ { n += $2 } END { print n + 0 }'
}

# answered N: requests that the device of node N has answered by itself.
answered()
{
	node "$1" ethtool -S tor0 | awk '/tx_answered_here/ { print $2 }'
}

pings()
{
	node "$1" ping -q -c 1 -W 10 "${@:2}"
}

# settled: no node has sent a group frame for a second: what IPv6 says of a new address is over.
settled()
{
	local before

	before=$(sent)
	sleep 1
	[[ $(sent) == "$before" ]]
}

on()
{
	all torcollctl fabric 1 ip on name tor0 prefix 10.7.0.0/24 prefix6 fd00:7::/64
}

up_everywhere()
{
	all torcollctl -j fabric show | jq -se 'map(.[].reached) | all(. == '"$nodes"')'
}

# hops N ADDRESS: who answers to packets of 1, 2, 3, ... hops, until the address itself does.
hops()
{
	local ttl from list=""

	for ttl in 1 2 3 4 5 6 7 8; do
		from=$(node "$1" ping -n -c 1 -W 10 -t "$ttl" "$2" |
			sed -nE 's/^(From|[0-9]+ bytes from) ([0-9a-f.:]*[0-9a-f]).*/\2/p' | head -n 1)
		list+=${list:+ }${from:-nobody}
		[[ $from != "$2" ]] || break
	done
	echo "$list"
}

# asks_nobody COMMAND...: it succeeds, and no node has sent a group frame meanwhile.
asks_nobody()
{
	local before

	before=$(sent)
	"$@" || return
	echo "$(($(sent) - before)) group frames"
	[[ $(sent) == "$before" ]]
}

# all_from N ADDRESS...: N reaches each of them.
all_from()
{
	local to

	for to in "${@:2}"; do
		pings "$1" "$to" || return
	done
}

has_failed()
{
	node "$1" ip -6 -j address show dev tor0 | jq -e --arg a "$2" 'any(.[].addr_info[]; .local == $a and .dadfailed)'
}

# The temporary address of a node in a prefix, once it may be used.
temporary()
{
	node "$1" ip -6 -j address show dev tor0 |
		jq -er --arg p "$2" '[.[].addr_info[] | select(.temporary and (.tentative | not) and (.local | startswith($p)))][0].local // empty'
}

unreachable()
{
	[[ $(node "$1" ping -n -c 1 -W 5 "$2") == *"Destination Host Unreachable"* ]]
}

links_of_15()
{
	local dev

	for dev in d0p d0m d1p d1m; do
		node 15 ip link set "$dev" "$1" || return
	done
}

reached_by_0()
{
	[[ $(node 0 torcollctl -j fabric show | jq '.[0].reached') == "$1" ]]
}

# conf [LINE]...: the file of the fabric as it runs, with these lines in [fabric].
conf()
{
	node 0 torcollctl showconf | awk '/^$/ { exit } !/^ip/'
	printf '%s\n' "$@"
	for ((n = 0; n < nodes; n++)); do
		node "$n" torcollctl showconf as "n$n" | awk '/^\[node/ { on = 1; print "" } /^$/ { on = 0 } on'
	done
}

apply_all()
{
	local n

	for ((n = 0; n < nodes; n++)); do
		node "$n" torcollctl apply "$work/lab.conf" as "n$n" "$@" || return
	done
}

changes_of_all()
{
	apply_all --json | jq -rs '"\(map(.changes) | add) on \(length)"'
}

# resolves NAME: its address, as any program finds it.
resolves()
{
	node 3 getent ahostsv4 "$1" | awk 'NR == 1 { print $1 }'
}

torus_up 4x4 "${patient[@]}"
stamps_up || bail "no times of packets"
eventually torus__reaches_all 30 up_everywhere
fails on__ipv6_is_off 2 'disable_ipv6=0' node 15 torcollctl fabric 1 ip on prefix 10.7.0.0/24 prefix6 fd00:7::/64
check off__again_by_command node 15 torcollctl fabric 1 ip off
# routers are looked for again and again, by frames to all that are no part of the counts below
all bash -c 'cd /proc/sys/net/ipv6/conf/default && echo 0 >disable_ipv6 && echo 0 >router_solicitations'

# ---- by command ----

fails on__no_fabric 2 'no fabric' node 0 torcollctl fabric 9 ip on
fails on__not_that_many_nodes 2 'an address for each node' node 0 torcollctl fabric 1 ip on prefix 10.7.0.0/28
is on__nothing_is_left_of_that "$(ip_json 0)" "[]"
check on__by_command on
is on__node_0_has_the_first_address "$(ip_json 0 | jq -r '.[0].address')" 10.7.0.1
is on__node_15_has_the_sixteenth "$(ip_json 15 | jq -r '.[0] | .address + " " + .address6')" "10.7.0.16 fd00:7::10"
check on__again on
is on__again_one_address "$(node 5 ip -j address show dev tor0 | jq -c '[.[0].addr_info[] | select(.scope == "global") | .local]')" \
	'["10.7.0.6","fd00:7::6"]'
fails on__refused_prefix 2 'an address for each node' node 0 torcollctl fabric 1 ip on prefix 10.9.0.0/28
is on__refused_prefix_takes_nothing "$(ip_json 0 | jq -r '.[0] | .address + " " + .address6')" "10.7.0.1 fd00:7::1"
check on__name_of_another_device node 0 ip link add taken type veth peer name taken2
fails on__name_is_taken 2 'exists' node 0 torcollctl fabric 1 ip on name taken prefix 10.7.0.0/24 prefix6 fd00:7::/64
is on__name_is_taken_stays_up "$(ip_json 0 | jq -c '.[0] | [.ifname, .up, .address6]')" '["tor0",true,"fd00:7::1"]'
check on__name_is_free_again node 0 ip link del taken
fails show__text 0 'prefix 10\.7\.0\.0/24, here 10\.7\.0\.6$' node 5 torcollctl fabric 1 ip

# ---- nobody is asked for what follows from a number ----

eventually quiet__nothing_is_said 60 settled
check ipv4__without_a_frame_to_all asks_nobody all_from 0 10.7.0.{2..16}
is ipv4__right_address "$(entry 0 10.7.0.16)" "$(mac 15)"
check ipv6__without_a_frame_to_all asks_nobody all_from 0 fd00:7::{2,9,a,f,10}
is ipv6__right_address "$(entry 0 fd00:7::10)" "$(mac 15)"
check link_local__without_a_frame_to_all asks_nobody pings 0 "$(link_local 10)%tor0"
# all but the last, which that node is asked for itself
check answered__by_the_device test "$(answered 0)" -ge 20
check node_0__is_reached pings 15 10.7.0.1

# ---- and others are, for what does not ----

before=$(sent)
check foreign__is_added node 9 ip address add 10.7.0.200/24 dev tor0
check foreign__is_reached pings 2 10.7.0.200
check foreign__by_frames_to_all test "$(sent)" -gt "$before"
check temporary__is_asked_for node 6 bash -c 'echo 2 >/proc/sys/net/ipv6/conf/tor0/use_tempaddr &&
	ip address add fd00:8::6/64 dev tor0 mngtmpaddr'
check temporary__peer node 12 ip address add fd00:8::c/64 dev tor0 nodad
eventually temporary__may_be_used 30 temporary 6 fd00:8::
check temporary__is_reached pings 12 "$(temporary 6 fd00:8::)"
check double__is_added node 3 ip address add fd00:7::6/64 dev tor0
eventually double__is_noticed 30 has_failed 3 fd00:7::6

# ---- the way ----

is hops__neighbour "$(hops 0 10.7.0.2)" 10.7.0.2
is hops__ipv4 "$(hops 0 10.7.0.3 | wc -w)" 2
is hops__ipv4_diagonal "$(hops 0 10.7.0.11 | awk '{ print NF, $NF }')" "4 10.7.0.11"
check hops__all_answer eval '! hops 0 10.7.0.11 | grep nobody'
is hops__ipv6_diagonal "$(hops 0 fd00:7::b | awk '{ print NF, $NF }')" "4 fd00:7::b"
check hops__ipv6_all_answer eval '! hops 0 fd00:7::b | grep nobody'

# ---- a node that is cut off ----

check cut__off links_of_15 down
eventually cut__is_known 60 reached_by_0 15
check cut__forgets node 0 ip neigh flush dev tor0
eventually cut__is_unreachable 30 unreachable 0 10.7.0.16
check cut__mended links_of_15 up
eventually cut__is_reached_again 60 pings 0 10.7.0.16

# ---- off, and by the file of the fabric ----

check off__by_command all torcollctl fabric 1 ip off
is off__no_device "$(all ip -o link show type torcoll | wc -l)" 0
check off__again all torcollctl fabric 1 ip off
conf "ip = 10.7.1.0/24" "ip6 = fd00:7::100/64" "ip-device = lab" "hosts = /etc/hosts" "host-suffix = -tor" >"$work/lab.conf"
is dry_run__one_command "$(node 7 torcollctl apply "$work/lab.conf" as n7 --dry-run | head -n 1)" \
	"torcollctl fabric 1 ip on name lab prefix 10.7.1.0/24 prefix6 fd00:7::100/64"
cp /etc/hosts "$work/hosts"
check apply__on_all apply_all
is apply__again_nothing "$(changes_of_all)" "0 on $nodes"
is apply__address6 "$(ip_json 4 | jq -r '.[0].address6')" fd00:7::104
check apply__reached pings 4 10.7.1.14
is hosts__name "$(resolves n9-tor)" 10.7.1.10
check hosts__by_name pings 3 n9-tor
is hosts__as_printed "$(torcollctl hosts "$work/lab.conf" | grep -c -- -tor)" 32
check showconf__ip eval "node 4 torcollctl showconf | grep -qx 'ip6 = fd00:7::100/64'"
check showconf__device eval "node 4 torcollctl showconf | grep -qx 'ip-device = lab'"
check other__service_address node 6 ip address add 10.7.1.200/24 dev lab
sed -i 's/^ip = .*/ip = 10.7.2.0\/24/; s/^ip-device = .*/ip-device = tor0/' "$work/lab.conf"
check other__prefix_and_name apply_all
is other__again_nothing "$(changes_of_all)" "0 on $nodes"
is other__former_address_is_gone "$(node 4 ip -j address show dev tor0 | jq -c '[.[0].addr_info[] | select(.scope == "global") | .local]')" \
	'["10.7.2.5","fd00:7::104"]'
is other__service_address_stays "$(node 6 ip -j address show dev tor0 |
	jq -c '[.[0].addr_info[] | select(.family == "inet") | .local] | sort')" '["10.7.1.200","10.7.2.7"]'
check other__reached pings 4 10.7.2.14
is other__name "$(resolves n9-tor)" 10.7.2.10

sed -i '/^ip\|^host/d' "$work/lab.conf"
is silent__leaves_the_device "$(changes_of_all), $(ip_json 4 | jq -r '.[0].address')" "0 on $nodes, 10.7.2.5"

# ---- in another network namespace ----

ip netns add addresses-box
cleanup ip netns delete addresses-box
check elsewhere__moved node 8 ip link set tor0 netns addresses-box
fails elsewhere__show 0 'no network device in this network namespace' node 8 torcollctl fabric 1 ip show
fails elsewhere__on 2 'maybe in another network namespace' node 8 torcollctl fabric 1 ip on
check elsewhere__fabric_of_that_key ip netns exec addresses-box torcollctl fabric add 1 dims 2 node 0
is elsewhere__is_not_taken_for_its_own "$(ip netns exec addresses-box torcollctl -j fabric 1 ip show)" "[]"
check elsewhere__is_not_deleted_by_it eval 'ip netns exec addresses-box torcollctl fabric 1 ip off &&
	ip -n addresses-box link show tor0'
check elsewhere__moved_back ip -n addresses-box link set tor0 netns tor-8
is elsewhere__is_found_again "$(ip_json 8 | jq -r '.[0].ifname')" tor0

# ---- the end ----

check remove__names torcollctl hosts <(conf "ip = 10.7.2.0/24") remove /etc/hosts
is remove__nothing_is_left_of_them "$(diff /etc/hosts "$work/hosts")" ""
check remove__fabric node 4 torcollctl apply "$work/lab.conf" as n4 remove
is remove__device_goes_with_it "$(node 4 ip -o link show type torcoll | wc -l)" 0
finish
