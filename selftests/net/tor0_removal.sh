#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 400
#
# The network device, a port, a cable, a fabric, a namespace and the module are removed while streams cross them: what is left
# goes on, and nothing is left of what is gone.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

# stream FROM TO: in the background, without an end. Both ways, of several flows, so that all ways are used.
stream()
{
	torcollctl netns exec "$2" iperf3 -s -1 >"$work/server" 2>&1 &
	server=$!
	wait_for 20 listens "$2" 5201
	torcollctl netns exec "$1" iperf3 -c "$(address "$2")" -P 4 --bidir -t 1000 >"$work/client" 2>&1 &
	client=$!
	wait_for 20 grows "$2"
}

# What came to a node by its network device grows.
grows()
{
	local before

	before=$(came "$1")
	sleep 0.2
	(($(came "$1") > before + 10000))
}

came()
{
	node "$1" ip -s -j link show tor0 | jq '.[0].stats64.rx.bytes'
}

end_stream()
{
	kill "$client" "$server" 2>/dev/null
	wait "$client" "$server" 2>/dev/null
	return 0
}

# under_load COMMAND...: while a stream goes from node $from to node $to.
under_load()
{
	local code

	stream "$from" "$to" || { end_stream; return 1; }
	"$@"
	code=$?
	still || code=1
	end_stream
	return "$code"
}

# Of the stream, what can go on after what was removed: all by default.
still()
{
	wait_for 20 grows "$to"
}

has_device()
{
	node "$1" ip link show tor0
}

# The end of a stream goes, the device of which is made again.
device()
{
	local code

	stream 0 10 || { end_stream; return 1; }
	node "$1" ip link delete tor0
	code=$?
	end_stream
	! has_device "$1" 2>/dev/null && ((code == 0)) && ip_on "$1" && wait_for 20 reaches 0 10
}

ip_on()
{
	node "$1" torcollctl fabric 1 ip on prefix 10.7.0.0/24 prefix6 fd00:7::/64
}

device_many_times()
{
	local i

	stream 0 10 || { end_stream; return 1; }
	for i in 1 2 3 4 5 6 7 8; do
		node 10 ip link delete tor0 && ip_on 10 || return
	done
	end_stream
	wait_for 20 reaches 0 10
}

port()
{
	node "$1" torcollctl port del 1 dim 0 dir plus && node "$1" torcollctl port del 1 dim 1 dir plus
}

cable()
{
	node "$1" ip link delete d0m
}

fabric()
{
	node "$1" torcollctl fabric del 1 && ! has_device "$1" 2>/dev/null
}

namespace()
{
	ip netns delete "tor-$1"
}

# The module is not used by what it has made: it takes all devices along.
module()
{
	local n

	timeout $((60 * TORCOLL_SLOW)) rmmod torcoll || return
	for n in 4 6; do
		! has_device "$n" 2>/dev/null || return
	done
}

# A queueing discipline that sends nothing until it is told to: it may be that of a user of a namespace of his own.
plugged()
{
	local remover code

	torus_up 2 "${patient[@]}" && ip_up 2 && reaches 0 1 && node 0 tc qdisc add dev d0p root plug limit 100000 || return
	node 0 ping -q -n -c 1 -W 1 "$(address 1)"
	rmmod torcoll &
	remover=$!
	wait_for 30 eval 'dmesg | grep "torcoll: waiting for devices.*ip link set DEV down .* drops them"'
	code=$?
	kill -0 "$remover" && node 0 ip link set d0p down && wait "$remover" && ((code == 0))
}

from=0 to=10
work=$(mktemp -d)
cleanup rm -rf "$work"
torus_up 4x4 "${patient[@]}"
stamps_up || bail "no times of packets"
ip_up 16 || bail "no network device"
check device__of_the_receiver device 10
check device__of_the_sender device 0
check device__many_times device_many_times
check device__of_a_host_between under_load node 5 ip link delete tor0
check port__of_the_sender under_load port 0
check port__of_a_host_between under_load port 14
check cable__of_a_host_between under_load cable 7
check fabric__of_a_host_between under_load fabric 13
check namespace__of_a_host_between under_load namespace 2
still()
{
	return 0
}
check fabric__of_the_receiver under_load fabric 10
to=6
check fabric__of_the_sender under_load fabric 0
# of what is left
from=4
check module__while_it_is_used under_load module
torcollctl netns down
if modprobe sch_plug 2>/dev/null; then
	check module__with_packets_that_stay_in_a_queue plugged
else
	skip module__with_packets_that_stay_in_a_queue "this kernel has no plug"
fi
finish
