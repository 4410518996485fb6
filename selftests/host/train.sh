#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The training example without torcoll: it learns, and sixteen workers learn what one learns.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit

train=(build/bin/examples/train --data lib/examples/data/digits.csv.gz)

learns()
{
	"${train[@]}" --single | awk '/^step 150 / { ok = $6 >= 0.95 } { print } END { exit !ok }'
}

# agrees WORKERS: every printed loss within 1e-4 of one process's.
agrees()
{
	paste <("${train[@]}" --single) <("${train[@]}" --emulate "$1") |
		awk '/^step/ { d = $4 - $10; if (d < 0) d = -d; n++; if (d > 1e-4) bad = 1; print d }
		     END { exit bad || n != 16 }'
}

ktap_header
check train__learns learns
check train__3_workers_agree agrees 3
check train__16_workers_agree agrees 16
fails train__no_file 1 'nothing.csv' "${train[@]}" --single --data nothing.csv
fails train__usage 2 'Usage' "${train[@]}" --steps 0
finish
