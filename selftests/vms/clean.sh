#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 900
#
# Where nothing is lost, nothing is sent twice, whatever the size: but for frames that the guest's kernel counts as
# dropped. The guest's clock counts instructions, or a host that stops it for a moment would look like loss.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit

# In the guest: lines SHAPE SIZE RETRANSMITTED DROPPED, both from the beginning of that shape.
ops()
{
	cat <<-'EOF'
		. "$TORCOLL_TOP/selftests/lib.sh"
		dropped() { awk '{ n += strtonum("0x" $2) } END { print n + 0 }' /proc/net/softnet_stat; }
		sysctl -q net.core.netdev_max_backlog=100000
		module_load || exit
		for shape in 8 4x4; do
			nodes=$((${shape/x/*}))
			torcollctl netns up "$shape" >/dev/null || exit
			before=$(dropped)
			for size in 8 4K 64K 1M 4M; do
				torcollctl netns run torcoll-perf allreduce -b "$size" -e "$size" -n 3 -w 0 >/dev/null || exit
				echo "$shape $size $(counters tx_retransmits "$nodes") $(($(dropped) - before))"
			done >>"$TORCOLL_RESULTS/lines"
			torcollctl netns down
		done
	EOF
}

run_ops()
{
	qemu/run --cpus 1 --icount --timeout 840 --results "$work" --log build/log/check/vms/clean.kernel.log \
		-- bash -c "$(ops)"
}

more_than_dropped()
{
	awk '$3 > $4' "$work/lines"
}

work=$(mktemp -d)
ktap_header
cleanup rm -rf "$work"
check ops__in_a_guest run_ops
diag "shape, size, frames sent again, frames dropped by the kernel:"
diag <"$work/lines"
is clean__sizes_and_shapes "$(wc -l <"$work/lines")" 10
is clean__nothing_sent_twice "$(more_than_dropped)" ""
finish
