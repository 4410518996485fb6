#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 3600
#
# The memory of a process stays as it is over 100,000 calls of the Python package, and as many of PyTorch's backend: on a torus
# of 2x2, some waited for, some by futures, some forgotten. The ranks assert it; shorter runs are among the tests of each.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit
ktap_header

python=/usr/bin/python3
export PYTHONPATH=$PWD/python:$PWD/build/torch TORCOLL_LIBRARY=$PWD/build/lib/libtorcoll.so.0 PYTHONDONTWRITEBYTECODE=1
export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 CALLS=${CALLS:-100000}

# flat PROGRAM: of its four ranks, all end right.
flat()
{
	$python -X faulthandler "$1" calls >"$work/said" 2>&1
	(($(grep -c '^right calls ' "$work/said") == 4))
}

work=$(mktemp -d)
cleanup rm -rf "$work"
torus_up 2x2 "${patient[@]}"
check python__is_flat flat selftests/python/ranks.py
diag <"$work/said"
if [[ -e build/torch/_torcoll_torch.so ]] && $python -c 'import importlib.util; exit(importlib.util.find_spec("torch") is None)'; then
	# by which PyTorch's ranks find each other
	stamps_up || bail "no times of packets"
	check device__on_all_nodes ip_up 4
	check torch__is_flat flat selftests/torch/torch_ranks.py
	diag <"$work/said"
else
	skip torch__is_flat "PyTorch or the backend is not here"
fi
finish
