#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The measuring part of "make bench", in its guest. All that is found goes to $TORCOLL_RESULTS/bench.tsv, a line
# each, separated by tabs:
#
#	about	NAME VALUE
#	raw	NAME VALUE
#	time	SHAPE RIVAL BYTES REPETITION US CALLS WRONG
#	count	SHAPE BYTES FRAMES RETRANSMITS FORWARDED	(torcoll: per call, all nodes)
#	busy	SHAPE RIVAL BYTES BUSY_US SWITCHES		(per call: all processors; rank 0)
#
# and what bench/families.sh says; with BENCH_ICOUNT what bench/work.sh says, and nothing else.

set -uo pipefail
cd "$TORCOLL_TOP" || exit
PATH=$TORCOLL_TOP/build/bench:$PATH

read -ra shapes <<<"${BENCH_SHAPES:-8 4x4 2x2x2}"
read -ra rivals <<<"${BENCH_RIVALS:-torcoll ompi ompi-1 ompi-3 ompi-6 mpich gloo-ring gloo-bcube}"
sizes=(8 64 512 4096 32768 262144 2097152 4194304)
repetitions=${BENCH_REPETITIONS:-3} seconds=${BENCH_SECONDS:-0.4} gro=${BENCH_GRO:-off}
busy_sizes=(8 4096 262144 4194304) busy_seconds=${BENCH_BUSY_SECONDS:-10}

out=$TORCOLL_RESULTS/bench.tsv
work=$(mktemp -d)
failed=0

say()
{
	printf '%2d:%02d  %s\n' $((SECONDS / 60)) $((SECONDS % 60)) "$*"
}

complain()
{
	say "$@"
	failed=1
}

record()
{
	local IFS=$'\t'

	echo "$*" >>"$out"
}

# ---- the torus ----

nodes_of()
{
	echo $((${1//x/*}))
}

devices_of()
{
	ip -n "tor-$1" -br link show type veth | cut -d@ -f1
}

# torus_up SHAPE [ARGUMENT]...: one frame at a time on every wire, for everybody.
torus_up()
{
	local n dev

	nodes=$(nodes_of "$1")
	torcollctl netns up "$@" >/dev/null || return
	for ((n = 0; n < nodes; n++)); do
		for dev in $(devices_of $n); do
			ip netns exec "tor-$n" ethtool -K "$dev" tso off gso off gro "$gro" tx off rx off \
				>/dev/null || return
		done
	done
	bench/routes "$1" || return
	for ((n = 0; n < nodes; n++)); do
		echo "10.9.0.$((n + 1)) node$n"
	done >"$work/hosts"
	cat "$work/hosts" >>/etc/hosts
}

# ---- rivals: run RIVAL SECONDS BYTES... prints what bench_print() does ----

hosts()
{
	local n list=""

	for ((n = 0; n < nodes; n++)); do
		list+=,node$n$1
	done
	echo "${list#,}"
}

run_torcoll()
{
	torcollctl netns run --no-prefix torcoll_allreduce "$@"
}

# run_ompi ALGORITHM|torcoll SECONDS BYTES...: with the component that is in build/mpi/, or without it
run_ompi()
{
	local tuned=()

	if [[ $1 == torcoll ]]; then
		tuned=(--mca mca_base_component_path
		       "$PWD/build/mpi:$(ompi_info --path pkglibdir --parsable | cut -d : -f 3)"
		       --mca coll_torcoll_enable 1)
	elif (($1 != 0)); then
		tuned=(--mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_allreduce_algorithm "$1")
	fi
	shift
	OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 bench/peers/rsh node0 \
		mpirun.openmpi --host "$(hosts :1)" -n "$nodes" --bind-to none \
		--mca plm_rsh_agent "$PWD/bench/peers/rsh" --mca plm_rsh_no_tree_spawn 1 \
		--mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include 10.9.0.0/24 \
		--mca oob_tcp_if_include 10.9.0.0/24 --mca mpi_yield_when_idle 1 "${tuned[@]}" \
		"$PWD/build/bench/openmpi_allreduce" "$@"
}

# run_mpich LIBRARY SECONDS BYTES...: with a library before MPICH, or an empty word
run_mpich()
{
	local library=$1

	shift
	bench/peers/rsh node0 env UCX_TLS=tcp,self UCX_NET_DEVICES=node BENCH_NO_FINALIZE=1 \
		mpirun.mpich -launcher ssh -launcher-exec "$PWD/bench/peers/rsh" -hosts "$(hosts '')" \
		-n "$nodes" env LD_PRELOAD="$library:$PWD/build/bench/yield.so" \
		"$PWD/build/bench/mpich_allreduce" "$@"
}

# run_gloo ring|bcube SECONDS BYTES...
run_gloo()
{
	local algorithm=$1

	shift
	rm -rf "$work/store"
	mkdir "$work/store"
	# shellcheck disable=SC2016 # expanded on each node
	torcollctl netns run --no-prefix bash -c \
		'exec gloo_allreduce "$0" 10.9.0.$((TORCOLL_RANK + 1)) "$@"' \
		"$algorithm" "$work/store" "$@"
}

run()
{
	local rival=$1

	shift
	case $rival in
	torcoll*)	run_torcoll "$@" ;;
	ompi)		run_ompi 0 "$@" ;;
	ompi-*)		run_ompi "${rival#ompi-}" "$@" ;;
	mpich)		run_mpich "" "$@" ;;
	mpich-torcoll)	run_mpich "$PWD/build/mpi/libtorcoll-mpi.so" "$@" ;;
	gloo-*)		run_gloo "${rival#gloo-}" "$@" ;;
	*)		complain "no rival $rival"; return 1 ;;
	esac
}

# shellcheck source=bench/families.sh
. bench/families.sh
# shellcheck source=bench/work.sh
. bench/work.sh

# ---- measuring ----

# time_rival SHAPE RIVAL REPETITION
time_rival()
{
	local bytes us calls wrong busy switches lines=0

	while read -r bytes us calls wrong busy switches; do
		record time "$1" "$2" "$bytes" "$3" "$us" "$calls" "$wrong"
		((wrong == 0)) || complain "$1 $2 $bytes bytes: $wrong wrong elements"
		lines=$((lines + 1))
	done < <(run_limited "$2" "$seconds" "${sizes[@]}" | grep -E '^[0-9]+ [0-9.]+ [0-9]+ ')
	((lines == ${#sizes[@]})) || complain "$1 $2: measured $lines of ${#sizes[@]} sizes"
}

# A rival that hangs must not take the others' time: what it started is in its own session.
run_limited()
{
	export -f run run_torcoll run_ompi run_mpich run_gloo hosts complain say
	export work nodes
	timeout -k 5 120 bash -c 'run "$@"' run "$@" 2>>"$TORCOLL_RESULTS/bench.err"
}

# Which peer of those measured was the fastest at that size (the median of its repetitions).
best_peer()
{
	awk -F '\t' -v shape="$1" -v bytes="$2" '
		$1 == "time" && $2 == shape && $4 == bytes && $3 !~ /torcoll/ && !($3 in us && us[$3] < $6) {
			us[$3] = $6
		}
		END {
			for (r in us)
				if (best == "" || us[r] < us[best])
					best = r
			print best
		}' "$out"
}

time_busy()
{
	local shape=$1 bytes rival us calls wrong busy switches

	for bytes in "${busy_sizes[@]}"; do
		for rival in torcoll "$(best_peer "$shape" "$bytes")"; do
			[[ -n $rival ]] || continue
			say "$shape: busy time of $rival at $bytes bytes"
			read -r _ us calls wrong busy switches < \
				<(run_limited "$rival" "$busy_seconds" "$bytes" | grep '^[0-9]') || continue
			record busy "$shape" "$rival" "$bytes" "$busy" "$switches"
		done
	done
}

count_frames()
{
	torcollctl netns run --no-prefix torcoll-perf allreduce --out-of-place --format json --stats \
		--counts "$(printf '%s,' "${sizes[@]}" | awk -F, -v OFS=, '{ for (i = 1; i < NF; i++) $i /= 4; NF--; print }')" \
		-w 1 -n 5 | jq -r --arg shape "$1" \
		'["count", $shape, .bytes, .frames, .retransmits, .forwarded] | @tsv' >>"$out"
}

# What wires and processors can do, on a ring of which three nodes are used.
measure_raw()
{
	local name value median direct two

	say "raw limits"
	torus_up 5 || { complain "raw limits: no torus"; return; }
	while read -r name value; do
		record raw "$name" "$value"
	done < <(rates 0.5)
	for bytes in 64 8192; do
		read -r value median < <(raw pingpong tor-0 d0p tor-1 d0m $bytes 3)
		record raw "pingpong_min_$bytes" "$value"
		record raw "pingpong_$bytes" "$median"
		record raw "packet_$bytes" "$(raw flood tor-0 d0p tor-1 d0m $bytes 4)"
		direct=$(raw udp tor-0 tor-1 10.9.0.2 $bytes 4)
		two=$(raw udp tor-0 tor-2 10.9.0.3 $bytes 4)
		record raw "ip_forward_$bytes" "$(awk -v a="$two" -v b="$direct" 'BEGIN { printf "%.2f", a - b }')"
	done
	torcollctl netns down >/dev/null
}

bench_shape()
{
	local shape=$1 rival r

	say "$shape: wiring"
	torus_up "$shape" || { complain "$shape: no torus"; return; }
	# beside its rivals as it comes
	for ((r = 1; r <= repetitions; r++)); do
		for rival in "${rivals[@]}"; do
			say "$shape: $rival, repetition $r of $repetitions"
			time_rival "$shape" "$rival" $r
		done
	done
	count_frames "$shape"
	((busy_seconds == 0)) || time_busy "$shape"
	tune_shape "$shape"
	bench_families "$shape"
	torcollctl netns down >/dev/null

	say "$shape: torcoll with checksum header"
	torus_up "$shape" checksum header || { complain "$shape: no torus"; return; }
	for ((r = 1; r <= repetitions; r++)); do
		time_rival "$shape" torcoll-header $r
	done
	torcollctl netns down >/dev/null
}

trap 'rm -rf "$work"' EXIT
rm -f "$out" "$TORCOLL_RESULTS"/{bench.err,tune.txt,insns.*}
record about kernel "$(uname -r)"
record about processor "$(sed -n 's/^model name.*: //p;T;q' /proc/cpuinfo) x $(nproc)"
record about hypervisor "$(sed -n 's/.*\(hypervisor\).*/yes/p;T;q' /proc/cpuinfo)"
record about mtu 9000
record about gro "$gro"
sysctl -qw net.core.netdev_max_backlog=10000
load-module || exit
[[ -n ${BENCH_ICOUNT-} ]] || measure_raw
for shape in "${shapes[@]}"; do
	if [[ -n ${BENCH_ICOUNT-} ]]; then
		bench_work "$shape"
	else
		bench_shape "$shape"
	fi
done
rmmod torcoll || complain "the module does not unload"
say "measured"
exit $failed
