#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 1800
#
# PyTorch's backend over the library with a fake device (selftests/torch/test_*.py): works, futures, threads, and
# results that are copied, at moments that a device would not stop at.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit
ktap_header

python=/usr/bin/python3
export PYTHONPATH=$PWD/build/python/torch:$PWD/python:$PWD/selftests/python:$PWD/selftests/torch PYTHONDONTWRITEBYTECODE=1
export TORCOLL_LIBRARY=$PWD/build/python/libtorcoll.so.0 OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1

if [[ ! -e build/python/torch/_torcoll_torch.so ]]; then
	skip torch "PyTorch's headers are not here (libtorch-dev), with which the backend is built"
	finish
fi
if ! $python -c 'import importlib.util; exit(importlib.util.find_spec("torch") is None)'; then
	skip torch "python3-torch is not installed"
	finish
fi

work=$(mktemp -d)
cleanup rm -rf "$work"
tests()
{
	timeout 1000 "$python" -X faulthandler -m pytest -v -c python/pyproject.toml -W default --rootdir=selftests/torch \
		-p groups selftests/torch/test_*.py >"$work/said" 2>&1
	pytest_ktap "$work/said"
}

fold pytest tests
finish
