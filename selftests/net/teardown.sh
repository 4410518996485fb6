#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
# processors: 2
#
# A fabric is deleted with a thousand comms that were just closed, and a hundred that are open: nobody else waits for that,
# and those who have one of the hundred hear who did it.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

# fewer where the kernel is slow
closed=$((1000 / TORCOLL_SLOW)) open=$((100 / TORCOLL_SLOW))
export TORCOLL_FABRIC=77

# longest COMMAND...: how long, in us, somebody has to wait for RTNL at most while it runs.
longest()
{
	local line

	coproc RTNL { crowd rtnl; }
	read -r line <&"${RTNL[0]}"
	[[ $line == ready ]] || return
	"$@" >&2
	sleep 0.2
	echo >&"${RTNL[1]}"
	read -r line <&"${RTNL[0]}"
	wait "$RTNL_PID" 2>/dev/null
	echo "$line"
}

no_fabric()
{
	[[ $(torcollctl -j fabric show) == "[]" ]]
}

# begin_crowd COMMS: of which $closed are closed.
begin_crowd()
{
	local line

	torcollctl fabric add 77 dims 1 node 0
	coproc CROWD { crowd comms "$1" "$closed"; }
	read -r line <&"${CROWD[0]}"
	[[ $line == ready ]]
}

# What it says at last, about comms that are open.
end_crowd()
{
	echo >&"${CROWD[1]}"
	read -r down sentence <&"${CROWD[0]}"
	wait "$CROWD_PID" 2>/dev/null
}

module_load
usual=$(longest sleep 1)
# A grace period for each closed comm took more than three milliseconds of it; a busy machine alone takes less than this.
most=$((usual * 2 + closed * 500))

# The machine itself may stand still for longer than that, but hardly three times.
for ((try = 1; try <= 3; try++)); do
	begin_crowd "$closed" || bail "no crowd of comms"
	end_crowd
	waited=$(longest torcollctl fabric del 77)
	diag <<<"$closed closed comms: others waited for RTNL $waited us at most, $usual us while nothing was deleted"
	((waited >= most)) || break
done
check fabric_del__nobody_waits test "$waited" -lt "$most"

begin_crowd $((closed + open)) || bail "no crowd of comms"
fails fabric_del__of_a_used_one any "a process has a comm on this fabric: \"force\" ends it" torcollctl fabric del 77
# by a name that turns a terminal red
named=$(mktemp -d)
cleanup rm -r "$named"
ln -s "$(command -v torcollctl)" "$named/"$'to\e[31mr'
for ((try = 1; try <= 3; try++)); do
	waited=$(longest "$named/"$'to\e[31mr' fabric del 77 force)
	diag <<<"and $open open ones: others waited for RTNL $waited us at most"
	((waited >= most && try < 3)) || break
	end_crowd
	begin_crowd $((closed + open)) || bail "no crowd of comms"
done
check fabric_del_force__nobody_waits test "$waited" -lt "$most"
check fabric_del__is_gone no_fabric
check fabric_add__same_key_again torcollctl fabric add 77 dims 1 node 0
end_crowd
is fabric_del__open_comms_fail "$down" "$open"
check fabric_del__says_who_did_it grep -qE 'its fabric was deleted by to\\x1b\[31mr \(process [0-9]+\)' <<<"$sentence"
check fabric_del__without_comms torcollctl fabric del 77
# Who waits for a rank that does not come, waits no longer.
one_comm()
{
	torcollctl -j limit show | jq -e '[.[] | select(.user == 0).comms] | add == 1' >/dev/null
}

ip link add d0p type veth peer name d0m
ip link set d0p up
ip link set d0m up
torcollctl fabric add 78 dims 2 node 0
torcollctl port add 78 dim 0 dir plus dev d0p
text=$(mktemp)
cleanup rm -f "$text"
TORCOLL_FABRIC=78 TORCOLL_COMM=1 torcoll-perf barrier >"$text" 2>&1 &
joining=$!
check fabric_del__somebody_joins wait_for 30 one_comm
check fabric_del__while_somebody_joins torcollctl fabric del 78 force
# in this shell, whose child it is
code=0
wait "$joining" || code=$?
is fabric_del__joining_ends "$code" 1
check fabric_del__says_so grep -q "the fabric was deleted meanwhile" "$text"
diag <"$text"
# Who is killed does not wait until many have been told of it: what ends its join then goes before the fabric.
no_comm()
{
	torcollctl -j limit show | jq -e '[.[] | select(.user == 0).comms] | (add // 0) == 0' >/dev/null
}
for i in 1 2 3; do
	torcollctl fabric add 79 dims 32x32x32 node 0
	torcollctl port add 79 dim 0 dir plus dev d0p
	TORCOLL_FABRIC=79 TORCOLL_COMM=1 torcoll-perf barrier >"$text" 2>&1 &
	joining=$!
	check "join_killed__was_joining_$i" wait_for 60 one_comm
	kill -KILL "$joining"
	wait "$joining" 2>/dev/null
	is "join_killed__is_dead_$i" "$?" 137
	check "join_killed__leaves_the_fabric_$i" torcollctl fabric del 79
	eventually "join_killed__is_ended_$i" 30 no_comm
done
ip link del d0p

# A namespace goes with all its fabrics, each with a network device: the kernel waits for its readers for all of them together,
# while nobody gets RTNL. Such a wait is counted by a probe: three per fabric if they go one by one, about ten for all of them.
fabrics=$((64 / TORCOLL_SLOW))
probes=/sys/kernel/tracing/kprobe_events

count_waits()
{
	# shellcheck disable=SC2016 # expanded by eval
	on_one_cpu eval 'echo "p:torcoll_wait synchronize_rcu_expedited" >>"$probes" &&
		echo 1 >/sys/kernel/tracing/events/kprobes/torcoll_wait/enable'
}

end_count()
{
	# shellcheck disable=SC2016 # expanded by eval
	on_one_cpu eval 'echo 0 >/sys/kernel/tracing/events/kprobes/torcoll_wait/enable; echo "-:torcoll_wait" >>"$probes"'
}

waits()
{
	awk '$1 == "torcoll_wait" { print $2 }' /sys/kernel/tracing/kprobe_profile
}

many_fabrics()
{
	local n

	ip netns add teardown-many || return
	for ((n = 1; n <= fabrics; n++)); do
		echo "fabric add $n dims 2 node 0"
		echo "fabric $n ip on name many$n"
	done | ip netns exec teardown-many torcollctl -b -
}

no_fabrics()
{
	torcollctl -j limit show | jq -e '[.[] | select(.user == 0).fabrics] | (add // 0) == 0' >/dev/null
}

if [[ -e $probes ]] && count_waits; then
	check namespace_del__with_fabrics many_fabrics
	before=$(waits)
	ip netns delete teardown-many
	eventually namespace_del__all_are_gone 60 no_fabrics
	waited=$(($(waits) - before))
	diag <<<"$fabrics fabrics with a device each: the kernel waited $waited times"
	check namespace_del__waits_for_all_at_once test "$waited" -lt $((2 * fabrics))
	end_count
else
	skip namespace_del__waits_for_all_at_once "this kernel has no probes"
fi

eventually teardown__leaves_nothing_charged 30 nothing_charged
check module__unloads module_unload
finish
