#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# timeout: 300
#
# Whole fabrics of core on a virtual clock: hundreds of seeds, with and without faults. What fails
# says its seed: build/bin/torcoll-sim --first SEED --trace shows what happened.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit

sim=build/bin/torcoll-sim
sanitized=build/asan/bin/torcoll-sim

trace_sum()
{
	"$sim" --first "$1" --trace | sha256sum
}

repeats_itself()
{
	local seed

	for seed in 1 2 3 4 5 6 7 8; do
		[[ $(trace_sum "$seed") == "$(trace_sum "$seed")" ]] || return
	done
}

# Sizes around every edge, on the shapes that people build.
sizes()
{
	local dims=$1 algorithm=$2 type count

	for type in f32 i32; do
		for count in 1 2 3 16 17 4097; do
			"$sim" --no-faults --dims "$dims" --algorithm "$algorithm" --type "$type" \
				--redop sum --count "$count" --ops 2 || return
		done
	done
	"$sim" --no-faults --dims "$dims" --algorithm "$algorithm" --type f32 --redop sum \
		--count 1000003 --frame-size 9000 --ops 1
}

ktap_header
check faults__sanitized "$sanitized" --seeds 200
check faults__many_seeds "$sim" --first 1000 --seeds 1500
check no_faults__nothing_twice "$sim" --no-faults --seeds 500
check loss__one_percent "$sim" --no-faults --loss 0.01 --seeds 300
check loss__a_fifth "$sim" --no-faults --loss 0.2 --seeds 30 --dims 3x3 --count 1000
check reorder__everything "$sim" --no-faults --reorder 1 --duplicate 0.5 --seeds 100
check corrupt__a_fifth "$sim" --no-faults --corrupt 0.2 --seeds 40 --count 1000
check payload__read_late "$sim" --no-faults --loss 0.05 --duplicate 0.2 --late-payload 1 --seeds 200
check memory__hardly_any "$sim" --no-faults --no-memory 0.5 --seeds 50
check fpu__hardly_ever "$sim" --no-faults --no-fpu 0.9 --type f32 --seeds 50
check cancel__everywhere "$sanitized" --misdeed cancel --seeds 60
check mismatch__everywhere "$sanitized" --misdeed mismatch --seeds 60
check absent__deadline "$sanitized" --misdeed absent --seeds 60
check seed__repeats_itself repeats_itself
check swing_bw__sizes_on_8 sizes 8 swing-bw
check swing_bw__sizes_on_4x4 sizes 4x4 swing-bw
for dims in 3 5x3 2x2x2 3x3x3; do
	check "bibucket__sizes_on_$dims" sizes $dims bibucket
done
finish
