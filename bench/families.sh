# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # what guest.sh sets
#
# Is `auto` right? The part of bench/guest.sh that runs torcoll's own families against it, one after the other and
# that several times over, so that whatever else the machine does meets all alike:
#
#	tune	SHAPE NAME VALUE
#	family	SHAPE ALGORITHM BYTES REPETITION US	(auto among them)
#	predict	SHAPE ALGORITHM BYTES US TAKEN		(1: what auto takes)

read -ra families <<<"${BENCH_FAMILIES:-auto tree ring bucket bibucket swing-bw trivance-bw recdoub-lat general}"

# What the shape's nodes, and this machine, take for what. All later comms choose by it.
tune_shape()
{
	local name value

	say "$1: tune"
	torcollctl netns run --no-prefix torcollctl tune run save "$work/rates" \
		>>"$TORCOLL_RESULTS/tune.txt" 2>>"$TORCOLL_RESULTS/bench.err" ||
		{ complain "$1: tune failed"; return; }
	while read -r name value; do
		[[ $name == \#* ]] || record tune "$1" "$name" "$value"
	done <"$work/rates"
}

# time_family SHAPE ALGORITHM REPETITION
time_family()
{
	local bytes us rest lines=0

	while read -r bytes us rest; do
		record family "$1" "$2" "$bytes" "$3" "$us"
		lines=$((lines + 1))
	done < <(TORCOLL_ALGO=allreduce:$2 run_limited torcoll "$seconds" "${sizes[@]}" |
		 grep -E '^[0-9]+ [0-9.]+ [0-9]+ ')
	((lines == ${#sizes[@]})) || complain "$1 $2: measured $lines of ${#sizes[@]} sizes"
}

predict()
{
	local bytes

	for bytes in "${sizes[@]}"; do
		torcollctl netns exec 0 torcollctl -j explain allreduce "$bytes" |
			jq -r --arg shape "$1" --arg bytes "$bytes" 'to_entries[] |
				["predict", $shape, .value.algorithm, $bytes, .value.predicted_ns / 1000,
				 if .key == 0 then 1 else 0 end] | @tsv' >>"$out"
	done
}

# bench_families SHAPE: of a torus that is up
bench_families()
{
	local family r

	for ((r = 1; r <= repetitions; r++)); do
		for family in "${families[@]}"; do
			say "$1: $family, repetition $r of $repetitions"
			time_family "$1" "$family" $r
		done
	done
	predict "$1"
}
