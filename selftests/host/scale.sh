#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# timeout: 300
#
# Fabrics of many nodes begin and lose a cable without a frame that goes round in circles or finds no
# route. Larger ones, and more seeds: make check-scale.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit

sim=build/bin/torcoll-sim
scratch=$(mktemp -d)
ktap_cleanups+=("rm -rf '$scratch'")

# cut_under_way SHAPE NODES PORTS: cables lose their carrier while an allreduce is under way.
cut_under_way()
{
	local shape=$1 nodes=$2 ports=$3 k

	for k in 1 2 3 4 5 6; do
		cat >"$scratch/cut" <<-END
			torcoll-sim/1 $shape
			with seed=$k cables=2 frame_size=1500 delay=735 rate=10000 queue=65536 hello=200000000
			comm ranks=$nodes whole=1 depth=1 pace=300000000
			call collective=allreduce algorithm=swing-bw type=f32 redop=max bits=1 count=65536
			call collective=allreduce algorithm=swing-bw type=f32 redop=max bits=1 count=65536 input=1
			incident kind=cut node=$((k * 7 % nodes)) port=$((k % ports)) at=$((300050000 + k * 60000)) carrier=1
		END
		"$sim" --scenario "$scratch/cut" >"$scratch/log" || return
		awk '/^frames of / { on = 1; next } on && NF != 6 { exit } on { lost += $5 + $6; data += /^data/ } END { exit lost || !data }' \
			"$scratch/log" || return
	done
}

ktap_header
check start__8x8_and_16x16 selftests/scale/run 3 8x8 16x16
check cut__nothing_in_circles_on_8 cut_under_way 8 8 2
check cut__nothing_in_circles_on_8x8 cut_under_way 8x8 64 4
check cut__nothing_in_circles_on_4x4x4 cut_under_way 4x4x4 64 6
finish
