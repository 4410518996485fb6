#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# timeout: 1800
#
# The simulator for another architecture, emulated: whole fabrics of core. Where the byte order is the same, so is all that
# happens, to the last bit of every sum.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit

# shellcheck disable=SC2153 # by selftests/run
read -ra emulator <<<"$EMULATOR"
sim=("${emulator[@]}" "$EMULATED/bin/torcoll-sim")

# trace_sum SEED COMMAND...
trace_sum()
{
	"${@:2}" --first "$1" --trace | sha256sum
}

same_as_here()
{
	local seed

	for seed in {1..12}; do
		[[ $(trace_sum "$seed" "${sim[@]}") == "$(trace_sum "$seed" build/bin/torcoll-sim)" ]] || return
	done
}

ktap_header
check faults__40_seeds "${sim[@]}" --seeds 40 --jobs 2
check clean__nothing_sent_twice "${sim[@]}" --clean --first 100 --seeds 10 --jobs 2
for type in f16 bf16 f32 f64; do
	check "${type}__sums" "${sim[@]}" --clean --dims 4x4 --collective allreduce --type $type --redop sum --count 4097 --ops 2
done
if [[ $EMULATED == */s390x ]]; then
	skip same__as_here "payloads are in the other byte order"
else
	check same__as_here same_as_here
fi
finish
