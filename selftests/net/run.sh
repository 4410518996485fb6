#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# processors: 2
#
# Programs started on all nodes: by torcollrun, and as the launchers of others start them, which is played by their
# variables. A rank that never joins costs the others no 120 s; ranks are the launcher's wherever it has put them.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

work=$(mktemp -d)
cleanup rm -rf "$work"
torus_up 2x2 "${patient[@]}"

# says_hello RANKS COMMAND...: every rank says the sum of all.
says_hello()
{
	local n=$1 r

	shift
	"$@" >"$work/out" || return
	for ((r = 0; r < n; r++)); do
		grep -q "Hello from rank $r of $n: the ranks sum up to $((n * (n - 1) / 2))$" "$work/out" || return
	done
	(($(grep -c Hello "$work/out") == n))
}

perf_is_right()
{
	torcollrun --netns "$@" torcoll-perf allreduce -b 4 -e 64K -f 64 -n 2 -w 1 >"$work/out" &&
		grep -q 'wrong values: 0 OK' "$work/out"
}

# dies_before_joining CODE SENTENCE DEATH: rank 2 never joins; all are gone long before joining is given up, after 120 s.
dies_before_joining()
{
	local code start=$SECONDS

	# shellcheck disable=SC2016
	torcollrun --netns bash -c '[[ $TORCOLL_RANK != 2 ]] || '"$3"'; exec hello' >"$work/out" 2>&1
	code=$?
	cat "$work/out"
	((code == $1 && SECONDS - start < 90 * TORCOLL_SLOW)) &&
		grep -q "^torcollrun: rank 2 on tor-2 (node 2) $2; the other ranks are ended$" "$work/out" &&
		! pidof hello
}

# launch "NODE VARIABLES"... -- COMMAND...: a process for each; output in $work/R, exit code: the first one's that is not 0.
launch()
{
	local places=() pids=() code=0 r variables

	while [[ $1 != -- ]]; do
		places+=("$1")
		shift
	done
	shift
	rm -f "$work"/[0-9]*
	for r in "${!places[@]}"; do
		read -ra variables <<<"${places[r]#* }"
		torcollctl netns exec "${places[r]%% *}" env "${variables[@]}" timeout $((60 * TORCOLL_SLOW)) "$@" >"$work/$r" 2>&1 &
		pids+=($!)
	done
	for r in "${pids[@]}"; do
		wait "$r" || ((code)) || code=$?
	done
	cat "$work"/[0-9]*
	return "$code"
}

# openmpi JOB NODE...: rank i on the i-th of these.
openmpi()
{
	local job=$1 nodes=("${@:2}") r

	places=()
	for r in "${!nodes[@]}"; do
		places+=("${nodes[r]} PMIX_NAMESPACE=$job OMPI_COMM_WORLD_RANK=$r OMPI_COMM_WORLD_SIZE=${#nodes[@]} OMPI_COMM_WORLD_LOCAL_RANK=0 OMPI_COMM_WORLD_LOCAL_SIZE=1")
	done
}

# Eight tasks, dealt out to the nodes in turns.
slurm_cyclic()
{
	local r

	places=()
	for ((r = 0; r < 8; r++)); do
		places+=("$((r % 4)) SLURM_JOB_ID=9 SLURM_STEP_ID=0 SLURM_PROCID=$r SLURM_NTASKS=8 SLURM_LOCALID=$((r / 4)) SLURM_TASKS_PER_NODE=2(x4)")
	done
}

# Eight processes, two on each node in a row.
mpich_in_rows()
{
	local r

	places=()
	for ((r = 0; r < 8; r++)); do
		places+=("$((r / 2)) PMI_RANK=$r PMI_SIZE=8 MPI_LOCALRANKID=$((r % 2)) MPI_LOCALNRANKS=2")
	done
}

# The rank that a process prints is the launcher's.
own_ranks()
{
	local r

	for r in "${!places[@]}"; do
		grep -q "^Hello from rank $r of" "$work/$r" || return
	done
}

launched_hello()
{
	says_hello "${#places[@]}" launch "${places[@]}" -- hello && own_ranks
}

# Each job sums up its own ranks alone.
two_jobs_at_once()
{
	local first

	openmpi 1 0 1 2 3
	first=("${places[@]}")
	openmpi 2 3 2 1 0
	launch "${first[@]}" "${places[@]}" -- hello >"$work/out" &&
		(($(grep -c 'rank [0-3] of 4: the ranks sum up to 6$' "$work/out") == 8))
}

check torcollrun__hello says_hello 4 torcollrun --netns hello
check torcollrun__several_on_a_node says_hello 8 torcollrun --netns --ppn 2 hello
check torcollrun__some_nodes says_hello 2 torcollrun --netns --nodes 3,1 hello
check torcollrun__perf perf_is_right
check torcollrun__exit_before_joining dies_before_joining 4 'ended with exit status 4' 'exit 4'
# shellcheck disable=SC2016
check torcollrun__killed_before_joining dies_before_joining 139 'was killed by SIGSEGV' 'kill -SEGV $$'

openmpi 1 0 1 2 3
check openmpi__in_order launched_hello
openmpi 2 2 0 3 1
check openmpi__another_order launched_hello
openmpi 3 2
check openmpi__one_rank launched_hello
mpich_in_rows
check mpich__in_rows launched_hello
slurm_cyclic
check slurm__cyclic launched_hello
check jobs__two_at_once two_jobs_at_once
openmpi 4 2 3
fails openmpi__not_the_first_nodes any 'this is node [23]: list the node of each rank in TORCOLL_MEMBERS' \
	launch "${places[@]}" -- hello
places=("${places[@]/%/ TORCOLL_MEMBERS=2,3}")
check openmpi__with_members launched_hello
places=("${places[@]/%2,3/3,2}")
fails openmpi__with_wrong_members any 'TORCOLL_MEMBERS puts rank 0 on node 3, and this is node 2' \
	launch "${places[@]}" -- hello
eventually end__nothing_charged 20 nothing_charged
finish
