#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# processors: 2
#
# How ops end: cases of the ring; and that a process that computes while an allreduce of 4 MiB goes on has nothing to
# do with it: from its submission to its end it calls nothing, is not woken, and no work of the module runs.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

tracing=/sys/kernel/tracing
events=(raw_syscalls/sys_enter sched/sched_waking workqueue/workqueue_execute_start
	torcoll/torcoll_op_submit torcoll/torcoll_op_done)

trace()
{
	local event

	for event in "${events[@]}"; do
		echo "$1" >"$tracing/instances/torcoll/events/$event/enable"
	done
}

# What happened between the submission and the end of the op of 4 MiB, of each rank. Its process is known by
# the submission. With PREEMPT_RT, who waits for a lock is woken as well.
window()
{
	local rt=0

	[[ $(uname -v) != *PREEMPT_RT* ]] || rt=1
	awk -v rt=$rt '
		function of(name) { return match($0, name "=[^ ]*") ? substr($0, RSTART + length(name) + 1, RLENGTH - length(name) - 1) : "" }
		{
			match($0, /-[0-9]+ +\[[0-9]+\]/)
			pid = substr($0, RSTART + 1) + 0
		}
		/torcoll_op_submit:/ && of("bytes") == 4194304 { submitted[of("rank")] = pid; busy[pid] = 1; now++; began++ }
		/torcoll_op_done:/ && of("bytes") == 4194304 { delete busy[submitted[of("rank")]]; now--; ended++ }
		/sys_enter:/ && pid in busy { print "a system call: " $0 }
		/sched_waking:/ && !rt && of("pid") in busy { print "a wake-up: " $0 }
		/workqueue_execute_start:/ && now && /function (fail_work|linger_work|tor_)/ { print "a work: " $0 }
		END { print began + 0, ended + 0 }' "$work/trace"
}

work=$(mktemp -d)
cleanup rm -rf "$work"
torus_up 2x2 "${patient[@]}"
fold ring timeout $((200 * TORCOLL_SLOW)) completion
# what lingers of these comms ends with a work of ours
eventually ring__leaves_nothing 30 nothing_charged

if ! grep -qw tracefs /proc/filesystems; then
	check compute__is_right torcollctl netns run completion compute
	skip compute__nothing_but_computing "this kernel does not trace"
	finish
fi
[[ -d $tracing/events ]] || mount -t tracefs tracefs "$tracing"
mkdir "$tracing/instances/torcoll"
cleanup rmdir "$tracing/instances/torcoll"
# who calls, and who is woken
for event in raw_syscalls/sys_enter sched/sched_waking; do
	echo 'comm == "completion"' >"$tracing/instances/torcoll/events/$event/filter"
done
echo 4096 >"$tracing/instances/torcoll/buffer_size_kb"
on_one_cpu trace 1
cleanup on_one_cpu trace 0
check compute__is_right torcollctl netns run completion compute
on_one_cpu trace 0
cat "$tracing/instances/torcoll/trace" >"$work/trace"
diag <<<"$(grep -E "torcoll_op_(submit|done)" "$work/trace" | tail -n 12)"
is compute__nothing_but_computing "$(window)" "4 4"
is compute__nothing_was_lost "$(awk '/^overrun/ { n += $2 } END { print n }' \
	"$tracing"/instances/torcoll/per_cpu/cpu*/stats)" 0
finish
