#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# takes: 150
#
# The network device of a fabric, as a device: how it is made, shown, changed, moved between namespaces and removed,
# and what it learns of hosts behind others. What crosses it is in tor0.sh.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

# link_is NODE FILTER: of its device, as ip shows it.
link_is()
{
	node "$1" ip -j -d link show tor0 | jq -e ".[0] | $2"
}

# gone NODE: it has no such device.
gone()
{
	! node "$1" ip link show tor0
}

# mac NODE: as the wire format says.
mac()
{
	local tag

	tag=$(node 0 torcollctl -j fabric show | jq -r '.[0].tag')
	printf '02:74:%02x:00:00:%02x' $((tag & 255)) "$1"
}

add()
{
	node "$1" ip link add tor0 type torcoll && node "$1" ip link set tor0 up &&
		node "$1" ip address add "10.7.0.$(($1 + 1))/24" dev tor0
}

reaches()
{
	node "$1" ping -q -n -c 1 -W 5 "${@:3}" "10.7.0.$(($2 + 1))"
}

# mtus_are MTU: of all devices.
mtus_are()
{
	local n

	for n in 0 1 2 3; do
		link_is "$n" ".mtu == $1" || return
	done
}

# stat NODE NAME: of ethtool -S.
stat()
{
	node "$1" ethtool -S tor0 | awk -v name="$2:" '$1 == name { print $2 }'
}

# offloads_on NAME...: of node 0's device.
offloads_on()
{
	local name

	for name; do
		node 0 ethtool -k tor0 | grep -q "^$name: on" || return
	done
}

# A namespace beside the torus, as of a container.
box()
{
	ip netns add "$1"
	cleanup ip netns delete "$1"
}

# behind NODE BOX: a bridge on the device, and behind it a host in a namespace, 10.7.0.100.
behind()
{
	node "$1" ip link add br0 type bridge forward_delay 0
	node "$1" ip link add veth0 address 06:00:00:00:00:64 type veth peer name eth0 address 06:00:00:00:00:63
	node "$1" ip link set eth0 netns "$2"
	node "$1" ip link set veth0 master br0 up
	node "$1" ip link set tor0 master br0
	node "$1" ip link set br0 up
	ip -n "$2" address add 10.7.0.100/24 dev eth0
	ip -n "$2" link set eth0 up
}

# Before it is moved to another node: what the bridge had is left.
not_behind()
{
	ip -n "$2" link delete eth0
	node "$1" ip link delete br0
}

# knows NODE: the device knows where the host behind the bridge is.
knows()
{
	node "$1" bridge fdb show dev tor0 | grep -q '^06:00:00:00:00:63 .*self'
}

# Known hosts are not sent to all: the second time only its node hears of it.
sent_to_one()
{
	local before

	before=$(stat 3 tx_unknown_address)
	ip netns exec "$1" ping -q -n -c 3 -i 0.2 -W 5 10.7.0.4
	(($(stat 3 tx_unknown_address) == before))
}

# A frame by node 1's device with the address of node 2 as its source.
lie()
{
	node 1 ip link set tor0 promisc on
	node 1 ip link add liar link tor0 address "$(mac 2)" type macvlan mode private
	node 1 ip link set liar up
	node 1 ip address add 10.9.0.2/24 dev liar
	node 1 ping -q -n -c 1 -W 1 10.9.0.1
	node 1 ip link delete liar
	node 1 ip link set tor0 promisc off
	(($(stat 3 rx_wrong_source) > 0))
}

# The kernel's messages, which may come with any lock held, are not sent by it.
console_is_refused()
{
	# shellcheck disable=SC2016 # expanded there
	nsenter --net=/run/netns/tor-0 bash -c 'cd "$1" && echo tor0 >dev_name && echo 10.7.0.1 >local_ip && echo 10.7.0.2 >remote_ip &&
		echo "$2" >remote_mac && ! echo 1 >enabled' - "$consoles/torcoll" "$(mac 1)" &&
		dmesg | grep "tor0 doesn't support polling"
}

many_times()
{
	local i

	for ((i = 0; i < 20; i++)); do
		node 0 ip link delete tor0 && add 0 || return
	done
}

# Fabric 3 of nodes 0 and 1, whose ports are VLANs of their cable: these do not carry super frames.
ring_of_vlans()
{
	vlan_port 0 d0p plus && vlan_port 1 d0m minus && add 0 && add 1 &&
		wait_for 20 link_is 0 '.flags | index("LOWER_UP")' &&
		wait_for 20 link_is 1 '.flags | index("LOWER_UP")'
}

# vlan_port NODE DEVICE DIRECTION
vlan_port()
{
	node "$1" ip link add link "$2" name top type vlan id 5 && node "$1" ip link set top up &&
		node "$1" torcollctl fabric add 3 dims 2 node "$1" &&
		node "$1" torcollctl port add 3 dim 0 dir "$3" dev top
}

listens()
{
	node "$1" ss -Hltn | grep -q ":7777 "
}

# sent NODE: packets that its VLAN has sent.
sent()
{
	node "$1" ip -s -j link show top | jq '.[0].stats64.tx.packets'
}

# 4 MB by TCP from node 0 to node 1, unchanged, each frame of them no longer than a cable takes.
cut_to_segments()
{
	local server before

	head -c 4000000 /dev/urandom >"$work/file"
	before=$(sent 0)
	# an input that does not end: at its end nc would close the connection
	mkfifo "$work/silence"
	torcollctl netns exec 1 busybox nc -l -p 7777 >"$work/came" <>"$work/silence" &
	server=$!
	wait_for 20 listens 1 && node 0 busybox nc -w 10 10.7.0.2 7777 <"$work/file"
	wait "$server"
	cmp "$work/file" "$work/came" && (($(sent 0) - before >= 4000000 / 9000))
}

# Forty datagrams to a group in one call, which leave as one packet for the network device (UDP_SEGMENT).
group_take='
import socket, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
    s.bind(("", 7779))
    s.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton("239.7.7.7") + socket.inet_aton("10.7.0.2"))
    s.settimeout(10)
    print("ready", flush=True)
    got = set()
    try:
        while len(got) < 40:
            got.add(s.recv(2000)[:2])
    except TimeoutError:
        pass
print(len(got), flush=True)
'
group_give='
import socket
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
    s.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("10.7.0.1"))
    s.setsockopt(socket.IPPROTO_UDP, 103, 1000)
    s.sendto(b"".join(i.to_bytes(2, "big") * 500 for i in range(40)), ("239.7.7.7", 7779))
'
group_is_cut()
{
	local taker

	torcollctl netns exec 1 python3 -c "$group_take" >"$work/group" &
	taker=$!
	wait_for 30 grep -q ready "$work/group" && node 0 python3 -c "$group_give"
	wait "$taker"
	[[ $(tail -n 1 "$work/group") == 40 ]]
}

# What leaves the VLAN of node 0, and what comes there: a real device would have to send it as it is.
capture_below()
{
	torcollctl netns exec 0 tcpdump -Z root -n -i d0p -s 0 --immediate-mode -w "$work/below.pcap" "vlan 5" \
		2>"$work/below.err" &
	capture=$!
	wait_for 20 grep -q 'listening on' "$work/below.err"
}

# sums_right PROTOCOL: of all that was captured of it, and of some hundred bytes at least.
sums_right()
{
	tshark -X "lua_script:$TORCOLL_TOP/tools/wireshark/torcoll.lua" -r "$work/below.pcap" -o "$1.check_checksum:TRUE" \
		-Y "torcoll && $1 && frame.len > 300" -T fields -e "$1.checksum.status" 2>/dev/null | sort | uniq -c >"$work/sums"
	cat "$work/sums"
	# Good is 1
	awk '$2 == 1 { good = $1 } END { exit !(NR == 1 && good >= 20) }' "$work/sums"
}

work=$(mktemp -d)
cleanup rm -rf "$work"
module_load || bail "the module does not load"
box netdev-empty
fails add__without_a_fabric any "no fabric in this namespace" ip -n netdev-empty link add tor0 type torcoll

torus_up 2x2 mtu 9000
stamps_up || bail "no times of packets"
fails add__with_an_address any "follows from the node's number" \
	node 0 ip link add tor0 address 02:00:00:00:00:01 type torcoll
fails add__with_too_few_queues any "a transmit queue for each direction" \
	node 0 ip link add tor0 numtxqueues 1 type torcoll
fails add__with_too_large_an_mtu any "" node 0 ip link add tor0 mtu 65500 type torcoll
for n in 0 1 2 3; do
	check "add__on_$n" add $n
done
fails add__a_second_one any "has a network device already" node 0 ip link add tor1 type torcoll
check fabric__a_second_one node 0 torcollctl fabric add 2 dims 2 node 0
fails add__which_fabric any "several fabrics" node 0 ip link add tor1 type torcoll
check fabric__second_one_is_gone node 0 torcollctl fabric del 2

check address__of_the_node link_is 3 ".address == \"$(mac 3)\""
check address__permanent link_is 3 ".permaddr == null and .link_type == \"ether\""
fails address__cannot_be_changed any "" node 3 ip link set tor0 address 02:00:00:00:00:01
check kind__shown link_is 0 '.linkinfo.info_kind == "torcoll"'
eventually carrier__with_the_first_port 20 link_is 0 '.flags | index("LOWER_UP")'
is queues__one_per_port "$(node 0 tc qdisc show dev tor0 | grep -c 'parent :')" 4
check features offloads_on scatter-gather tx-checksumming tcp-segmentation-offload generic-receive-offload
check driver eval 'node 3 ethtool -i tor0 | grep -q "^driver: torcoll" && node 3 ethtool -i tor0 | grep -q "node 3 of 4"'
consoles=/sys/kernel/config/netconsole
modprobe netconsole 2>/dev/null && { mountpoint -q /sys/kernel/config || mount -t configfs configfs /sys/kernel/config; }
if mkdir "$consoles/torcoll"; then
	check netconsole__is_refused console_is_refused
	rmdir "$consoles/torcoll"
else
	skip netconsole__is_refused "this kernel has none"
fi
check ping__neighbour reaches 0 1
check ping__two_hops reaches 0 3

# torcoll's header has 64 bytes, the MAC header 14, a VLAN tag 4.
eventually mtu__of_the_frames 20 mtus_are $((9000 - 82))
fails mtu__too_large any "" node 0 ip link set tor0 mtu $((9000 - 81))
check mtu__full_packets reaches 0 3 -M "do" -s $((9000 - 82 - 28))
node 2 ip link set tor0 mtu 4000
node 1 ip link set d0m mtu 3000
eventually mtu__follows_a_smaller_port 20 mtus_are $((3000 - 82))
check mtu__full_packets_then reaches 0 3 -M "do" -s $((3000 - 82 - 28))
node 1 ip link set d0m mtu 9000
eventually mtu__follows_a_larger_one 30 link_is 3 ".mtu == $((9000 - 82))"
eventually mtu__that_was_asked_for_comes_back 20 link_is 2 '.mtu == 4000'

for port in d0p d1p; do
	node 0 ip link set $port down
done
eventually carrier__without_a_port 20 link_is 0 '.flags | index("LOWER_UP") | not'
fails ping__without_a_port any "" reaches 0 1
for port in d0p d1p; do
	node 0 ip link set $port up
done
eventually carrier__is_back 20 link_is 0 '.flags | index("LOWER_UP")'
eventually ping__is_back 20 reaches 0 1

fails port__on_it_is_refused any "fabric's own" eval 'node 0 torcollctl fabric add 2 dims 2 node 0 &&
	node 0 torcollctl port add 2 dim 0 dir plus dev tor0'
node 0 torcollctl fabric del 2
node 0 torcollctl -j discover >"$work/found"
check discover__takes_it_for_no_cable jq -e '(.hosts | length) > 0 and ([.. | strings] | index("tor0") == null)' "$work/found"

box netdev-box
check bridge__host_behind_it behind 0 netdev-box
check bridge__ping ip netns exec netdev-box ping -q -n -c 2 -W 5 10.7.0.4
check bridge__host_is_known knows 3
check bridge__then_packets_go_to_one sent_to_one netdev-box
not_behind 0 netdev-box
check bridge__host_moves behind 2 netdev-box
check bridge__ping_after_the_move ip netns exec netdev-box ping -q -n -c 2 -W 5 10.7.0.4
check bridge__ping_to_it node 3 ping -q -n -c 2 -W 5 10.7.0.100
not_behind 2 netdev-box
check source__of_another_node_is_refused lie

box netdev-moved
check netns__move node 1 ip link set tor0 netns netdev-moved
ip -n netdev-moved link set tor0 up
ip -n netdev-moved address add 10.7.0.2/24 dev tor0
check netns__ping_from_there ip netns exec netdev-moved ping -q -n -c 2 -W 5 10.7.0.4
check netns__ping_to_it reaches 3 1
fails netns__still_the_fabrics any "has a network device already, maybe in another network namespace" node 1 ip link add tor1 type torcoll
check netns__goes_with_it ip netns delete netdev-moved
eventually netns__another_one_then 20 add 1
box netdev-moved
check netns__move_again node 1 ip link set tor0 netns netdev-moved
check fabric__is_deleted node 1 torcollctl fabric del 1
fails fabric__takes_the_device_along any "does not exist" ip -n netdev-moved link show tor0

node 0 torcollctl fabric del 1
check segments__fabric_on_vlans ring_of_vlans
capture_below || bail "nothing captures"
check segments__tcp cut_to_segments
check segments__to_a_group group_is_cut
kill "$capture"
wait "$capture"
check segments__tcp_sums_are_right sums_right tcp
check segments__udp_sums_are_right sums_right udp
for n in 0 1; do
	check "segments__fabric_gone_on_$n" node $n torcollctl fabric del 3
done
torus_down
torus_up 2x2
for n in 0 2 3; do
	add $n
done

check removal__many_times many_times
check removal__ping_after_it reaches 0 2
check removal__by_ip node 0 ip link delete tor0
check removal__gone gone 0
check relay__without_a_device reaches 2 3
check module__unloads_with_devices eval 'rmmod torcoll && gone 2 && gone 3'
finish
