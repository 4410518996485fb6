#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 700
#
# A host dies in the middle of an allreduce: its kernel is gone from one instruction to the next. The others hear of
# it, shrink the comm, and go on with right results.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit

# What each guest runs; node 3 resets its machine once some steps are done.
job()
{
	cat <<-'EOF'
		ops() { torcollctl -j stats | jq '.[0].counters.ops // 0'; }
		if ((TORCOLL_NODE == 3)); then
			survive --steps 1000000 --count 131072 &
			until (($(ops) >= 5)); do sleep 0.05; done
			echo 1 >/proc/sys/kernel/sysrq
			echo b >/proc/sysrq-trigger
			sleep 60
		fi
		survive --steps 60 --count 131072 >"$TORCOLL_RESULTS/node-$TORCOLL_NODE/said" 2>&1
	EOF
}

host_dies()
{
	qemu/torus --timeout 400 --results "$work" --logs build/log/check/vms/killed --lose 3 2x2 bash -c "$(job)"
}

# said PATTERN: all that are left.
said()
{
	local n

	for n in 0 1 2; do
		grep -qE "$1" "$work/node-$n/said" || { cat "$work/node-$n/said"; return 1; }
	done
}

work=$(mktemp -d)
ktap_header
cleanup rm -rf "$work"
check killed_guest__the_others_end_well host_dies
check killed_guest__down said 'rank 3 .node 3. is down.*EHOSTDOWN'
check killed_guest__right_without_it said 'rank . of 3: 60 steps, shrunk 1 times, nodes 7$'
finish
