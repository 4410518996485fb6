#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Programs over a fake of the module, a process per rank: the benchmark sees right and wrong results
# for what they are, the examples do what they say. None of this needs a torus.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit

scratch=$(mktemp -d) || exit
perf=build/bin/torcoll-perf
digits=lib/examples/data/digits.csv.gz

# ranks N COMMAND...: as many processes; output in $scratch/R, errors in $scratch/R.err.
ranks()
{
	local n=$1 pids=() code=0 r

	shift
	rm -f "$scratch"/[0-9]* "$scratch/shared"
	touch "$scratch/shared"
	for ((r = 0; r < n; r++)); do
		TORCOLL_FAKE=$scratch/shared LD_PRELOAD=$scratch/fake.so \
			TORCOLL_FABRIC=1 TORCOLL_RANK=$r TORCOLL_SIZE=$n \
			timeout 600 "$@" >"$scratch/$r" 2>"$scratch/$r.err" &
		pids+=($!)
	done
	for r in "${pids[@]}"; do
		wait "$r" || code=$?
	done
	cat "$scratch"/[0-9]*.err >&2
	return "$code"
}

hello()
{
	ranks 4 build/bin/examples/hello &&
		grep -qx 'Hello from rank 3 of 4: the ranks sum up to 6' "$scratch/3"
}

# 2 * (1 + 2 + ... + 32000), on every rank
dot()
{
	ranks 4 build/bin/examples/dot && [[ $(sort -u "$scratch"/[0-9] | wc -l) == 4 ]] &&
		(($(cat "$scratch"/[0-9] | grep -c ' of 4: x \* y = 1024032000$') == 4))
}

right()
{
	ranks 5 "$perf" allreduce --counts 0,1,3,17,4097 -d all -o all -n 2 -w 1 --offset 3 &&
		grep -q '^# wrong values: 0 OK' "$scratch/0" &&
		(($(grep -cv '^#' "$scratch/0") == 60)) && [[ ! -s $scratch/1 ]]
}

sizes()
{
	ranks 2 "$perf" allreduce -b 1 -e 64 -d double -n 1 --format csv --in-place &&
		[[ $(cut -d, -f3 "$scratch/0" | paste -sd' ') == 'bytes 8 16 32 64' ]] &&
		ranks 2 "$perf" allreduce -b 1K -e 3K -i 1K -n 1 --format csv --out-of-place &&
		[[ $(cut -d, -f3 "$scratch/0" | paste -sd' ') == 'bytes 1024 2048 3072' ]] &&
		ranks 2 "$perf" allreduce -b 8 -e 64 -f 4 -n 1 --format csv --in-place &&
		[[ $(cut -d, -f3 "$scratch/0" | paste -sd' ') == 'bytes 8 32 64' ]]
}

# wrong PLACE: the last element of rank 1 alone
wrong()
{
	TORCOLL_FAKE_FAULT=4096 ranks 3 "$perf" allreduce "--$1" -b 4 -e 4K -f 1024 -n 2
	(($? == 1)) && grep -q "^torcoll-perf: rank 1: .* 1024 elements, $1: 1 wrong: element 1023 is" \
		"$scratch/1.err" && [[ ! -s $scratch/0.err ]] &&
		grep -q '^# wrong values: [12] FAILED' "$scratch/0"
}

checksums()
{
	ranks 4 "$perf" allreduce -b 4K -e 4K -n 1 -d f32 --checksum &&
		grep -q '^checksum allreduce f32 sum count 1024 in-place [0-9a-f]\{16\}$' "$scratch/3" &&
		(($(sort "$scratch"/? | grep ^checksum | uniq -c | awk '$1 == 4' | wc -l) == 2))
}

# r=N is r, as torcoll-plan and explain have it; the module takes one more.
params()
{
	TORCOLL_FAKE_PARAMS=1 ranks 2 "$perf" allreduce -b 8 -e 8 -n 1 --param channels=2 --param r=2 &&
		[[ $(sort -u "$scratch"/[01].err) == 'params 2 3 0 0 0 0 0 0' ]]
}

# The fake has no fabric.
halo()
{
	ranks 1 "$perf" halo -b 8 -e 8 -n 1
	(($? == 1)) && grep -qx 'torcoll-perf: rank 0: what the neighbours of a halo are on this fabric is not known: Invalid argument' \
		"$scratch/0.err"
}

json()
{
	ranks 2 "$perf" allreduce -b 8 -e 32 -n 1 --format json &&
		jq -es 'length == 6 and all(.wrong == 0 and .ranks == 2 and .time_us > 0)' "$scratch/0"
}

osu()
{
	ranks 2 "$perf" allreduce -b 8 -e 32 -n 1 --format osu &&
		(($(awk '/^[0-9]/ && $2 > 0 && NF == 5' "$scratch/0" | wc -l) == 3))
}

# All ranks end with the same weights, after the losses of a single process.
train()
{
	ranks 8 build/bin/examples/train --data "$digits" &&
		(($(sed -n 's/^rank [0-7] weights //p' "$scratch"/? | sort | uniq -c | awk '{ print $1 }') == 8)) &&
		paste <(build/bin/examples/train --data "$digits" --single) "$scratch/0" |
		awk '/^step/ { d = $4 - $10; n++; if (d * d > 1e-8) bad = 1 } END { exit bad || n != 16 }'
}

ktap_header
cleanup rm -rf "$scratch"
check fake_module__compiles "${CC:-cc}" -std=gnu11 -O2 -fwrapv -Wall -Iuapi -shared -fPIC \
	selftests/host/fake_module.c -o "$scratch/fake.so" -ldl
check hello__says_the_sum hello
check dot__is_that_of_all_ranks dot
check perf__right_results right
check perf__sizes sizes
check perf__wrong_result_in_place wrong in-place
check perf__wrong_result_out_of_place wrong out-of-place
check perf__checksums_agree checksums
check perf__halo_that_cannot_be_checked halo
check perf__params params
check perf__json json
check perf__osu osu
check train__together train
fails perf__no_collective 2 'which collective' "$perf"
fails perf__other_collective 2 'not served' "$perf" send
fails perf__bad_size 2 '-b: "4X" is not a number of bytes, such as 512' "$perf" allreduce -b 4X
fails perf__bad_number 2 '--timeout: "3s" is not a number' "$perf" allreduce --timeout 3s
fails perf__smallest_is_larger 2 'larger than -e, which is 4194304' "$perf" allreduce -b 8M
fails perf__other_type 2 'f16: not served; .*f64 are' "$perf" allreduce -d f16
fails perf__other_op 2 'prod: not served; .*max are' "$perf" allreduce -o prod
fails perf__bad_param 2 'are channels, r, blocks' "$perf" allreduce --param chunk=3
fails perf__bad_format 2 'table, osu, csv or json' "$perf" allreduce --format xml
fails perf__space_is_no_unit 2 'not a number' "$perf" allreduce -e '4 '
fails perf__large_r 2 'not a number' "$perf" allreduce --param r=4294967295
fails perf__bad_algorithm 2 'not an algorithm: torcoll-plan --list' "$perf" allreduce --algorithm fast
finish
