#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# timeout: 1200
#
# Whole fabrics of core on a virtual clock: 500 seeds of everything that can go wrong, and runs of one
# thing in excess. What fails says its seed: build/bin/torcoll-sim --first SEED --trace shows what
# happened, --minimise makes it smaller. Scenarios that failed once are kept in selftests/sim/.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit

sim=build/bin/torcoll-sim
sanitized=build/asan/bin/torcoll-sim
# Where a fifth of the hellos is lost, links come and go without them, and news of others with them.
cuts=cut,one-way-cut,flapping,crash

scratch=$(mktemp -d)
ktap_cleanups+=("rm -rf '$scratch'")

trace_sum()
{
	"$sim" --first "$1" --trace | sha256sum
}

repeats_itself()
{
	local seed once twice

	for seed in 1 2 3 4 5 6 7 8; do
		once=$(trace_sum "$seed") && twice=$(trace_sum "$seed") && [[ $once == "$twice" ]] || return
	done
}

# A scenario written and read again does the same.
survives_as_text()
{
	local seed

	for seed in 1 2 3 4 5 6 7 8; do
		"$sim" --first "$seed" --show >"$scratch/once" || return
		"$sim" --scenario "$scratch/once" --show >"$scratch/twice" || return
		cmp "$scratch/once" "$scratch/twice" || return
	done
}

# Sizes around every edge, on the shapes that people build.
sizes()
{
	local dims=$1 algorithm=$2 type count

	for type in f32 i32; do
		for count in 1 2 3 16 17 4097; do
			"$sim" --clean --dims "$dims" --collective allreduce --algorithm "$algorithm" \
				--type "$type" --redop sum --count "$count" --ops 2 --depth 2 || return
		done
	done
}

# Who sends on what it has received sums it once, not twice: 2.3 bytes for each that is received, and 3.0 where it does not.
sums_once()
{
	"$sim" --clean --dims 8 --frame-size 8986 --collective broadcast --algorithm tree --type i32 --count 262144 \
		--ops 1 | awk '/^rx_bytes / { bytes = $2 } /^bytes summed / { sums = $3 } END { exit !(sums && sums < 2.6 * bytes) }'
}

# The root of each call only sends, and the next one, for which its slot must be free, waits until all of it is
# acknowledged, which nobody is in a hurry to do: 32 calls, four at a time, do not take 4 to 8 ms for each four.
# streams COLLECTIVE NODES ROOTS [ALGORITHM [DEPTH]]
streams()
{
	local i algorithm=${4:-tree}

	for ((i = 0; i < 32; i++)); do
		echo "algorithm=$algorithm redop=sum root=$((i % $3)) count=16 input=$((i % $3))"
	done | calls_pass "$1" "$2" "${5:-4}"
}

# The same where each is the root in several calls in a row: in_a_row COLLECTIVE NODES CALLS ALGORITHM DEPTH
in_a_row()
{
	local i

	for ((i = 0; i < $2 * $3; i++)); do
		echo "algorithm=$4 redop=sum root=$((i / $3)) count=16 input=$((i / $3))"
	done | calls_pass "$1" "$2" "$5"
}

# The calls of stdin do not wait for timers on so many nodes, a ring: calls_pass COLLECTIVE NODES DEPTH [BLOCKING]
calls_pass()
{
	{
		echo "torcoll-sim/1 $2"
		echo "with seed=5 cables=1 per_link=1 frame_size=1500 delay=5000 rate=10000 queue=65536 hello=50000000"
		echo "comm ranks=$2 whole=1 depth=$3 blocking=${4:-0}"
		sed "s/^/call collective=$1 type=u32 bits=1 /"
	} >"$scratch/stream"
	"$sim" --scenario "$scratch/stream" --trace |
		awk '/ submits op 1$/ && !first { first = $1 } / is done$/ { last = $1 } END { exit !(first && last < first + 5000) }'
}

# 128 messages of several lengths, "FROM TO" each, by awk's expressions of i and n.
# messages FROM TO NODES DEPTH [BLOCKING]
messages()
{
	awk -v n="$3" "BEGIN {
		split(\"1 16 100 1000\", count)
		for (i = 0; i < 128; i++)
			print \"algorithm=direct root=\" $1 \" peer=\" $2 \" count=\" count[i % 4 + 1] \" input=\" 4 * ($1) + i % 4
	}" | calls_pass send "$3" "$4" "${5:-0}"
}

all_messages()
{
	local depth blocking

	for depth in 1 2 4 8; do
		for blocking in 0 1; do
			messages "$1" "$2" "$3" "$depth" "$blocking" || return
		done
	done
}

nonsense_is_refused()
{
	local code=0

	echo "torcoll-sim/1 2x2" >"$scratch/nonsense"
	"$sim" --scenario "$scratch/nonsense" || code=$?
	((code == 2))
}

ktap_header
check faults__500_seeds "$sim" --seeds 500 --jobs 2
check faults__sanitized "$sanitized" --first 501 --seeds 60 --jobs 2
# reports of a failure are lost on a cable that is deaf, until that is known
check faults__told_by_another_way "$sim" --first 6197 --seeds 1
check faults__all_nodes_after_every_event "$sim" --check-all --first 600 --seeds 5
check checksums__are_sent_on sums_once
# about one seed in a hundred does send some again: where the queues of two routes differ for longer than reordering may last
check clean__nothing_sent_twice "$sim" --clean --first 1 --seeds 100 --jobs 2
check streams__from_two_roots streams broadcast 4 2
check streams__from_each_in_turn streams broadcast 4 4
# the call waits for ops that have not sent everything yet
check streams__to_two_roots streams reduce 8 2
# more senders are told to wait than a channel remembers
check streams__of_many_senders streams gather 16 1 direct
# more senders are told to wait than a channel remembers, each at a call of its own
check streams__of_many_roots streams scatter 20 20 direct 1
check streams__of_many_roots_several_times in_a_row scatter 32 4 direct 8
check messages__one_way all_messages 0 1 2
check messages__ping_pong all_messages i%2 1-i%2 2
check messages__to_all all_messages 0 '1 + i % (n - 1)' 5
check messages__from_all all_messages '1 + i % (n - 1)' 0 5
check messages__around all_messages 'i % n' '(i + 1) % n' 4
fails loss__that_never_happens_is_said 1 "never happened in 1 seeds.*--loss" "$sim" --loss 0.000001 --seeds 1 --dims 2 --count 10 --ops 2
fails loss__of_less_than_a_millionth 2 "bad probability of loss" "$sim" --loss 0.0000001
check loss__a_fifth "$sim" --loss 0.2 --seeds 20 --dims 3x3 --count 1000
# on short ways: each link doubles what the one before did
check reorder__everything "$sim" --reorder 1 --duplicate 0.5 --seeds 20 --dims 4x4
# on a ring of 16, half of the frames that cross it do not arrive
check corrupt__a_fifth "$sim" --without "$cuts" --corrupt 0.1 --limit 600 --seeds 20 --count 1000
check payload__read_late "$sim" --loss 0.05 --duplicate 0.2 --late-payload 1 --seeds 20
check memory__hardly_any "$sim" --without "$cuts" --no-memory 0.2 --limit 600 --seeds 20
check fpu__hardly_ever "$sim" --no-fpu 0.9 --type f32 --redop sum --seeds 20
# blocks of a temporary are used again while frames may be on their way
check exscan__blocks_in_turn "$sim" --collective exscan --algorithm ring --count 40000 --type f64 --dims 3x3 --seeds 60
check scan__any_shape "$sim" --collective scan --algorithm ring --seeds 60
for collective in gather scatter alltoall halo; do
	check "${collective}__any_shape" "$sim" --collective "$collective" --seeds 60
done
fails collective__not_checked 2 "bad collective .its results are not checked here.: barrier" "$sim" --collective barrier
check seed__repeats_itself repeats_itself
check scenario__survives_as_text survives_as_text
check scenario__nonsense_is_refused nonsense_is_refused
check swing_bw__sizes_on_8 sizes 8 swing-bw
check swing_bw__sizes_on_4x4 sizes 4x4 swing-bw
for dims in 3 5x3 2x2x2; do
	check "bibucket__sizes_on_$dims" sizes $dims bibucket
done
for file in selftests/sim/*.sim; do
	[[ -e $file ]] || continue
	name=${file##*/}
	check "scenario__${name%.sim}" "$sanitized" --scenario "$file"
done
finish
