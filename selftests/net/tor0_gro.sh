#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# The network device where drivers poll their devices (GRO): packets are merged at their destination and nowhere before,
# what arrives is what was sent, and cables count the frames that crossed them.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

nodes=4
work=$(mktemp -d)
cleanup rm -rf "$work"

# cables FEATURE...: of all ports.
cables()
{
	local n dev

	for ((n = 0; n < nodes; n++)); do
		for dev in d0p d0m; do
			node "$n" ethtool -K "$dev" "$@" || return
		done
	done
}

# copy 4|6: a file from node 0 to node 2, which two ways lead to.
copy()
{
	local server

	rm -f "$work/there"
	torcollctl netns exec 2 python3 -c "$take" "$work/there" &
	server=$!
	wait_for 60 listens 2 7000
	node 0 python3 -c "$give" "$(address 2 "$1")" "$work/here" || kill "$server"
	wait "$server" && same
}

take='
import socket, sys
with socket.create_server(("", 7000), family=socket.AF_INET6, dualstack_ipv6=True) as s, open(sys.argv[1], "wb") as f:
    f.writelines(iter(lambda c=s.accept()[0]: c.recv(65536), b""))
'
give='
import socket, sys
with socket.create_connection((sys.argv[1], 7000)) as s, open(sys.argv[2], "rb") as f:
    s.sendfile(f)
'

same()
{
	cmp "$work/here" "$work/there"
}

# watch NODE...: capture what comes in there that is longer than a cable's MTU.
watch()
{
	local n dev

	captures=()
	for n; do
		for dev in d0p d0m; do
			torcollctl netns exec "$n" tcpdump -Z root -n -Q in -i "$dev" -s 128 --immediate-mode -w "$work/$n.$dev.pcap" \
				'len > 2000' >"$work/$n.$dev.err" 2>&1 &
			captures+=($!)
		done
	done
	for n; do
		for dev in d0p d0m; do
			wait_for 20 grep -q 'listening on' "$work/$n.$dev.err" || return
		done
	done
}

end_watch()
{
	kill "${captures[@]}"
	wait "${captures[@]}"
}

# long NODE: how many frames were captured there.
long()
{
	local dev

	for dev in d0p d0m; do
		tcpdump -Z root -n -r "$work/$1.$dev.pcap" 2>/dev/null
	done | wc -l
}

# What is lost is known after a window or two of frames.
lost()
{
	copy 4 >/dev/null || return
	wait_for 20 hellos_pass
	torcollctl netns run -n "$nodes" --no-prefix torcollctl -j port show | jq -n '[inputs[].lost] | add'
}

# What the kernel has dropped between two devices counts as lost, since it was: where a receiver is kept waiting, their queues
# overflow. Frames that were merged, or are cut, do not.
lost_what_was_dropped()
{
	local lost dropped

	lost=$(lost) || return
	dropped=$(torcollctl netns run -n "$nodes" --no-prefix ip -s -j link show type veth |
		jq -n '[inputs[].stats64 | .tx.dropped + .rx.dropped] | add')
	echo "$lost lost, $dropped dropped"
	((lost <= dropped))
}

hellos_pass()
{
	local now

	now=$(node 2 torcollctl -j port show | jq '[.[].rx_frames] | add')
	hellos=${hellos:-$now}
	((now >= hellos + 10))
}

damaged()
{
	torcollctl netns run -n "$nodes" --no-prefix torcollctl -j port show | jq -n '[inputs[].damaged] | add'
}

bytes=$((TORCOLL_SLOW > 1 ? 256 << 10 : 8 << 20))
head -c $bytes /dev/urandom >"$work/here"
torus_up $nodes mtu 1500 "${patient[@]}"
stamps_up || bail "no times of packets"
# Packets that are lists are cut by the kernel before they come: their members have no room for headers of ours.
takes_no_lists()
{
	[[ $(node 0 ethtool -k tor0) == *"tx-gso-list: off [fixed]"* ]]
}

# Nor bundles of SCTP, which are lists as well.
takes_no_bundles()
{
	[[ $(node 0 ethtool -k tor0) == *"tx-sctp-segmentation: off [fixed]"* ]]
}

# A queue of the kernel's for each is memory.
has_queues_by_link()
{
	[[ $(node 0 ip -d -j link show tor0 | jq '.[0].num_tx_queues') == 12 ]]
}

check device__on_all_nodes ip_up $nodes || bail "no network device"
check device__takes_no_lists takes_no_lists
check device__takes_no_bundles takes_no_bundles
check device__has_queues_by_link has_queues_by_link
check cables__polled_and_with_frames_of_the_mtu on_one_cpu cables tso off gro on

on_one_cpu watch 1 2 3 || bail "no captures"
check tcp__arrives_as_sent copy 4
check tcp__arrives_as_sent_by_ipv6 copy 6
check tcp__streams_do_not_mix iperf 0 2 "$work/streams" -n "$(up_to 4M)" -P 4
end_watch
diag "$(long 2) frames longer than the MTU at the destination"
check destination__merges test "$(long 2)" -gt 0
is relay__does_not "$(long 1) $(long 3)" "0 0"
check cables__lost_nothing lost_what_was_dropped

check cables__with_super_frames cables tso on
check tcp__arrives_as_super_frames copy 4
check cables__lost_nothing_of_super_frames lost_what_was_dropped
check cables__with_frames_again cables tso off

# in the headers: netem flips bits of what is linear
check damage__by_netem node 1 tc qdisc add dev d0p root netem corrupt 5%
node 3 tc qdisc add dev d0m root netem corrupt 5%
check damage__tcp_arrives_as_sent copy 4
check damage__was_seen test "$(damaged)" -gt 0
finish
