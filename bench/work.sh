# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# The part of bench/guest.sh for "make bench ICOUNT=1": what a call takes of the processor, in instructions of all ranks
# and of the kernel, which bench/profile/insns.c counts while rank 0 is in its timed calls. A line each to bench.tsv:
#
#	work	SHAPE RIVAL BYTES KERNEL USER POLLS CALLS	(per call; CALLS were counted)
#
# Who waits by polling spends instructions on that, too: on one processor those are what the others left over until their
# turn came. POLLS are the system calls that polls and yields make.

read -ra work_sizes <<<"${BENCH_SIZES:-8 4096 262144 1048576}"
read -ra work_netns <<<"${BENCH_NETNS:-}"
read -ra work_rivals <<<"${BENCH_RIVALS:-torcoll ompi ompi-3 gloo-ring gloo-bcube}"

# Addresses of the functions that polls and yields go through.
poll_addresses()
{
	awk '$3 ~ /^__x64_sys_(epoll_wait|poll|ppoll|select|sched_yield)$/ { print $1 }' /proc/kallsyms | paste -sd '|'
}

# work_of FILE CALLS: kernel, user, polls per call, tabs between. POLLS counts first instructions of functions.
work_of()
{
	awk -v calls="$2" -v polls="^($poll_entries)\$" '
		$1 == "user" { user = $2; next }
		{ kernel += $2 }
		$1 ~ polls { n += $2 }
		END { printf "%.0f\t%.0f\t%.1f", kernel / calls, user / calls, n / calls }' "$1"
}

# work_of_rival SHAPE RIVAL: each size has a stretch of warming up, and one that counts.
work_of_rival()
{
	local bytes calls wrong size=0 first

	first=$(find "$TORCOLL_RESULTS" -name 'insns.*' | wc -l)
	while read -r bytes _ calls wrong _; do
		size=$((size + 1))
		((wrong == 0)) || complain "$1 $2 $bytes bytes: $wrong wrong elements"
		record work "$1" "$2" "$bytes" \
			"$(work_of "$TORCOLL_RESULTS/insns.$((first + 2 * size))" "$calls")" "$calls"
	done < <(run_limited "$2" "${BENCH_SECONDS:-0.02}" "${work_sizes[@]}" | grep -E '^[0-9]+ [0-9.]+ [0-9]+ ')
	((size == ${#work_sizes[@]})) || complain "$1 $2: measured $size of ${#work_sizes[@]} sizes"
}

bench_work()
{
	local rival

	poll_entries=$(poll_addresses)
	# so that bench/profile/report can say where they went
	cat /proc/kallsyms >"$TORCOLL_RESULTS/kallsyms"
	say "$1: wiring"
	torus_up "$1" "${work_netns[@]}" || { complain "$1: no torus"; return; }
	for rival in "${work_rivals[@]}"; do
		say "$1: instructions of $rival"
		work_of_rival "$1" "$rival"
	done
	torcollctl netns down >/dev/null
}
