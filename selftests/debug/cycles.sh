#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# The module comes and goes a hundred times, with a fabric each time, and every twentieth time with two nodes and an
# allreduce: what any of it left is found by what the runner does afterwards, a scan for leaks and a look at the log.
# long/cycles.sh measures memory over more of them, in Debian's kernels.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

cycles=100 allreduce_every=20

with_a_fabric()
{
	torcollctl fabric add 1 dims 1 node 0
}

# The fabric of $1 is left for the module's end to take away.
cycle()
{
	module_load && "$1" && module_unload
}

with_an_allreduce()
{
	torcollctl netns up 2 &&
		torcollctl netns run torcoll-perf allreduce -b 64K -e 64K -n 1 -w 0 &&
		torcollctl netns down
}

# many FROM TO: cycles of these numbers, until one fails.
many()
{
	local i

	for ((i = $1; i < $2; i++)); do
		cycle with_a_fabric || { echo "in cycle $i"; return 1; }
	done
	cycle with_an_allreduce || { echo "in cycle $2"; return 1; }
}

for ((last = allreduce_every; last <= cycles; last += allreduce_every)); do
	check "cycles__to_$last" many $((last - allreduce_every + 1)) $last || break
done
finish
