#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 900
# processors: 2
#
# Random calls for a while, in quiet and with links and configuration that change meanwhile; then fabric and module go
# as soon as the last file is closed. STRESS_SECONDS= lasts longer, STRESS_SEED= repeats.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

seconds=${STRESS_SECONDS:-3}
seed=${STRESS_SEED:-$RANDOM}

# Pages pinned now; the kernel counts per processor, and adds up when asked to.
pinned()
{
	echo 1 >/proc/sys/vm/stat_refresh
	awk '/^nr_foll_pin_acquired/ { a = $2 } /^nr_foll_pin_released/ { r = $2 }
		END { print a - r }' /proc/vmstat
}

nothing_pinned()
{
	[[ $(pinned) == "$base" ]]
}

# What ports receive is handled by one processor or another, each with its part of them.
spread_ports()
{
	local n

	for n in 0 1 2 3; do
		# shellcheck disable=SC2016 # for the shell inside
		ip netns exec "tor-$n" bash -c 'i=$1; for queue in /sys/class/net/d*/queues/rx-0; do
				printf %x $((1 << i++ % $2)) >"$queue/rps_cpus" || exit
			done' spread "$n" "$(nproc)" || return 1
	done
}

# calls [shaky]: what was done, in $work/tally as well.
calls()
{
	stress 1 4 "$seconds" "$seed" "$@" | tee "$work/tally"
}

# The port of a device dDp or dDm is taken away, and comes back.
take_port()
{
	local n=$1 dev=$2 dir=plus

	[[ $dev == *p ]] || dir=minus
	node "$n" torcollctl port del dev "$dev" || return 0
	sleep 0.2
	node "$n" torcollctl port add 1 dim "${dev:1:1}" dir "$dir" dev "$dev" ||
		echo "$dev of node $n does not come back" >>"$work/broken"
}

# Links go down for a moment and ports are taken away, a second fabric comes and goes, rates change, everything is
# looked at.
disturb()
{
	local n dev devs

	while [[ -e $work/go ]]; do
		n=$((RANDOM % 4))
		devs=(d0p d0m d1p d1m)
		dev=${devs[RANDOM % 4]}
		case $((RANDOM % 8)) in
		0)	node "$n" ip link set "$dev" down
			sleep 0.2
			node "$n" ip link set "$dev" up ;;
		1)	node "$n" torcollctl fabric add 9 dims 3 node 0
			node "$n" torcollctl port add 9 dim 0 dir plus dev lo
			node "$n" torcollctl fabric del 9 ;;
		2)	node "$n" torcollctl fabric show
			node "$n" torcollctl port show ;;
		3)	node "$n" torcollctl -j comm show
			node "$n" torcollctl -j op show ;;
		4)	node "$n" torcollctl -j stats ;;
		5)	take_port "$n" "$dev" ;;
		6)	node "$n" torcollctl tune set 1 hop-ps $((RANDOM * 1000)) message-ps $((RANDOM * 100))
			node "$n" torcollctl tune load "$work/rates" ;;
		7)	torcollctl -j limit show
			node "$n" torcollctl -j explain allreduce 64K ;;
		esac
	done >/dev/null 2>&1
}

shaken()
{
	local code

	touch "$work/go"
	disturb &
	calls shaky
	code=$?
	rm "$work/go"
	wait $!
	[[ ! -e $work/broken ]] || cat "$work/broken"
	[[ $code == 0 && ! -e $work/broken ]]
}

works()
{
	torcollctl netns run torcoll-perf allreduce -b 8 -e 64K -f 8 -n 2
}

# Whatever lingers of the last comm must not keep the fabric, nor be lost with it.
gone_at_once()
{
	local i

	for ((i = 0; i < 3; i++)); do
		torcollctl netns run torcoll-perf allreduce -b 8 -e 8 -n 1 -w 0 >/dev/null || return 1
		node 0 torcollctl fabric del 1 || return 1
		wait_for 20 rmmod torcoll || return 1
		module_load || return 1
		torcollctl netns down
		nodes_up 2x2 || return 1
	done
}

work=$(mktemp -d)
cleanup rm -rf "$work"
cleanup rm -f "$work/go"
torus_up 2x2
# the first mask switches a static key
on_one_cpu ip netns exec tor-0 sh -c "echo 1 >/sys/class/net/d0p/queues/rx-0/rps_cpus"
check ports__on_all_processors spread_ports
node 0 torcollctl tune save "$work/rates" || bail "no rates"
diag "seed $seed"
base=$(pinned)
check calls__in_quiet calls
diag <"$work/tally"
eventually calls__nothing_stays_pinned 20 nothing_pinned
module_loaded || bail "the module is gone"
check calls__while_links_change shaken
diag <"$work/tally"
eventually links__up_again 20 works
eventually links__nothing_stays_pinned 20 nothing_pinned
check module__unloads_right_after_close gone_at_once
finish
