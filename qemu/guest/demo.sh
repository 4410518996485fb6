#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What "make demo" runs in its guest: a torus of 16 nodes, a benchmark and a training run on it, and in
# the end a verdict in words. Fails if anything shown is not as it should be.

set -uo pipefail
cd "$TORCOLL_TOP" || exit

shape=4x4 nodes=16 steps=${STEPS:-150}
data=lib/examples/data/digits.csv.gz
work=$(mktemp -d)
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

# As netns run prints it: a line of rank R begins with "[R] ". That of rank 0 alone, without.
of_rank_0()
{
	sed -u -n 's/^\[0\] \{0,1\}//p'
}

# Runs a command on every node; shows rank 0, keeps everything in $1.
show_on_all()
{
	local file=$1 begin=${EPOCHREALTIME/[.,]/} code

	shift
	printf '\n  $ torcollctl netns run %s\n' "$*"
	torcollctl netns run "$@" 2>"$file.err" | tee "$file" | of_rank_0 | sed -u 's/^/  /'
	code=$?
	sed 's/^/  ! /' "$file.err"
	printf '  (%s)\n' "$(seconds "$begin")"
	return $code
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

all_succeeded()
{
	((perf_code == 0 && train_code == 0 && single_code == 0))
}

# As torcoll-perf sums it up.
none_wrong()
{
	grep -q '^\[0\] # wrong values: 0 OK' "$work/perf"
}

trap 'rm -rf "$work"' EXIT

text "torcoll: collectives in the kernel, on a torus of direct cables" \
	"This is Linux $(uname -r) in a virtual machine, with $(nproc) processors and all 16 nodes of the" \
	"torus in it. Times are those of an emulated machine: they say nothing about real ones."

heading "1. A torus"
text "Every node is a network namespace, as separate as a host of its own. 32 cables (veth pairs) wire" \
	"them as a $shape torus: each node has a neighbour in either direction of either dimension. There" \
	"is no switch, no bridge and no IP address on them."
show load-module || exit
show torcollctl netns up "$shape" || exit

text "" "Node 0 has found its neighbours by itself:"
show torcollctl netns exec 0 torcollctl fabric show || failed=1
show torcollctl netns exec 0 torcollctl port show || failed=1

heading "2. Allreduce"
text "One process per node. Each submits a vector, the kernels exchange and add up frames until all" \
	"have the sum of all 16 vectors, and only then each process is woken, once. Every result is checked" \
	"against a computed one (#wrong)."
show_on_all "$work/perf" torcoll-perf allreduce -b 8 -e 4M -f 4 -d f32 -o sum -n 5 -w 1
perf_code=$?

heading "3. Training a model on 16 nodes"
text "A classifier of handwritten digits, data-parallel: each node has a sixteenth of the data, and an" \
	"allreduce adds up the gradients in every step."
show_on_all "$work/train" train --data $data --steps "$steps"
train_code=$?

text "" "The same in one process with all the data, without torcoll:"
begin=${EPOCHREALTIME/[.,]/}
printf '\n  $ train --single --data %s --steps %s | tail -n 2\n' $data "$steps"
train --single --data $data --steps "$steps" >"$work/single"
single_code=$?
tail -n 2 "$work/single" | sed 's/^/  /'
printf '  (%s)\n' "$(seconds "$begin")"

heading "4. What came out"
distance=$(curve_distance "$work/train" "$work/single")
checksums "$work/train" >"$work/sums"
count=$(wc -l <"$work/sums")
different=$(awk '{ print $2 }' "$work/sums" | sort -u | wc -l)
text "The last loss was $(last_loss "$work/train") on 16 nodes and $(last_loss "$work/single") in one process; in no step do" \
	"the two differ by more than ${distance:-(nothing to compare)}. Checksums of the weights, as each node" \
	"printed its own:"
sort -n "$work/sums" | awk '
	{ printf "%s%6s %s", NR % 4 == 1 ? "\n  " : "  ", "[" $1 "]", $2 }
	END { print "" }'

verdict "Every program ended well." all_succeeded
verdict "No result of an allreduce was wrong." none_wrong
verdict "The loss curve on 16 nodes is that of one process (to 0.0001)." close_enough "$distance"
verdict "All 16 nodes ended with the same weights, bit for bit." [ "$count/$different" = "$nodes/1" ]

text "" "Taking the torus down."
show torcollctl netns down || failed=1
verdict "Nothing holds the module any more: it unloads." rmmod torcoll

heading "Verdict"
printf '  %s\n' "${verdicts[@]}"
text ""
if ((failed)); then
	text "Something is NOT as it should be. ($(seconds "$start"))"
	exit 1
fi
text "Everything is as it should be. ($(seconds "$start"))" \
	"\"make shell\" leaves you in node 0 of such a torus, to try things yourself."
