#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 900
# takes: 250
# processors: 2
#
# Allreduce is right: sizes, types, in place and not, shapes, algorithms; and every rank has the same
# bits. torcoll-perf compares with what the sums must be and fails if anything is wrong.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

odd_counts=1,3,17,4097
large_counts=,1000003
some_shapes="8 4x4" more_shapes="3 5x3 2x2x2 3x3x3 2 1x4"
# Sizes and shapes are core's business, which host tests look at with sanitizers.
((TORCOLL_SLOW == 1)) || { some_shapes=2x4 more_shapes="3x3 2" large_counts=; }

# right NAME ARGUMENT...: a run without any wrong result.
right()
{
	local name=$1

	shift
	check "$name" torcollctl netns run torcoll-perf allreduce -n 1 -w 0 "$@"
}

# same_bits NAME ARGUMENT...: as many checksums as ranks, and only one per size and place.
same_bits()
{
	local name=$1 ranks=$2 out

	shift 2
	out=$(torcollctl netns run torcoll-perf allreduce -n 1 -w 0 --checksum "$@" 2>&1)
	if awk -v ranks="$ranks" '
		{
			sub(/^\[[0-9]+\] /, "")
			if (match($0, /checksum [0-9a-f]+/)) {
				sum = substr($0, RSTART + 9, RLENGTH - 9)
				key = $0
				sub(/rank [0-9]+/, "", key)
				sub(/checksum [0-9a-f]+/, "", key)
				if (key in first && first[key] != sum) bad = 1
				first[key] = sum
				n[key]++
			}
		}
		END { for (k in n) { keys++; if (n[k] != ranks) bad = 1 } exit !keys || bad }
	' <<<"$out"; then
		ok "$name"
	else
		not_ok "$name" "ranks differ, or checksums are missing"
		diag <<<"$out"
	fi
}

for shape in $some_shapes; do
	nodes=$((${shape/x/*}))
	torus_up "$shape"
	for algorithm in swing-bw bibucket; do
		right "${shape}_${algorithm}_f32__8_to_4M" -b 8 -e "$(up_to 4M)" -f 8 -d f32 \
			--algorithm $algorithm
		right "${shape}_${algorithm}_f32__odd_counts" --counts "$odd_counts$large_counts" -d f32 \
			--algorithm $algorithm
		right "${shape}_${algorithm}_i32__8_to_256K" -b 8 -e "$(up_to 256K)" -f 8 -d i32 --algorithm $algorithm
		right "${shape}_${algorithm}_i32__odd_counts" --counts $odd_counts -d i32 --algorithm $algorithm
		same_bits "${shape}_${algorithm}__same_bits" $nodes -b 8 -e "$(up_to 256K)" -f 32 -d f32 \
			--algorithm $algorithm
	done
	right "${shape}__i64_f64_min_max" --counts 1,17,4097 -d i64,f64 -o sum,min,max
	right "${shape}__unaligned_and_plain" --counts 17,4097,100003 --plain --offset 4
	torcollctl netns down
done

for shape in $more_shapes; do
	torus_up "$shape"
	right "${shape}_bibucket__sizes" -b 8 -e "$(up_to 1M)" -f 64 --algorithm bibucket
	right "${shape}_bibucket__odd_counts" --counts 1,3,17,4097 --algorithm bibucket
	torcollctl netns down
done

torus_up 2x4 cables 2
right "2x4_two_cables__sizes" -b 8 -e "$(up_to 1M)" -f 64
right "2x4_two_cables_swing__sizes" -b 8 -e "$(up_to 1M)" -f 64 --algorithm swing-bw
torcollctl netns down
finish
