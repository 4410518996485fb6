#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# processors: 2
#
# Ranks that cannot be reached any more: a partition, a host that dies, one that begins anew. Every op across ends
# with the error that says so, as soon as hellos are missing: long before the time that ops have, which is two minutes.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

# Endless allreduces, one process per node.
start()
{
	torcollctl netns run torcoll-perf allreduce -b 64K -e 64K -n 1000000 -w 0 >"$work/out" 2>&1 &
	pid=$!
	wait_for 60 ops_run
}

ops_run()
{
	node 0 torcollctl -j op show | jq -e 'length > 0'
}

# told PATTERN RANK...: those ranks' processes said so.
told()
{
	local pattern=$1 rank

	shift
	for rank; do
		grep -qE "^\\[${rank}\\].*($pattern)" "$work/out" || return 1
	done
}

# in_time NAME PATTERN RANK...: a case of that.
in_time()
{
	local name=$1 begin=${EPOCHREALTIME/[.,]/}

	shift
	eventually "$name" 60 told "$@" || { diag <<<"$(head -n 12 "$work/out")"; return 1; }
	diag "$name: after $(((${EPOCHREALTIME/[.,]/} - begin) / 1000)) ms"
}

# reached NODE NUMBER: of so many nodes.
reached()
{
	[[ $(node "$1" torcollctl -j fabric show | jq '.[0].reached') == "$2" ]]
}

stop()
{
	pkill -P "$pid"
	wait "$pid"
	pkill -x torcoll-perf
	wait_for 10 nobody_runs
}

nobody_runs()
{
	! pgrep -x torcoll-perf
}

work=$(mktemp -d)
cleanup rm -rf "$work"
torus_up 4x2 cables 2 "${patient[@]}"
# columns 0 and 1 against columns 2 and 3
start
for n in 1 5; do node "$n" ip link set d0p down; done
for n in 0 4; do node "$n" ip link set d0m down; done
in_time partition__unreachable_on_one_side "no live cables lead to rank 2" 0 1 4 5
in_time partition__unreachable_on_the_other "no live cables lead to rank 0" 2 3 6 7
stop
for n in 1 5; do node "$n" ip link set d0p up; done
for n in 0 4; do node "$n" ip link set d0m up; done
eventually partition__mended 30 reached 6 8
check partition__works_again torcollctl netns run torcoll-perf allreduce -b 64K -e 64K -n 2

start
for dev in d0p d0m d1p d1m; do node 6 tc qdisc add dev "$dev" root netem loss 100%; done
for n in 5 7 2; do
	for dev in d0p d0m d1p d1m; do
		[[ $n$dev == 5d0p || $n$dev == 7d0m || $n$dev == 2d1* ]] || continue
		node "$n" tc qdisc add dev "$dev" root netem loss 100%
	done
done
in_time silent_host__down_for_the_others "rank 6 .node 6. is down" 0 1 2 3 4 5 7
in_time silent_host__unreachable_for_itself "no live cables lead to rank 0" 6
stop
for n in 2 5 6 7; do for dev in d0p d0m d1p d1m; do node "$n" tc qdisc del dev "$dev" root 2>/dev/null; done; done
eventually silent_host__back 30 reached 4 8

start
# its process is killed with it, and cannot say good-bye
for dev in d0p d0m d1p d1m; do node 7 tc qdisc add dev "$dev" root netem loss 100%; done
ip netns pids tor-7 | xargs kill -9
ip netns del tor-7
in_time dead_host__down_for_the_others "rank 7 .node 7. is down" 0 1 2 3 4 5 6
stop
eventually dead_host__the_others_know 20 reached 0 7
finish
