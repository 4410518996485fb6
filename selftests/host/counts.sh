#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# What core takes for an allreduce, counted on a simulated fabric without faults: frames, acknowledgements, allocations
# and FPU sections per op, all nodes together, once ops follow each other. Data frames are those of the plan, exactly.
# What the kernel adds is counted in guests: copies and wake-ups in net/zerocopy, what a node between others
# does in net/forward. And the time that it takes where links are slow, against its cost.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit
ktap_header

unit=8896	# payload bytes of a frame of 9000
work=$(mktemp -d)
cleanup rm -rf "$work"

# simulated SHAPE ALGORITHM COUNT OPS: the simulator's table.
simulated()
{
	build/bin/torcoll-sim --clean --seeds 1 --cables 1 --dims "$1" --collective allreduce --algorithm "$2" --type f32 \
		--redop sum --count "$3" --ops "$4" --depth 4 --frame-size 9000 --packets 0
}

# per_op SHAPE ALGORITHM COUNT: "NAME NUMBER" lines; what 20 ops more take, by 20.
per_op()
{
	simulated "$1" "$2" "$3" 10 >"$work/10" && simulated "$1" "$2" "$3" 30 >"$work/30" || return
	sed -i 's/^FPU sections/fpu_sections/; s/^ops /ops_called /; 0,/^ops_called /s//ops /' "$work/10" "$work/30"
	awk 'FNR == NR { n[$1] = $2; next } NF == 2 && $2 ~ /^[0-9]+$/ { print $1, ($2 - n[$1]) / 20 }' \
		"$work/10" "$work/30"
}

value()
{
	awk -v name="$1" '$1 == name { n = $2 } END { print n + 0 }' "$work/counts"
}

# Frames of all messages of a plan, f32.
planned()
{
	build/bin/torcoll-plan --dims "$1" --cables 1 --collective allreduce --algorithm "$2" --count "$3" |
		jq -r 'select(.t != null and .src != .dst) | "\(.ch)/\(.t)/\(.src)/\(.dst) \(.n)"' |
		awk -v unit=$unit '{ n[$1] += $2 * 4 } END { for (m in n) f += int((n[m] + unit - 1) / unit); print f }'
}

# at_most NAME GOT LIMIT
at_most()
{
	check "$1" awk -v got="$2" -v limit="$3" 'BEGIN { exit !(got <= limit) }' || diag "$2, at most $3"
}

# counts SHAPE ALGORITHM COUNT RANKS ACKS COPIES FPU: at most so many of each; copies of messages of one frame, but for short
# ones, which records have room for.
counts()
{
	local name=$1_$2_$3 data copies

	per_op "$1" "$2" "$3" >"$work/counts"
	is "${name}__ops_done" "$(value ops)" "$4"
	data=$(awk '{ n[$1] = $2 } END { print n["tx_frames"] - n["tx_acks"] }' "$work/counts")
	diag "$name: $data data frames, $(value tx_acks) acks, $(value rx_early) kept" \
		"$(value allocations) allocations, $(value fpu_sections) FPU sections"
	is "${name}__data_frames_are_the_plan's" "$data" "$(planned "$1" "$2" "$3")"
	is "${name}__nothing_sent_again" "$(value tx_retransmits) $(value tx_timeouts) $(value tx_probes)" "0 0 0"
	at_most "${name}__acks" "$(value tx_acks)" "$5"
	copies=$(awk '{ n[$1] = $2 } END { print n["allocations"] - n["rx_early"] }' "$work/counts")
	at_most "${name}__allocations" "$copies" "$6"
	at_most "${name}__fpu_sections" "$(value fpu_sections)" "$7"
}

# within_a_tenth TOOK DELAY RATE BYTES: of what the cost says, TOOK in ms, DELAY in ns, RATE in Mbit/s.
within_a_tenth()
{
	# shellcheck disable=SC2016
	awk -v took="$1" -v delay="$2" -v rate="$3" -v bytes="$4" -v unit="$unit" '
		{ cost[$1] = $2 }
		END {
			frame = 9038 * 8000 / rate
			want = cost["W"] * bytes / unit * frame
			want += cost["hops"] * delay + (cost["hops"] - cost["rounds"]) * frame
			printf "%.3f of %.3f ms\n", took, want / 1e6
			exit !(took * 1e6 > 0.9 * want && took * 1e6 < 1.1 * want)
		}' "$work/cost"
}

# times SHAPE ALGORITHM...: with links so slow that they are all that takes time, an op takes what its cost says, within a tenth:
# W vectors over a cable, and the delay of each hop. Those that are named here do, and stay so; others deviate by up to half, on
# tori as well: the cost does not know of rounds that are not in step, nor of acknowledgements that wait behind data.
times()
{
	local shape=$1 algorithm count=480000 seed=8 delay rate took

	read -r delay rate < <(build/bin/torcoll-sim --clean --seeds 1 --first "$seed" --dims "$shape" --show |
		sed -n 's/.* delay=\([0-9]*\) rate=\([0-9]*\) .*/\1 \2/p')
	for algorithm in "${@:2}"; do
		took=$(build/bin/torcoll-sim --clean --seeds 1 --first "$seed" --cables 1 --dims "$shape" \
			--collective allreduce --algorithm "$algorithm" --type f32 --redop sum --count $count --ops 1 --depth 1 \
			--frame-size 9000 --packets 0 | sed -n 's/^slowest op *\([0-9.]*\) ms.*/\1/p')
		build/bin/torcoll-plan --dims "$shape" --cables 1 -a "$algorithm" -n $count --cost >"$work/cost"
		check "${shape}_${algorithm}__takes_what_it_costs" \
			within_a_tenth "${took:-0}" "${delay:-0}" "${rate:-1}" $((count * 4))
	done
}

# summed FRAME: bytes that are summed in an allgather whose messages are of three frames of 64 KiB, or more of that size.
summed()
{
	build/bin/torcoll-sim --clean --seeds 1 --cables 1 --dims 8 --collective allgather --algorithm bucket --type f32 \
		--count 524288 --ops 1 --depth 1 --frame-size "$1" --packets 0 | sed -n 's/^bytes summed *\([0-9]*\).*/\1/p'
}

# What is sent on is not summed again, however few frames it is.
sums_of_few_frames()
{
	local large small

	large=$(summed 65520) small=$(summed 9000)
	echo "$large of 64 KiB, $small of 9000 bytes"
	((large > 0 && large <= small))
}

# neighbours that talk all the time carry each other's acknowledgements
counts 8 flood 2 8 32 0 16
counts 8 recdoub-lat 2 8 24 0 48
counts 8 bibucket 65536 8 160 8 224
counts 4x4 swing-lat 2 16 64 0 128
counts 4x4 swing-bw 65536 16 320 256 512
times 4 swing-lat recdoub-lat bruck-bw window flood tree
times 4:mesh swing-bw swing-lat trivance-bw circulant general ring bucket bibucket recdoub-lat recdoub-bw recdoub-bw-mirrored \
	bruck-bw window flood tree direct
times 3:line trivance-lat bruck-lat window flood tree moore allport
times 5x3:line trivance-bw circulant general bibucket bruck-bw tree direct
times 4:meshx4 swing-lat recdoub-lat tree
times 5+2 layers
times 8+3 flood
times 13+5 tree
check summed__as_few_of_large_frames sums_of_few_frames
finish
