#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# timeout: 1200
#
# The simulator finds every deliberate bug of selftests/mutants/list; one that no longer changes core fails as well.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit

is_found()
{
	diag "$*"
	[[ $1 == ok ]]
}

ktap_header
# the runner's T selects tests, not mutants
T="" CC=${CC:-gcc} selftests/mutants/run >build/mutants.log 2>&1
while read -r result name found; do
	check "mutant__$name" is_found "$result" "$found"
done < <(sort -k 2 build/mutants/results)
is all_of_them_ran "$(wc -l <build/mutants/results)" "$(grep -c $'^[a-z-]*\t' selftests/mutants/list)"
finish
