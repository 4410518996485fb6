#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# IP on the ports of a torus goes on while collectives run, and a capture disturbs nothing.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

address()
{
	node 0 ip address add 10.9.0.1/24 dev d0p &&
		node 1 ip address add 10.9.0.2/24 dev d0m &&
		node 0 ping -c 1 -W 5 10.9.0.2
}

# busy FILE ARGUMENT...: allreduces until FILE appears; fails if one does.
busy()
{
	local until=$1

	shift
	while [[ ! -e $until ]]; do
		torcollctl netns run torcoll-perf allreduce -w 0 -n 2 "$@" || return 1
	done
}

# pings FILE: echoes at 100 per second, and some more, since the program loses part of a millisecond with each and
# a busy machine more. It begins with a burst, and makes up by as many at once for what was late.
pings()
{
	node 0 chrt -r 1 ping -i 0.008 -l "$burst" -c "$echoes" 10.9.0.2 >"$1"
}

# rate FILE: echoes per second that were really sent, without those of the first burst.
rate()
{
	awk -v n="$((echoes - burst))" '/packets transmitted/ { sub("ms", "", $NF); print int(n * 1000 / ($NF + 1)) }' "$1"
}

# For the last echoes, the program waits for no longer than the longest took before: all up to the last one that came, then, which
# is one of the second half.
nothing_lost()
{
	local file

	for file in "$work"/ping*; do
		awk -v n="$echoes" '
			match($0, /icmp_seq=[0-9]+ /) {
				seq = substr($0, RSTART + 9, RLENGTH - 10) + 0
				came += !seen[seq]++
				if (seq > last)
					last = seq
			}
			/packets transmitted/ { print; sent = $1 }
			END {
				print last - came, "missing of the first", last
				exit sent != n || came != last || 2 * last < n
			}' "$file" || return
	done
}

ops_above()
{
	(($(counter 0 ops) > $1))
}

# Echoes while allreduces use the same cable, again if the machine did not get to send 100 a second, or no allreduce to its end.
ping_beside()
{
	local run try now ops ended=0 code=0

	ops=$(counter 0 ops)
	busy "$work/stop" -b 64K -e 256K -f 4 >"$work/busy" 2>&1 &
	run=$!
	wait_for 60 ops_above "$ops"
	ops=$(counter 0 ops)
	for try in 1 2 3 4 5; do
		pings "$work/ping.$try" || code=1
		now=$(rate "$work/ping.$try")
		ended=$(($(counter 0 ops) - ops))
		echo "$now echoes per second, $ended ops meanwhile"
		echo "$now" >>"$work/rates"
		((now < 100 && try < 3 || ended == 0)) || break
	done
	((ended)) || code=2
	touch "$work/stop"
	wait "$run" || { cat "$work/busy"; return 1; }
	return "$code"
}

# A machine may be too slow for it, which says nothing of torcoll.
hundred_per_second()
{
	local name=$1 best

	best=$(sort -n "$work/rates" | tail -n 1)
	if ((best >= 100)); then
		ok "$name"
	else
		skip "$name" "this machine got to send $best per second"
	fi
}

listens()
{
	grep -q 'listening on' "$work/tcpdump.err"
}

start_capture()
{
	node 0 tcpdump -Z root -n -i d0p -s 128 -w "$work/capture" "$@" 2>"$work/tcpdump.err" &
	capture=$!
	wait_for 20 listens
}

end_capture()
{
	kill "$capture"
	wait "$capture"
}

# The frames of ours in the capture, to $1 and from the other side.
captured()
{
	tcpdump -Z root -n -e -r "$work/capture" 'ether proto 0x88b5 and ether '"$1"' '"$mac" 2>/dev/null | wc -l
}

echoes=400
burst=50
work=$(mktemp -d)
cleanup rm -rf "$work"
torus_up 2x2
check ip__over_a_port address
check ping__idle pings "$work/ping.idle"
diag "idle: $(rate "$work/ping.idle") echoes per second"
check ping__beside_allreduces ping_beside
diag "beside allreduces, in turn: $(tr '\n' ' ' <"$work/rates")"
check ping__lost_nothing nothing_lost
hundred_per_second ping__100_per_second_beside_allreduces

mac=$(node 0 ip -j link show d0p | jq -r '.[0].address')
on_one_cpu start_capture || bail "no capture"
copied=$(counters tx_copied_bytes 4)
check capture__allreduce_right torcollctl netns run torcoll-perf allreduce -b 1M -e 1M -n 3 -w 0
check capture__swing_right torcollctl netns run torcoll-perf allreduce -b 8 -e 256K -f 32 -n 3 -w 0 \
	--algorithm swing-bw
now=$(counters tx_copied_bytes 4)
on_one_cpu end_capture
diag <"$work/tcpdump.err"
check capture__sent_frames test "$(captured src)" -gt 100
check capture__received_frames test "$(captured dst)" -gt 100
diag "copied with the capture: $((now - copied)) bytes"
check capture__zero_copy_stays test $((now - copied)) -lt $((1 << 20))
finish
