#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
# takes: 220
#
# The Python package over the module, on a torus of 2x2: every collective against NumPy, requests, tasks, memory, deaths
# and other failures, many calls, the examples. selftests/python/ranks.py is a rank.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit

python=/usr/bin/python3
export PYTHONPATH=$PWD/python TORCOLL_LIBRARY=$PWD/build/lib/libtorcoll.so.0 PYTHONDONTWRITEBYTECODE=1
export OPENBLAS_NUM_THREADS=1

work=$(mktemp -d)
cleanup rm -rf "$work"

shows_module()
{
	$python -m torcoll | grep "^module   $(cat /sys/module/torcoll/version), interface 1, .*ring"
}

# went CASE HOW RANKS: so many ranks end in that way, and the others as they must.
went()
{
	(($(grep -c "^$2 $1 " "$work/said") == $3)) && ! grep "^wrong $1 " "$work/said"
}

# The digits: as good as in the C example, and the same weights everywhere.
learnt()
{
	awk '/^step 150 / { good = $6 >= 0.95 }
	     /^rank . weights/ { n++; sums += !seen[$4]++ }
	     END { exit !good || n != 4 || sums != 1 }' "$work/said"
}

# said PATTERN TIMES
said()
{
	(($(grep -cE "$1" "$work/said") == $2))
}

nothing_left()
{
	[[ $(node 0 torcollctl -j comm show) == "[]" ]] && nothing_charged
}

good=(allreduce allreduce_types allreduce_options reduce_scatter allgather rooted exchange scans messages in_flight prepared left
	memory tasks groups overhead calls mismatch late interrupted hello bench train)
# rank 2, or 1, is killed
deadly=(killed killed_task survive)

# What the package asks of the module, other tests ask in kernels that check themselves, where each access costs.
if ((TORCOLL_SLOW > 1)); then
	skip python "a kernel that checks itself"
	finish
fi

torus_up 2x2
check show__says_which_module shows_module
$python -X faulthandler selftests/python/ranks.py "${good[@]}" "${deadly[@]}" 2>&1 |
	tee "$work/said" | diag
for name in "${good[@]}"; do
	check "right__$name" went "$name" right 4
done
for name in "${deadly[@]}"; do
	check "right__$name" went "$name" right 3
	check "dies__$name" went "$name" killed 1
done
check hello__from_all said '^Hello from rank [0-3] of 4: the ranks sum up to 6$' 4
check bench__title said '^# torcoll.bench .*: allreduce sum of f32, 4 ranks on 4 nodes' 1
check bench__rows said '^ +[0-9]+ +[0-9]+ +[a-z-]+ +[0-9.]+ ' 4
check train__learns_and_agrees learnt
check survive__all_steps said '^rank [0-2] of 3: 40 steps, shrunk 1 times$' 3
eventually nothing__left 10 nothing_left
finish
