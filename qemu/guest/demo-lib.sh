# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034,SC2154
#
# What the demos of one guest and of many share: showing commands, reading what programs printed, and
# verdicts in words. Sourced, never run, by what sets nodes, steps and work (a folder).

data=lib/examples/data/digits.csv.gz
verdicts=() failed=0
start=${EPOCHREALTIME/[.,]/}

seconds()
{
	local us=$((${EPOCHREALTIME/[.,]/} - $1))

	printf '%d.%d s' $((us / 1000000)) $((us % 1000000 / 100000))
}

heading()
{
	local line

	line=$(printf '%*s' "${#1}" '')
	printf '\n%s\n%s\n' "$1" "${line// /-}"
}

text()
{
	printf '%s\n' "$@"
}

# The command as one would type it, its output indented, its time.
show()
{
	local begin=${EPOCHREALTIME/[.,]/} code

	printf '\n  $ %s\n' "$*"
	"$@" 2>&1 | sed -u 's/^/  /'
	code=$?
	printf '  (%s)\n' "$(seconds "$begin")"
	return $code
}

# verdict SENTENCE COMMAND...: what was claimed, and whether the command confirms it.
verdict()
{
	local sentence=$1

	shift
	if "$@"; then
		verdicts+=("yes  $sentence")
	else
		verdicts+=("NO   $sentence")
		failed=1
	fi
}

losses()
{
	sed -nE 's/^(\[0\] )?step ([0-9]+) loss ([0-9.]+).*/\2 \3/p' "$1"
}

last_loss()
{
	local loss

	loss=$(losses "$1" | tail -n 1 | cut -d' ' -f2)
	echo "${loss:-unknown}"
}

checksums()
{
	sed -nE 's/^(\[[0-9]+\] )?rank ([0-9]+) weights ([0-9a-f]+).*/\2 \3/p' "$1" | sort -u
}

# The greatest distance of two loss curves; nothing if they have not the same steps, or none.
curve_distance()
{
	join <(losses "$1" | sort) <(losses "$2" | sort) | awk -v n="$(losses "$1" | wc -l)" \
		-v m="$(losses "$2" | wc -l)" '
		{ d = $2 > $3 ? $2 - $3 : $3 - $2; if (d > max) max = d }
		END { if (NR && NR == n && NR == m) printf "%.6f\n", max }'
}

close_enough()
{
	[[ -n $1 ]] && awk -v d="$1" 'BEGIN { exit !(d <= 1e-4) }'
}

# As torcoll-perf sums it up.
none_wrong()
{
	grep -qE '^(\[0\] )?# wrong values: 0 OK' "$work/perf"
}

# The reference for training: one process with all the data, into $work/single.
train_single()
{
	local begin=${EPOCHREALTIME/[.,]/} code

	printf '\n  $ train --single --data %s --steps %s\n' $data "$steps"
	train --single --data $data --steps "$steps" | tee "$work/single" | sed -u 's/^/  /'
	code=$?
	printf '  (%s)\n' "$(seconds "$begin")"
	return $code
}

# compare NAME NODES: what training on so many nodes, in $work/NAME, and by one process came to. Sets distance, and
# sums: number and kinds of the checksums.
compare()
{
	local count different

	distance=$(curve_distance "$work/$1" "$work/single")
	checksums "$work/$1" >"$work/sums"
	count=$(wc -l <"$work/sums")
	different=$(awk '{ print $2 }' "$work/sums" | sort -u | wc -l)
	sums=$count/$different
	text "The last loss was $(last_loss "$work/$1") on $2 nodes and $(last_loss "$work/single") in one process; in no step do" \
		"the two differ by more than ${distance:-(nothing to compare)}. Checksums of the weights, as each node" \
		"printed its own:"
	sort -n "$work/sums" | awk '
		{ printf "%s%6s %s", NR % 4 == 1 ? "\n  " : "  ", "[" $1 "]", $2 }
		END { print "" }'
}

# Verdicts on training in $work/train.
compare_training()
{
	compare train "$nodes"
	verdict "Every program ended well." all_succeeded
	verdict "No result of an allreduce was wrong." none_wrong
	verdict "The loss curve on $nodes nodes is that of one process (to 0.0001)." close_enough "$distance"
	verdict "All $nodes nodes ended with the same weights, bit for bit." [ "$sums" = "$nodes/1" ]
}

# The last words; $1: what else to try.
conclude()
{
	heading "Verdict"
	printf '  %s\n' "${verdicts[@]}"
	text ""
	if ((failed)); then
		text "Something is NOT as it should be. ($(seconds "$start"))"
		return 1
	fi
	text "Everything is as it should be. ($(seconds "$start"))" "$@"
}
