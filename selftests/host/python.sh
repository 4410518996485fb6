#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 1800
#
# The Python package: its tests, over the library with a fake device (selftests/python/), its types, and how much of it
# those tests run. With Debian's python3, whatever else is called so here.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit

python=/usr/bin/python3
export PYTHONPATH=$PWD/python:$PWD/selftests/python PYTHONDONTWRITEBYTECODE=1
export COVERAGE_FILE=$PWD/build/python/coverage

work=$(mktemp -d)
cleanup rm -rf "$work"

tests()
{
	export TORCOLL_LIBRARY=$PWD/build/python/libtorcoll.so.0
	timeout 1000 "$python" -X faulthandler -m coverage run --branch --source=torcoll -m pytest \
		-v -c python/pyproject.toml --rootdir=selftests/python selftests/python >"$work/said" 2>&1
	pytest_ktap "$work/said"
}

# What the types say of package, examples and tests; numpy's own are Debian's.
types()
{
	"$python" -m mypy --config-file python/pyproject.toml --cache-dir build/python/mypy \
		python/torcoll python/examples/*.py selftests/python/*.py selftests/torch/*.py
}

covered()
{
	"$python" -m coverage report --fail-under=90 --show-missing
}

# python -m torcoll, with the library as it is, where no module is.
shows_what_is_missing()
{
	TORCOLL_LIBRARY=build/lib/libtorcoll.so.0 "$python" -m torcoll >"$work/show" && return 1
	grep -q '^library  [0-9]' "$work/show" && grep -q 'module is not loaded' "$work/show"
}

# The example learns what the C one learns, in one process.
learns()
{
	"$python" python/examples/train.py --single lib/examples/data/digits.csv.gz |
		awk '{ print } /^step 150 / { good = $6 >= 0.95 } END { exit !good }'
}

same_losses()
{
	paste <(build/bin/examples/train --data lib/examples/data/digits.csv.gz --single | grep ^step) \
		<("$python" python/examples/train.py --single lib/examples/data/digits.csv.gz | grep ^step) |
		awk '{ d = $4 - $10; if (d < 0) d = -d; n++; if (d > 1e-4 || $2 != $8) bad = 1; print }
		     END { exit bad || n != 16 }'
}

ktap_header
fold pytest tests
check mypy__strict types
check coverage__of_90_percent covered
"$python" -m coverage report | diag
if [[ -e /dev/torcoll ]]; then
	skip show__says_what_is_missing "the module is loaded"
else
	check show__says_what_is_missing shows_what_is_missing
fi
check train__learns learns
check train__as_the_c_example same_losses
finish
