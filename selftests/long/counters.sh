#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# Every counter moves, for the reason that it names. What stands in no case of this table fails the last
# one: a counter that is added needs a case.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

nodes=4

# What wants memory to run out: for the kernel with fault injection, fault/memory.sh; for a user with limits, which root
# has not, net/limits.sh.
elsewhere="tx_no_memory drop_memory rx_not_ready"

# All counters, a line for each: its name, and its sum over all nodes.
snapshot()
{
	local n

	for ((n = 0; n < nodes; n++)); do
		node "$n" torcollctl -a -j stats
	done | jq -sr '[.[][].counters | to_entries[]] | group_by(.key)[] | "\(.[0].key) \(map(.value) | add)"'
}

value_of()
{
	sed -n "s/^$1 //p" <<<"$2"
}

# Since the torus is there.
moved()
{
	(($(counters "$1" "$nodes") > 0))
}

# moves NAMES COMMAND...: the command moves each of these counters.
moves()
{
	local names=$1 name before after

	shift
	before=$(snapshot)
	"$@" >"$work/log" 2>&1 || diag <"$work/log"
	after=$(snapshot)
	for name in $names; do
		if (($(value_of "$name" "$after") > $(value_of "$name" "$before"))); then
			ok "$name"
		else
			not_ok "$name" "does not move: $*"
		fi
		seen[$name]=1
	done
}

allreduce()
{
	torcollctl netns run torcoll-perf allreduce -w 0 -n "$@"
}

# with_netem NODE DEVICE WORDS -- COMMAND...: with that on the device.
with_netem()
{
	local node=$1 dev=$2 words=() code

	shift 2
	while [[ $1 != -- ]]; do
		words+=("$1")
		shift
	done
	shift
	node "$node" tc qdisc add dev "$dev" root "${words[@]}"
	"$@"
	code=$?
	node "$node" tc qdisc del dev "$dev" root
	return "$code"
}

ranks()
{
	pgrep -x torcoll-perf
}

running()
{
	(($(ranks | wc -l) == nodes)) && (($(counter 0 ops) > $1))
}

# One rank sleeps for some seconds in the middle of large ops: who sends to it is told to wait, and asks.
with_a_late_rank()
{
	local run pid ops

	ops=$(counter 0 ops)
	allreduce 20 -b 4M -e 4M --in-place --algorithm ring &
	run=$!
	wait_for 30 running "$ops" || return 1
	pid=$(ranks | head -n 1)
	kill -STOP "$pid"
	sleep 2.5
	kill -CONT "$pid"
	wait "$run"
}

one_rank_dies()
{
	local run ops

	ops=$(counter 0 ops)
	allreduce 1000 -b 1M -e 1M --in-place &
	run=$!
	wait_for 30 running "$ops" || return 1
	kill -9 "$(ranks | head -n 1)"
	wait "$run"
	true
}

# silence NODE DEVICE: nothing leaves by it any more.
silence()
{
	tc -n "tor-$1" qdisc add dev "$2" root netem loss 100%
}

# A forwarder between 0 and 2 has its way to 2 down, and node 0 does not hear of it: all news that would
# get there are lost. It would be back through node 0, where no frame goes. Needs slow hellos: else node 0 soon
# finds that nobody speaks to it.
cut_behind_the_forwarder()
{
	local run ops

	ops=$(counter 0 ops)
	allreduce 100000 -b 64K -e 64K --in-place --algorithm recdoub-lat &
	run=$!
	wait_for 30 running "$ops" || return 1
	silence 3 d0p
	silence 1 d0m
	ip -n tor-1 link set d0p down
	wait_for 10 moved drop_no_route
	# and node 0 has no way at all
	ip -n tor-0 link set d0p down
	ip -n tor-0 link set d0m down
	wait "$run"
	true
}

# until_moved COUNTER TIMES COMMAND...: what takes chance moves it in the end.
until_moved()
{
	local counter=$1 times=$2 before

	shift 2
	before=$(counters "$counter" "$nodes")
	while ((times-- > 0)); do
		"$@" || return 1
		(($(counters "$counter" "$nodes") == before)) || return 0
	done
	return 1
}

# A frame of data that node 1 once sent, again, while it believes in another shape of the fabric.
data_on_a_wrong_link()
{
	torcollctl netns exec 1 python3 - >"$work/sent" <<-'EOF' &
		import socket, time

		DATA, ETHERTYPE, ETH_P_ALL = 2, 0x88b5, 3
		s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
		s.bind(("d0m", ETH_P_ALL))
		print("ready", flush=True)
		while True:
		    frame, where = s.recvfrom(65536)
		    if where[1] == ETHERTYPE and where[2] == socket.PACKET_OUTGOING and frame[15] == DATA:
		        break
		print("has one", flush=True)
		while True:
		    time.sleep(0.1)
		    s.send(frame)
	EOF
	replayer=$!
	wait_for 20 grep -q ready "$work/sent" || return 1
	allreduce 3 -b 64K -e 64K
	wait_for 20 grep -q 'has one' "$work/sent" || return 1
	node 1 torcollctl fabric del 1
	node 1 torcollctl fabric add 1 dims 2x3 node 1
	node 1 torcollctl port add 1 dim 0 dir minus dev d0m
	wait_for 20 moved drop_link
	kill "$replayer"
	wait "$replayer"
	true
}

# Frames find a task in an FPU section: ciphers in the kernel use it most of the time.
with_the_fpu_busy()
{
	local cpu pids=()

	# no udev here that would load it for the processor
	modprobe aesni_intel || return 1
	for ((cpu = 0; cpu < $(nproc); cpu++)); do
		taskset -c "$cpu" python3 -c '
import socket
s = socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET, 0)
s.bind(("skcipher", "xts-aes-aesni"))
s.setsockopt(socket.SOL_ALG, socket.ALG_SET_KEY, bytes(range(32)))
op, _ = s.accept()
data = bytes(65536)
while True:
    op.sendmsg_afalg([data], op=socket.ALG_OP_ENCRYPT, iv=bytes(16))
    op.recv(65536)
' &
		pids+=($!)
	done
	with_netem 0 d0p netem delay 1ms -- with_netem 1 d0p netem delay 1ms -- \
		with_netem 2 d0p netem delay 1ms -- until_moved rx_deferred 20 \
		allreduce 10 -b 256K -e 256K -d f32
	kill "${pids[@]}"
	wait "${pids[@]}"
	true
}

work=$(mktemp -d)
cleanup rm -rf "$work"
declare -A seen
torus_up $nodes

moves "tx_frames tx_bytes tx_acks rx_frames rx_bytes rx_early ops tx_copied_bytes rx_hellos" \
	allreduce 3 -b 8 -e 256K -f 32
moves tx_echoes node 0 torcollctl qualify d0p seconds 1
moves forwarded allreduce 3 -b 8 -e 64K -f 32 --algorithm recdoub-lat
moves tx_retransmits with_netem 1 d0p netem loss 10% -- allreduce 5 -b 256K -e 256K
# what is last in a transfer is missed by nobody
moves tx_timeouts with_netem 1 d0p netem loss 30% -- allreduce 40 -b 8 -e 8
moves rx_duplicates with_netem 1 d0p netem duplicate 10% -- allreduce 5 -b 256K -e 256K
moves tx_local_drop with_netem 1 d0p netem delay 5ms limit 2 -- allreduce 5 -b 256K -e 256K
moves drop_forward with_netem 1 d0p netem delay 5ms limit 2 -- \
	allreduce 5 -b 256K -e 256K --algorithm recdoub-lat
moves drop_header_crc with_netem 1 d0p netem corrupt 10% -- allreduce 5 -b 256K -e 256K
moves tx_probes with_a_late_rank
moves rx_late until_moved rx_late 10 allreduce 10 -b 4M -e 4M
moves rx_deferred with_the_fpu_busy
moves ops_failed one_rank_dies
torcollctl netns down

# silence lasts longer there before it means anything
torcollctl netns up $nodes hello 5s
moves "tx_no_route drop_no_route link_downs reroutes" cut_behind_the_forwarder
torcollctl netns down

# frames from a neighbour that means ill
torus_up 2x2
on_one_cpu hold_socket || bail "no packet socket"
moves "drop_again drop_short drop_version drop_type drop_fabric drop_payload_crc drop_hop_limit drop_node drop_epoch
	drop_comm drop_range drop_not_ours" timeout 240 badframes
all=$(node 0 torcollctl -a -j stats | jq -r '.[0].counters | keys[]')
moves drop_link data_on_a_wrong_link
on_one_cpu release_socket

for name in $elsewhere; do
	seen[$name]=1
done
missing=$(for name in $all; do [[ -n ${seen[$name]-} ]] || echo "$name"; done)
is every_counter__has_a_case "$missing" ""
check every_counter__is_listed grep -q ops_failed <<<"$all"
finish
