#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# What chunks are for: while one waits for the end of a round, others keep cables and processors busy. On a simulated 4x4,
# cables of 5 us and of 1, 10 or 25 Gb/s, nodes that take 800 ns for a frame and 0.1 ns for each byte of it: the time of an
# allreduce by `bibucket`, in virtual time, which is the same in every run.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit
ktap_header

work=$(mktemp -d)
cleanup rm -rf "$work"

# took BYTES RATE CHUNKS: us from the last rank's call to the last rank's result.
took()
{
	cat >"$work/scenario" <<-EOF
		torcoll-sim/1 4x4
		with seed=5 cables=2 frame_size=9000 delay=5000 rate=$2 queue=65536 hello=2000000
		comm ranks=16 whole=1 depth=1
		call collective=allreduce algorithm=bibucket type=f32 redop=sum bits=1 chunks=$3 count=$(($1 / 4))
	EOF
	build/bin/torcoll-sim --scenario "$work/scenario" --trace >"$work/trace" || return
	awk '/submits op 1/ { start = $1 } /op 1 .*is done/ { end = $1 } END { printf "%.1f\n", end - start }' "$work/trace"
}

declare -A us
for rate in 1000 10000 25000; do
	for chunks in 1 2 4; do
		us[$rate,$chunks]=$(took $((4 << 20)) $rate $chunks)
	done
	diag "4 MiB, $rate Mb/s: ${us[$rate,1]} us, two chunks ${us[$rate,2]}, four ${us[$rate,4]}"
done

# shorter RATE CHUNKS LIMIT: of the time without chunks, at most that share.
shorter()
{
	check "chunks$2__at_$1_mbps" awk -v with="${us[$1,$2]}" -v without="${us[$1,1]}" -v limit="$3" \
		'BEGIN { exit !(without > 0 && with <= limit * without) }'
}

shorter 1000 4 0.92
shorter 10000 2 0.87
shorter 10000 4 0.83
shorter 25000 4 0.87

finish
