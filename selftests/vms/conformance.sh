#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 1500
#
# Random calls of every kind against a sequential program, with a guest for each node, of both kernels: see net/conformance.sh,
# whose CONFORMANCE_SEED, CONFORMANCE_CASES and CONFORMANCE_ALL are these.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit

cases=${CONFORMANCE_CASES:-300} what=list
# far more than are needed
[[ -z ${CONFORMANCE_ALL-} ]] || cases=3000 what=all

# What each guest runs, as one rank.
job()
{
	echo "conformance '${CONFORMANCE_SEED:-1}.2x2.guests' $cases $what" \
		">\"\$TORCOLL_RESULTS/node-\$TORCOLL_NODE/said\" 2>&1"
}

cases_on_guests()
{
	qemu/torus --timeout $((300 + ${MORE_SECONDS:-0} + 1000)) --results "$work" \
		--logs build/log/check/vms/conformance --kernel 6.1,6.12 2x2 bash -c "$(job)"
}

work=$(mktemp -d)
ktap_header
cleanup rm -rf "$work"
check guests_2x2__end_well cases_on_guests
grep -hv '^pair ' "$work"/node-*/said | sed "s/^/2x2 guests: /" | diag
read -r passed _ failed _ < <(grep -hE '^[0-9]+ passed, [0-9]+ failed$' "$work/node-0/said" | tail -n 1)
if [[ -n ${CONFORMANCE_ALL-} ]]; then
	read -r met possible < <(sed -n 's/^# (any property, any other): \([0-9]*\) of \([0-9]*\) pairs$/\1 \2/p' "$work/node-0/said")
	is guests_2x2__right "${failed:-no end}" 0
	is guests_2x2__any_two_properties "${met:-none}" "${possible:-0}"
else
	is "guests_2x2__${cases}_cases" "${passed:-0} right, ${failed:-none} wrong" "$cases right, 0 wrong"
fi
finish
