#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
# takes: 260
#
# IP over the torus, by the network device of a fabric: what people start between their hosts works, unchanged, from
# every host to every other.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

# mac NODE
mac()
{
	node "$1" ip -j link show tor0 | jq -r '.[0].address'
}

mtu()
{
	node "$1" ip -j link show tor0 | jq -r '.[0].mtu'
}

# With as much as fits, and with what IP cuts into fragments.
sizes()
{
	reaches 0 10 -M "do" -s $(($(mtu 0) - 28)) && reaches 0 10 -s 20000
}

# Every node answers to the group address of all nodes, the sender too.
group_answers()
{
	local own

	own=$(node 0 ip -6 -j address show dev tor0 scope link | jq -r '.[].addr_info[].local | strings')
	node 0 ping -6 -n -c 3 -W 5 ff02::1%tor0 | grep 'icmp_seq=1 ' | sed 's/.*from \([^ ]*\)%tor0:.*/\1/' |
		sort -u >"$work/answers"
	cat "$work/answers"
	(($(wc -l <"$work/answers") == 16)) && grep -qxF "$own" "$work/answers"
}

# What Docker does to a host: IP forwards nothing there.
forward_drops()
{
	torcollctl netns run -n 16 nft 'add table inet docker
		add chain inet docker forward { type filter hook forward priority 0; policy drop; }
		add rule inet docker forward counter'
}

# Packets that came there, on all nodes.
forwarded()
{
	torcollctl netns run -n 16 --no-prefix nft -j list table inet docker |
		jq -n '[inputs | .. | objects | .counter? | objects | .packets] | add'
}

# ---- iperf3 ----

# tcp NAME FROM TO [ARGUMENT]...
tcp()
{
	iperf "$2" "$3" "$work/$1" -n "$(up_to 32M)" "${@:4}" || return
	jq -r '"\(.end.sum_sent.bits_per_second / 1e6 | floor) Mbit/s, \(.end.sum_sent.retransmits) retransmitted"' \
		"$work/$1"
	# what is still in the buffers of sender and receiver when the client ends is not counted: 4 and 6 MB at most
	echo "$(iperf_received "$work/$1") bytes received"
	(($(iperf_received "$work/$1") >= $(up_to_bytes) / 2))
}

up_to_bytes()
{
	((TORCOLL_SLOW > 1)) && echo 16384 || echo $((32 << 20))
}

# A receiver that does not get to run in time loses some itself.
udp()
{
	iperf 5 12 "$work/udp" -u -b 2M -l 1000 -t 2 || return
	jq -e '.end.sum.packets > 100 and .end.sum.lost_packets == 0' "$work/udp" && return
	jq .end.sum "$work/udp"
	return 1
}

# The longest packet that the receiver of such a stream sees.
longest_seen()
{
	torcollctl netns exec 10 tcpdump -Z root -n -i tor0 -s 128 --immediate-mode -w "$work/stream.pcap" 'tcp and len > 200' 2>"$work/tcpdump.err" &
	capture=$!
	wait_for 20 grep -q 'listening on' "$work/tcpdump.err"
	tcp longest 0 10 >/dev/null
	kill "$capture"
	wait "$capture"
	tcpdump -Z root -n -r "$work/stream.pcap" 2>/dev/null | sed -n 's/.* length \([0-9]*\).*/\1/p' | sort -n | tail -n 1
}

# ---- ssh, files, MPI ----

ssh_up()
{
	local n

	dropbearkey -t ed25519 -f "$work/host" && ssh-keygen -q -t ed25519 -N '' -f "$work/key" || return
	mkdir -p ~/.ssh && chmod 700 ~/.ssh || return
	cat "$work/key.pub" >>~/.ssh/authorized_keys
	for n; do
		torcollctl netns exec "$n" unshare --uts bash -c "hostname node$n; exec dropbear -F -E -s -r $work/host -P $work/pid.$n" \
			>"$work/dropbear.$n" 2>&1 &
		echo $! >>"$work/started"
	done
	for n; do
		wait_for 20 listens "$n" 22 || return
	done
}

# The name of the host that answers there.
ssh_name()
{
	node 0 "${ssh[@]}" "root@$(address "$1")" hostname
}

# A file there, read and written here.
files()
{
	# shellcheck disable=SC2016 # expanded there: what is mounted is seen there alone
	node 0 bash -c 'sshfs "root@$1:$2/there" "$2/here" -o "ssh_command=$3" &&
		cmp "$2/here/file" "$2/there/file" && cp "$2/there/file" "$2/here/copy" &&
		umount "$2/here" && cmp "$2/there/file" "$2/there/copy"' - "$(address 10)" "$work" "${ssh[*]}"
}

# A program of Open MPI on four hosts that mpirun starts by ssh, all over tor0.
mpi()
{
	local before hosts="" n

	for n in 0 3 5 10; do
		hosts+=,$(address "$n"):1
	done
	before=$(statistic 10 rx.bytes)
	OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 node 0 unshare --uts bash -c \
		'hostname node0; exec "$@"' - mpirun.openmpi --host "${hosts#,}" -n 4 --bind-to none \
		--mca plm_rsh_agent "${ssh[*]}" --mca plm_rsh_no_tree_spawn 1 --mca pml ob1 --mca btl tcp,self \
		--mca btl_tcp_if_include tor0 --mca oob_tcp_if_include tor0 --mca mpi_yield_when_idle 1 \
		"$TORCOLL_TOP/build/bench/openmpi_allreduce" 0.1 8 65536 >"$work/mpi" || { cat "$work/mpi"; return 1; }
	cat "$work/mpi"
	# two sizes, without wrong elements
	[[ $(awk 'NF >= 4 && $4 == 0' "$work/mpi" | wc -l) == 2 ]] || return
	(($(statistic 10 rx.bytes) > before + 65536))
}

# ---- what configures addresses ----

dhcp()
{
	local client

	cat >"$work/udhcpd.conf" <<-END
		start 10.7.0.100
		end 10.7.0.110
		interface tor0
		pidfile $work/udhcpd.pid
		lease_file $work/leases
		option subnet 255.255.255.0
	END
	: >"$work/leases"
	cat >"$work/lease.sh" <<-END
		#!/bin/sh
		[ "\$1" != bound ] || echo "\$ip" >"$work/leased"
	END
	chmod +x "$work/lease.sh"
	torcollctl netns exec 0 busybox udhcpd -f "$work/udhcpd.conf" >"$work/udhcpd" 2>&1 &
	echo $! >>"$work/started"
	node 15 busybox udhcpc -i tor0 -f -q -n -t 10 -T 2 -s "$work/lease.sh" || return
	client=$(<"$work/leased")
	echo "leased: $client"
	[[ $client == 10.7.0.10[0-9] || $client == 10.7.0.110 ]] || return
	node 15 ip address add "$client/24" dev tor0 && node 3 ping -q -n -c 1 -W 5 "$client"
}

# An address made at random, of a prefix that is no node's: it is asked for by multicast, and answered by its owner.
temporary()
{
	local n address

	for n in 6 9; do
		node "$n" sysctl -qw net.ipv6.conf.tor0.use_tempaddr=2
		node "$n" ip address add "fd00:8::$((n + 1))/64" dev tor0 mngtmpaddr || return
	done
	if ! wait_for 20 has_temporary 6 || ! wait_for 20 has_temporary 9; then
		node 9 ip -6 address show dev tor0
		return 1
	fi
	address=$(has_temporary 9)
	echo "temporary: $address"
	node 6 ping -q -n -c 1 -W 5 -I "$(has_temporary 6)" "$address" || return
	# or all that these hosts say comes from them
	for n in 6 9; do
		node "$n" ip address delete "fd00:8::$((n + 1))/64" dev tor0
	done
}

has_temporary()
{
	node "$1" ip -6 -o address show dev tor0 temporary | grep -v tentative | sed 's/.*inet6 \([^/]*\).*/\1/' | grep .
}

# To all, that this host is a router for so many seconds. Without its MAC address, which is asked for then.
advertise='
import socket, struct, sys
with socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6) as s:
    s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, 255)
    s.sendto(struct.pack("!BBHBBHII", 134, 0, 0, 64, 0, int(sys.argv[1]), 0, 0), ("ff02::1", 0, 0, socket.if_nametoindex("tor0")))
'

# Who has learnt of a router asks it now and then whether it is one: if others answered, it would be none any more.
router()
{
	local asked i

	node 0 sysctl -qw net.ipv6.neigh.tor0.base_reachable_time_ms=1000 net.ipv6.neigh.tor0.delay_first_probe_time=1
	node 3 sysctl -qw net.ipv6.conf.tor0.forwarding=1
	node 3 ip address add fd00:9::1/128 dev lo
	node 3 python3 -c "$advertise" 3600
	wait_for 20 has_router 0 || return
	asked=$(solicitations 0)
	# a ping that goes on would itself tell that its packets arrive
	for ((i = 0; i < 20 || $(solicitations 0) < asked + 3; i++)); do
		((i < 60)) && node 0 ping -q -n -c 1 -W 5 fd00:9::1 && has_router 0 && sleep 0.5 || return
	done
}

no_router()
{
	node 3 python3 -c "$advertise" 0 && wait_for 20 eval '! has_router 0'
}

has_router()
{
	node "$1" ip -6 route show default | grep 'via fe80:.* dev tor0 '
}

solicitations()
{
	# shellcheck disable=SC2016 # awk's own
	node "$1" awk '$1 == "Icmp6OutNeighborSolicits" { print $2 }' /proc/net/snmp6
}

# ---- on top, and below ----

vlan()
{
	local n

	for n in 2 8; do
		node "$n" ip link add link tor0 name tor0.7 type vlan id 7 || return
		node "$n" ip address add "192.168.7.$n/24" dev tor0.7
		node "$n" ip link set tor0.7 up
	done
	node 2 ping -q -n -c 1 -W 5 -M "do" -s $(($(mtu 2) - 4 - 28)) 192.168.7.8 &&
		node 8 ping -q -n -c 1 -W 5 -s 20000 192.168.7.2 &&
		tcp vlan 2 8 -c 192.168.7.8
}

# box NODE: a namespace of its own, with an end of what the command makes in the node: a container.
box()
{
	ip netns add "box-$1"
	ip -n "box-$1" link set lo up
}

# A container with a MAC address of its own, by a macvlan, and one behind a bridge.
macvlan()
{
	box 4
	node 4 ip link add mac0 link tor0 type macvlan mode bridge &&
		node 4 ip link set mac0 netns box-4 || return
	ip -n box-4 address add 10.7.0.204/24 dev mac0
	ip -n box-4 link set mac0 up
	ip netns exec box-4 ping -q -n -c 2 -W 5 "$(address 13)" && node 7 ping -q -n -c 2 -W 5 10.7.0.204
}

bridge()
{
	box 11
	node 11 ip link add br0 type bridge forward_delay 0 &&
		node 11 ip link add veth0 type veth peer name eth0 netns box-11 &&
		node 11 ip link set veth0 mtu "$(mtu 11)" master br0 up && node 11 ip link set tor0 master br0 &&
		node 11 ip link set br0 mtu "$(mtu 11)" up || return
	ip -n box-11 address add 10.7.0.211/24 dev eth0
	ip -n box-11 link set eth0 mtu "$(mtu 11)" up
	ip netns exec box-11 ping -q -n -c 2 -W 5 "$(address 1)" &&
		node 14 ping -q -n -c 2 -W 5 -s 20000 10.7.0.211 &&
		ip netns exec box-11 ping -q -n -c 1 -W 5 10.7.0.204 &&
		node 11 ip link delete br0
}

# Smaller at one end while it is up, and back; more than the cables carry is refused.
mtu_changes()
{
	local whole

	whole=$(mtu 1)
	node 1 ip link set tor0 mtu 1280 && ! reaches 1 14 -M "do" -s 1300 && reaches 1 14 -s 4000 &&
		tcp mtu 1 14 && tcp mtu 14 1 && node 1 ip link set tor0 mtu "$whole" &&
		reaches 1 14 -M "do" -s $((whole - 28)) && ! node 1 ip link set tor0 mtu $((whole + 1))
}

# A port that takes less: the device of every node follows.
cable_shrinks()
{
	node 7 ip link set d1p mtu 3000
	wait_for 20 mtus_at_most 3000 || return
	reaches 0 10 -s 20000 && tcp shrunk 7 12
}

# And back, also on the node where another was set by hand for a while.
cable_grows()
{
	node 7 ip link set d1p mtu "$cable"
	wait_for 20 mtu_is 1 "$whole"
}

# A port of one node takes away the IPv6 of all: each says so.
too_small_for_ipv6()
{
	node 7 ip link set d1p mtu 1300
	wait_for 20 mtus_at_most 1280 && dmesg | grep "tor0: the MTU becomes 1218, .*: IPv6 takes 1280"
}

# mtu_is NODE MTU
mtu_is()
{
	(($(mtu "$1") == $2))
}

mtus_at_most()
{
	local n

	for n in 0 7 15; do
		(($(mtu "$n") < $1)) || return
	done
}

# A host without the device carries the others' packets.
silent_hosts()
{
	local n

	for n in 1 2 3 4 8 12; do
		node "$n" torcollctl fabric 1 ip off || return
	done
	reaches 0 10 && reaches 0 5 && ! node 0 ping -q -n -c 1 -W 2 10.7.0.5
}

# ---- views ----

# hops FROM TO [ARGUMENT]...: traceroute's addresses in turn, by node.
hops()
{
	node "$1" busybox traceroute"${3:-}" -n -w 5 -q 1 "$(address "$2" "${3:-4}")" 2>/dev/null |
		awk 'NR > 1 || $1 == 1 { print $2 }' | grep -v '[a-z]\{3\}' | while read -r hop; do
			if [[ $hop == "*" ]]; then
				echo nobody
			else
				echo $((0x$(by_node "$hop")))
			fi
		done | xargs
}

# The number of the node with that address, in hex: 10.7.0.0/24 and fd00:7::/64 begin with node 0 at 1.
by_node()
{
	case $1 in
	*:*)	printf '%x' $((0x${1##*:} - 1)) ;;
	*)	printf '%x' $((${1##*.} - 1)) ;;
	esac
}

# between A B on 4x4: how many cables a shortest way has.
between()
{
	local a=$1 b=$2 d x n=0

	for d in 1 4; do
		x=$(((a / d % 4 - b / d % 4 + 4) % 4))
		n=$((n + (x == 3 ? 1 : x)))
	done
	echo "$n"
}

# Each of the hosts is one cable further away, and the last is the destination.
traced()
{
	local way i=0 n

	way=$(hops 0 10 "$@")
	echo "from 0 to 10 by $way"
	for n in $way; do
		i=$((i + 1))
		[[ $n != nobody && $(between 0 "$n") == "$i" ]] || return
	done
	[[ $i == 4 && $n == 10 ]]
}

# Captures in the background, which end when echoes have been answered, and all was written.
capture_echoes()
{
	local captures=() dev

	for dev in tor0 d0p d0m d1p d1m; do
		torcollctl netns exec 0 tcpdump -Z root -n -U -i "$dev" --immediate-mode -w "$work/$dev.pcap" 2>"$work/$dev.err" &
		captures+=($!)
	done
	for dev in tor0 d0p d0m d1p d1m; do
		wait_for 20 grep -q 'listening on' "$work/$dev.err" || return
	done
	reaches 0 10 -c 3 -i 0.2
	wait_for 60 all_captured
	kill "${captures[@]}"
	wait "${captures[@]}"
}

all_captured()
{
	(($(plain_echoes 'echo reply') == 3)) && (($(dissected_echoes 8) == 3))
}

plain_echoes()
{
	tcpdump -Z root -n -e -r "$work/tor0.pcap" icmp 2>/dev/null | grep -c "ethertype IPv4.*$1"
}

# What the dissector sees in the frames on the cables.
dissected_echoes()
{
	local dev

	for dev in d0p d0m d1p d1m; do
		tshark -X "lua_script:$TORCOLL_TOP/tools/wireshark/torcoll.lua" -r "$work/$dev.pcap" \
			-Y "torcoll && icmp.type == $1" 2>/dev/null
	done | wc -l
}

# statistic NODE NAME, of ip -s link
statistic()
{
	node "$1" ip -s -j link show tor0 | jq -r ".[0].stats64.$2"
}

counts()
{
	local tx rx

	tx=$(statistic 0 tx.packets) rx=$(statistic 0 rx.packets)
	reaches 0 10 -c 5 -i 0.2 || return
	(($(statistic 0 tx.packets) >= tx + 5 && $(statistic 0 rx.packets) >= rx + 5 && $(statistic 0 tx.errors) == 0))
}

ethtool_counts()
{
	node 0 ethtool -i tor0 | grep -qx 'driver: torcoll' || return
	node 0 ethtool -S tor0 >"$work/ethtool"
	cat "$work/ethtool"
	grep -q ': [1-9]' "$work/ethtool"
}

# What checks have started: a check's shell is over when it returns, and what that would clean up is not done.
end_started()
{
	xargs -r kill <"$work/started"
}

work=$(mktemp -d)
cleanup rm -rf "$work"
: >"$work/started"
cleanup end_started
chmod 755 "$work"
mkdir "$work/here" "$work/there"
head -c 1048576 /dev/urandom >"$work/there/file"
ssh=(ssh -i "$work/key" -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o BatchMode=yes)
torus_up 4x4 "${patient[@]}"
stamps_up || bail "no times of packets"
check device__on_all_nodes ip_up 16 || bail "no network device"
tag=$(node 0 torcollctl -j fabric show | jq '.[0].tag')
is device__mac_says_the_node "$(mac 11)" "$(printf '02:74:%02x:00:00:0b' $((tag & 255)))"
nftables=$(modprobe nf_tables 2>/dev/null; grep -c '^nf_tables ' /proc/modules)
if ((nftables)); then
	check container__forwarding_dropped_on_all_hosts on_one_cpu forward_drops
else
	skip container__forwarding_dropped_on_all_hosts "this kernel has no nftables"
fi
check ping__every_pair pairs_ping 4
check ping__every_pair_by_ipv6 pairs_ping 6
check ping__of_all_sizes sizes
check ping__group_of_all_nodes one_of 3 group_answers

check iperf3__one_hop tcp one 0 1
check iperf3__four_hops tcp four 0 10
check iperf3__back tcp back 0 10 -R
check iperf3__four_streams one_of 3 tcp streams 3 9 -P 4
check iperf3__by_ipv6 tcp six 6 12 -6 -c "$(address 12 6)"
check iperf3__udp_loses_nothing one_of 5 udp
longest=$(longest_seen)
check tcp__large_packets_at_the_end test "${longest:-0}" -gt "$(mtu 10)"

check ssh__servers ssh_up 0 3 5 10
is ssh__from_host_to_host "$(ssh_name 10)" node10
if [[ $(modprobe fuse 2>/dev/null; grep -c 'fuse$' /proc/filesystems) != 0 ]]; then
	check sshfs__files_of_another_host files
else
	skip sshfs__files_of_another_host "this kernel has no FUSE"
fi
check mpirun__of_open_mpi mpi
check dhcp__client dhcp
check ipv6__temporary_addresses temporary
check ipv6__router_stays_one router
check ipv6__router_no_more no_router
check vlan__on_top vlan
check container__by_macvlan macvlan
check container__by_bridge bridge
((!nftables)) || is container__nothing_was_forwarded_by_ip "$(forwarded)" 0

check traceroute__shows_nodes traced
check traceroute__shows_nodes_by_ipv6 traced 6
check tcpdump__captures on_one_cpu capture_echoes
is tcpdump__plain_requests_on_tor0 "$(plain_echoes 'echo request')" 3
is tcpdump__plain_replies_on_tor0 "$(plain_echoes 'echo reply')" 3
is dissector__requests_on_cables "$(dissected_echoes 8)" 3
check statistics__of_ip counts
check statistics__of_ethtool ethtool_counts

check mtu__changes_while_up mtu_changes
whole=$(mtu 1)
cable=$(node 7 ip -j link show d1p | jq -r '.[0].mtu')
check mtu__follows_a_cable cable_shrinks
check mtu__follows_it_back cable_grows
check relay__by_hosts_without_the_device silent_hosts
check mtu__too_small_for_ipv6 too_small_for_ipv6
finish
