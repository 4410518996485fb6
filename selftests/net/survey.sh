#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
#
# Surveys: of a fabric, of hosts with nothing configured, with damaged frames, with many asks, and with tests of cables.
# shellcheck disable=SC2016	# variables of jq

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

work=$(mktemp -d)
cleanup rm -rf "$work"

# host NAME COMMAND...: in that host's namespace.
host()
{
	ip netns exec "survey-$1" "${@:2}"
}

host_add()
{
	ip netns add "survey-$1" || bail "no namespace"
	cleanup ip netns del "survey-$1"
	host "$1" torcollctl host name "$1"
}

# cable HOST DEVICE HOST DEVICE
cable()
{
	ip link add "$2" netns "survey-$1" type veth peer name "$4" netns "survey-$3" &&
		ip -n "survey-$1" link set "$2" up && ip -n "survey-$3" link set "$4" up
}

# surveyed FILTER COMMAND...: what the command prints as JSON passes the filter.
surveyed()
{
	"${@:2}" >"$work/survey" || return 1
	jq -e "$1" "$work/survey" >/dev/null || { cat "$work/survey"; return 1; }
}

# The cables of a survey, each once, as "a:x-b:y", sorted.
cables_seen()
{
	"$@" torcollctl -j survey show | jq -r '(.hosts | map({(.id): .name}) | add) as $name |
		[.hosts[] | .name as $host | .ports[] | select(.peer) |
		 ["\($host):\(.device)", "\($name[.peer.host]):\(.peer.device)"] | sort | join("-")] |
		unique | join(" ")'
}

# send_bad HOST DEVICE: 200 frames that are not right.
send_bad()
{
	host "$1" /usr/bin/python3 - "$2" <<'END'
import os, random, socket, struct, sys

s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind((sys.argv[1], 0))
random.seed(1)
mac = bytes.fromhex("0180c200000e") + bytes.fromhex("020000000001") + struct.pack("!H", 0x88b6)
for i in range(200):
    frame = bytearray(random.randbytes(random.choice((1, 39, 40, 84, 384, 1400, 1486))))
    if len(frame) >= 24:
        frame[0] = 1                    # a version that it knows
        frame[1] = random.randint(0, 6)
        if i % 2:
            frame[20:24] = struct.pack("!I", random.choice((0, len(frame) - 40, 1 << 31, 0xffffffff)) & 0xffffffff)
    s.send(mac + frame)
END
}

# flood HOST DEVICE N [SECONDS]: asks, each of a survey of its own, so long apart. Prints how many ms it took to send them.
flood()
{
	host "$1" /usr/bin/python3 - "$2" "$3" "${4:-0}" <<'END'
import socket, struct, sys, time

def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ 0x82f63b78 if crc & 1 else crc >> 1
    return crc ^ 0xffffffff

s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind((sys.argv[1], 0))
mac = bytes.fromhex("0180c200000e") + bytes.fromhex("020000000001") + struct.pack("!H", 0x88b6)
end = struct.pack("!HHQ6sH16sII", 1, 40, 77, b"\2\0\0\0\0\1", 0, b"liar", 1500, 0)
frames = []
for i in range(int(sys.argv[2])):
    def header(hops, crc):
        return struct.pack("!BBBBIQIIQQ", 1, 1, hops, 0, crc, i + 1, 1, len(end), 77, 0)
    frames.append(mac + header(9, crc32c(header(0, 0) + end)) + end)
begun = time.monotonic()
for frame in frames:
    s.send(frame)
    time.sleep(float(sys.argv[3]))
print(int((time.monotonic() - begun) * 1000))
END
}

sent_by()
{
	host "$1" cat "/sys/class/net/$2/statistics/tx_packets"
}

# As many asks as a host may pass on at once are, and few more, 32 a second; so many frames go to the next one. Reports go back.
flood_is_bounded()
{
	local before after ms

	before=$(sent_by b y)
	ms=$(flood a x 200) || return 1
	wait_for 10 sent_more b y $((before + 10))
	# more than enough comes at once
	sleep 0.5
	after=$(sent_by b y)
	echo "b has passed on $((after - before)) of 200 asks, which came within $ms ms"
	((after - before >= 10 && after - before < 100 + ms * 32 / 1000))
}

sent_more()
{
	(($(sent_by "$1" "$2") >= $3))
}

# cables_are CABLES COMMAND...: as cables_seen.
cables_are()
{
	local seen

	seen=$(cables_seen "${@:2}")
	echo "$seen"
	[[ $seen == "$1" ]]
}

# tested FILTER COMMAND...: every port with somebody at its other end passes the filter.
tested()
{
	surveyed "[.hosts[].ports[] | select(.peer)] | all($1)" "${@:2}"
}

# ---- a fabric ----

module_load || bail "the module does not load"
torus_up 2x2
for n in 0 3; do
	eventually "fabric__from_node_$n" 20 surveyed '(.hosts | length) == 4 and (.self as $self | .hosts[] | select(.id == $self) | .name == "node'$n'") and
		([.hosts[].ports[]] | length == 8 and all(.up and .carrier and (.many | not) and .peer and .member.state == "up" and
		 .member.heard == .member.expected)) and
		([.hosts[].nodes[]] | length == 4 and all(.key == 1 and .sides == [2, 2] and .reached == 4 and .dead_links == 0) and
		 (map(.node) | sort) == [0, 1, 2, 3])' node "$n" torcollctl -j survey show
done
eventually fabric__cables 20 cables_are "node0:d0p-node1:d0m node0:d1p-node2:d1m node1:d1p-node3:d1m node2:d0p-node3:d0m" node 1
# Node 1 is asked by that cable first, and its reports do not get back by it.
node 0 tc qdisc add dev d0p clsact
check deaf__is_made node 0 tc filter add dev d0p ingress protocol 0x88b6 matchall action drop
for n in 0 1; do
	eventually "deaf__all_answer_node_$n" 20 surveyed '(.hosts | length) == 4 and
		([.hosts[].ports[] | select(.peer)] | length == 7)' node "$n" torcollctl -j survey show
done
check deaf__some_were_dropped eval 'node 0 tc -s -j filter show dev d0p ingress | jq -e "[.. | .drops? // empty] | add > 0"'
node 0 tc qdisc del dev d0p clsact
node 2 ip link set d0p down
eventually fabric__a_device_is_down 20 surveyed '[.hosts[] | select(.name == "node2") | .ports[] | select(.device == "d0p")] |
	length == 1 and all((.up | not) and .member.state == "no-carrier")' node 0 torcollctl -j survey show
node 2 ip link set d0p up
fails permission__needed 2 "not permitted: needs CAP_NET_ADMIN" \
	node 0 setpriv --reuid 65534 --clear-groups --bounding-set=-all --inh-caps=-all \
	build/bin/torcollctl survey show
torcollctl netns down

# ---- nothing configured ----

for h in a b c; do
	host_add $h
done
cable a x b x
cable b y c y
for h in a b c; do
	eventually "line__cables_from_$h" 20 cables_are "a:x-b:x b:y-c:y" host $h
done
eventually line__no_fabric 20 surveyed '(.hosts | length) == 3 and all(.hosts[]; .nodes == [] and all(.ports[]; .member == null))' \
	host c torcollctl -j survey show
check bad_frames__sent send_bad a x
eventually bad_frames__are_ignored 20 cables_are "a:x-b:x b:y-c:y" host c
check flood__is_bounded flood_is_bounded
# who sent that was one more on the cable
eventually flood__ends 20 surveyed '(.hosts | length) == 3 and all(.hosts[].ports[]; .many | not)' host a torcollctl -j survey show

# ---- devices ----

# on_top TYPE...: such a device on each side of the cable between b and c; it and the one below are on the same cable.
on_top()
{
	for h in b c; do
		host $h ip link add link y name top type "$@" && host $h ip link set top up || return 1
	done
}

not_on_top()
{
	host b ip link del top && host c ip link del top
}

# plain: only the devices that were there before are, and none hears several others.
plain()
{
	cables_are "a:x-b:x b:y-c:y" host "$1" && surveyed '[.hosts[].ports[]] | length == 4 and all(.many | not)' host "$1" torcollctl -j survey show
}

# port_at HOST KEY NODE DIRECTION DEVICE: the one port of a fabric.
port_at()
{
	host "$1" torcollctl fabric add "$2" dims 2 node "$3" && host "$1" torcollctl port add "$2" dim 0 dir "$4" dev "$5"
}

for kind in macvlan macvtap ipvlan vlan macsec; do
	case $kind in
	macv*) options=(mode bridge) ;;
	vlan) options=(id 5) ;;
	*) options=() ;;
	esac
	check "${kind}__is_made" on_top $kind "${options[@]}"
	eventually "${kind}__is_no_cable" 20 plain a
	check "${kind}__goes" not_on_top
done

# what is below such a port is none, unless it is a port as well
on_top vlan id 5
check vlan__is_a_port eval 'port_at b 5 0 plus top && port_at c 5 1 minus top'
eventually vlan__is_the_cable 20 cables_are "a:x-b:x b:top-c:top" host c
check vlan__is_all_that_is_seen surveyed '[.hosts[].ports[].device] | sort == ["top", "top", "x", "x"]' host c torcollctl -j survey show
check vlan__and_below_are_ports eval 'port_at b 6 0 plus y && port_at c 6 1 minus y'
eventually vlan__and_below_are_cables 20 cables_are "a:x-b:x b:top-c:top b:y-c:y" host c
# a port is forgotten at one end: that end only hears
check vlan__below_is_forgotten host b torcollctl fabric del 6
eventually vlan__below_is_heard_of 20 surveyed '(.hosts | map({(.name): (.ports | map({(.device): .}) | add)}) | add) as $at |
	$at.b.y.peer.device == "y" and $at.b.y.member == null and $at.c.y.member and $at.c.y.peer == null' \
	host a torcollctl -j survey show
for h in b c; do
	host $h torcollctl fabric del 5
done
host c torcollctl fabric del 6
not_on_top

# in a namespace of its own it is that one's, a port or not, and the device below stays the host's
host_add d
host_add e
on_top vlan id 5
check namespace__gets_a_vlan eval 'host b ip link set top netns survey-d && host c ip link set top netns survey-e &&
	host d ip link set top up && host e ip link set top up'
eventually namespace__vlan_is_a_cable 20 cables_are "d:top-e:top" host d
check namespace__vlan_is_a_port eval 'port_at d 5 0 plus top && port_at e 5 1 minus top'
eventually namespace__port_is_a_cable 20 cables_are "d:top-e:top" host d
check namespace__below_is_a_cable plain a
for h in d e; do
	host $h torcollctl fabric del 5
	host $h ip link del top
done

# a macvlan that is a port has the cable for itself
on_top macvlan mode bridge
check macvlan__is_a_port eval 'port_at b 5 0 plus top && port_at c 5 1 minus top'
eventually macvlan__is_the_cable 20 cables_are "a:x-b:x b:top-c:top" host c
# of two the first
check macvlan__beside_it_is_a_port eval 'host b ip link add link y name top2 type macvlan mode bridge &&
	host b ip link set top2 up && port_at b 6 0 plus top2'
check macvlan__is_no_switch surveyed '[.hosts[].ports[] | select(.device | startswith("top"))] |
	length == 2 and all(.many | not)' host c torcollctl -j survey show
host b torcollctl fabric del 6
host b ip link del top2
for h in b c; do
	host $h torcollctl fabric del 5
done
not_on_top

# cards say what their speed is once for many asks
probes=/sys/kernel/tracing/kprobe_events
speeds_asked()
{
	awk '$1 == "torcoll_speed" { print $2 }' /sys/kernel/tracing/kprobe_profile
}

# Of 4 devices, once a second, and when one has changed.
speeds_are_kept()
{
	local before after ms

	before=$(speeds_asked)
	ms=$(flood a x 60 0.04) || return 1
	sleep 0.2
	after=$(speeds_asked)
	echo "60 asks in $ms ms: speeds were asked for $((after - before)) times"
	((after > before && after - before <= 4 * (2 + ms / 1000)))
}

eval 'echo "p:torcoll_speed __ethtool_get_link_ksettings" >>"$probes"' &&
	echo 1 >/sys/kernel/tracing/events/kprobes/torcoll_speed/enable
check speeds__are_kept speeds_are_kept
echo 0 >/sys/kernel/tracing/events/kprobes/torcoll_speed/enable
echo "-:torcoll_speed" >>"$probes"

# more devices than a report has room for, by a cable of the smallest frames
for ((i = 0; i < 40; i++)); do
	echo "link add name m$i type veth peer name n$i"
	echo "link set m$i up"
	echo "link set n$i up"
done | host c ip -batch -
host b ip link set y mtu 384
host c ip link set y mtu 384
eventually devices__many_are_reported 20 surveyed '(.hosts | length) == 3 and
	any(.hosts[]; .name == "c" and (.ports | length) > 50 and .left_out > 20)' host a torcollctl -j survey show
check devices__left_out_are_told eval 'host a torcollctl survey show 2>&1 | grep "^c: .* devices .*more than its report"'
# ports_on_top DEVICE...: VLANs on these, which end in this host, as ports: who is below neither asks nor hears any more.
ports_on_top()
{
	local d

	host c torcollctl fabric add 6 dims 2 node 0 || return 1
	for d in "$@"; do
		host c ip link add link "$d" name "${d}v" type vlan id 5 && host c ip link set "${d}v" up &&
			host c torcollctl port add 6 dim 0 dir plus dev "${d}v" || return 1
	done
}

# others are reported in place of those below, and say what their speed is
check devices__ports_on_top_are_made ports_on_top m0 n0 m1 n1
eventually devices__those_in_their_place_say_their_speeds 20 surveyed '[.hosts[] | select(.name == "c") | .ports[]] |
	length > 50 and all(.speed > 0) and (map(.device) | contains(["m0v", "n1v", "m2"]) and all(. != "m0" and . != "n1"))' \
	host a torcollctl -j survey show
host c torcollctl fabric del 6
for d in m0 n0 m1 n1; do
	echo "link del ${d}v"
done | host c ip -batch -
# a port is the last device there is, and the first to be asked by and reported
cable c p b q
check devices__port_is_made port_at c 5 0 plus p
eventually devices__port_is_among_them 20 surveyed '(.hosts[] | select(.name == "c") | .id) as $c |
	any(.hosts[] | select(.name == "c") | .ports[]; .device == "p" and .member) and
	any(.hosts[] | select(.name == "b") | .ports[]; .device == "q" and .peer.host == $c and .peer.device == "p")' \
	host a torcollctl -j survey show
host c torcollctl fabric del 5
for ((i = 0; i < 40; i++)); do
	echo "link del m$i"
done | host c ip -batch -
host c ip link del p
host b ip link set y mtu 1500
host c ip link set y mtu 1500

# ---- tests of cables ----

# what a busy machine spoils it does not spoil five times
check test__good_cables one_of 5 tested '.test.pings == 500 and .test.pongs == 500 and .test.pinged == 500 and
	.test.trains >= 170 and .test.trains <= 1360 and .test.train == .test.trains and .test.bad == 0 and .test.rate > 0 and
	.test.rtt_min_ns > 0 and .test.rtt_median_ns >= .test.rtt_min_ns' \
	host a torcollctl -j survey show test
host a tc qdisc add dev x root netem delay 20ms
# what is slow is so beside what this machine can do; trains at less than 10 Mbit/s would be given up
best=$(jq '[.hosts[] | select(.name == "c") | .ports[].test.rate] | min | floor' "$work/survey")
mbit=$((best / 3 < 10 ? 10 : best / 3 > 20 ? 20 : best / 3))
host b tc qdisc add dev y root tbf rate ${mbit}mbit burst 4kb limit 1mb
delay_and_rate()
{
	surveyed '.hosts | map({(.name): (.ports | map({(.device): .test}) | add)}) | add |
		.a.x.rtt_median_ns > 20000000 and .b.x.rtt_median_ns > 20000000 and
		.b.y.rtt_median_ns < .a.x.rtt_median_ns and
		.c.y.rate > 0 and .c.y.rate < 1.2 * '"$mbit"' and .b.y.rate > 1.5 * .c.y.rate' host c torcollctl -j survey show test
}

if ((best < 2 * mbit)); then
	skip test__delay_and_rate "this machine can do no more than $best Mbit/s"
else
	check test__delay_and_rate one_of 5 delay_and_rate
fi
host a tc qdisc replace dev x root netem loss 10%
host b tc qdisc del dev y root
check test__loss one_of 5 surveyed '[.hosts[].ports[] | select(.device == "x") | .test] | length == 2 and all(.pongs < 490) and
	map(.pinged) as [$a, $b] | ([$a, $b] | max) == 500 and ([$a, $b] | min) < 490' host c torcollctl -j survey show test
host a tc qdisc del dev x root
host b tc qdisc replace dev y root netem corrupt 5%
check test__damage one_of 5 surveyed '[.hosts[] | select(.name == "c") | .ports[].test] | .[0].bad > 0 and .[0].pinged < 500' \
	host a torcollctl -j survey show test
host b tc qdisc del dev y root

# ---- a switch ----

ip link add name switch type bridge group_fwd_mask 0x4000
cleanup ip link del switch
for h in a b c; do
	ip link add s netns survey-$h type veth peer name s$h
	ip link set s$h master switch up
	ip -n survey-$h link set s up
done
ip link set switch up
eventually switch__is_seen 20 surveyed '[.hosts[].ports[] | select(.device == "s")] | length == 3 and all(.many)' \
	host b torcollctl -j survey show

# ---- the end ----

host a torcollctl survey show test >/dev/null 2>&1 &
taker=$!
sleep 0.4
check unload__during_a_test module_unload
wait $taker
finish
