#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 1800
#
# What is generated from the netlink spec is what the generator makes of it, and the spec's counters are
# those of core.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit

work=$(mktemp -d)
cleanup rm -rf "$work"

# Names of core's counters, in order, as "tx_frames".
core_counters()
{
	sed -n '/^enum tor_counter {/,/^};/s/^\tTOR_C_\([A-Z0-9_]*\),.*/\L\1/p' kmod/core/env.h
}

spec_counters()
{
	sed -n 's/^\tTORCOLL_A_COUNTER_\([A-Z0-9_]*\),$/\L\1/p' uapi/linux/torcoll_netlink.h
}

ktap_header
scripts/ynl-regen --output "$work" >"$work/log" 2>&1
code=$?
if ((code == 3)); then
	skip generated__up_to_date "$(head -n 1 "$work/log")"
elif ((code)); then
	not_ok generated__up_to_date "scripts/ynl-regen failed"
	diag <"$work/log"
else
	for f in uapi/linux/torcoll_netlink.h kmod/netlink/gen.h kmod/netlink/gen.c; do
		check "${f##*/}__up_to_date" diff -u "$f" "$work/$f"
	done
fi
check counters__as_in_core diff -u <(core_counters) <(spec_counters)
finish
