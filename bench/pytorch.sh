#!/bin/bash
# SPDX-License-Identifier: MIT
#
# In a guest: dist.all_reduce() by torcoll and by Gloo over the network device, and torcoll without PyTorch, on rings of these
# numbers of nodes: pytorch.sh [NODES]...; BENCH_NETNS="checksum header" and the like for torcollctl netns up, BENCH_SIZES.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../selftests/lib.sh"
cd "$TORCOLL_TOP" || exit
export PYTHONPATH=$PWD/python:$PWD/build/torch PYTHONDONTWRITEBYTECODE=1 OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
(($#)) || set -- 4
read -ra netns <<<"${BENCH_NETNS-}"
read -ra sizes <<<"${BENCH_SIZES:-8 4096 262144 4194304}"
trap ktap_cleanup EXIT

stamps_up
for nodes; do
	torus_up "$nodes" "${patient[@]}" "${netns[@]}"
	ip_up "$nodes" || bail "no network device"
	echo "# $nodes nodes; all ranks share the processor"
	# with registered buffers, and with those that a tensor has
	for how in --in-place "--in-place --plain"; do
		for bytes in "${sizes[@]}"; do
			# shellcheck disable=SC2086 # options
			torcollctl netns run --only 0 --no-prefix torcoll-perf allreduce $how -b $bytes -e $bytes -n "${CALLS:-20}" -w 3 |
				awk -v how="${how##*--}" '/^ *[0-9]/ { print how, $1, $6, "us" }'
		done
	done
	/usr/bin/python3 bench/pytorch.py "$nodes" torcoll gloo -- "${sizes[@]}"
	ktap_cleanup
done
