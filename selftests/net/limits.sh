#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# processors: 2
#
# Who may open the device, what users may have, and that one who has all of it does not keep another
# from what is his.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

# As the shipped udev rule sets it, with the number of the group.
group=4242

# as UID COMMAND...: without any rights; members of the group are 1001 and 1002.
as()
{
	local uid=$1 gid=$group

	shift
	((uid < 1003)) || gid=$uid
	setpriv --reuid "$uid" --regid "$gid" --clear-groups --inh-caps=-all -- "$@"
}

# Nothing is limited but what is said.
limit()
{
	torcollctl limit set comms none ops none pinned none kernel none
	torcollctl limit set "$@"
}

# used UID NAME: what a user has; 0 for one that has no file open.
used()
{
	torcollctl -j limit show | jq --argjson uid "$1" --arg name "$2" '[.[] | select(.user == $uid) | .[$name]] | add // 0'
}

pins()
{
	(($(used 1001 pinned) > 0))
}

hogged()
{
	grep -q '^hogged' "$work/hog"
}

ops_done()
{
	(($(counters ops 4) > $1))
}

work=$(mktemp -d)
cleanup rm -rf "$work"
ulimit -l unlimited
torus_up 2x2 "${patient[@]}"
check defaults__are_some jq -e '.[0] | .comms == 1024 and .ops == 16384 and .pinned > .kernel and .kernel > 1000000' \
	<(torcollctl -j limit show)

chgrp "$group" /dev/torcoll
fails open__not_in_the_group any "not permitted; members of the group" \
	as 1003 env TORCOLL_FABRIC=1 torcoll-perf allreduce -b 8 -e 8 -n 1
fails set__takes_a_right 2 "initial user namespace" as 1001 torcollctl limit set comms 1
fails set__in_a_user_namespace 2 "initial user namespace" \
	as 1001 unshare -Urn torcollctl limit set comms 1
fails set__unknown 1 "is no limit" torcollctl limit set coms 1
fails set__comms_twice 1 '"comms" is given twice' torcollctl limit set comms 100 ops 5 comms 200
fails set__no_amount 1 "is no amount" torcollctl limit set comms many

limit comms 6
fold comms limits comms
limit ops 5
fold ops limits ops
limit pinned 256K
fold pinned limits pinned
limit kernel 4M
fold kernel limits kernel
eventually users__go_with_their_files 20 nothing_charged

cgroup=/sys/fs/cgroup/torcoll
echo +memory >/sys/fs/cgroup/cgroup.subtree_control
mkdir "$cgroup"
echo 64M >"$cgroup/memory.max"
limit kernel none
# shellcheck disable=SC2016
fold cgroup bash -c 'echo $$ >"$1/cgroup.procs"; exec limits cgroup' _ "$cgroup"
is cgroup__nobody_is_killed "$(sed -n 's/^oom_kill //p' "$cgroup/memory.events")" 0
rmdir "$cgroup"

# What comes before it can be used: "limits early" says what is next, and goes on with each line.
early_says()
{
	[[ $(sed -n "$1p" "$work/early") == "$2" ]]
}

# The user has more than that.
kernel_above()
{
	(($(used 1001 kernel) > $1))
}

kernel_below()
{
	(($(used 1001 kernel) < $1))
}

refused_above()
{
	(($(counter 0 rx_not_ready) > $1))
}

limit comms none
mkfifo "$work/go"
limits early <"$work/go" >"$work/early" 2>&1 &
early=$!
exec 9>"$work/go"
check early__begins wait_for 30 early_says 1 begin
base=$(used 1001 kernel)
echo >&9
check early__is_charged wait_for 30 kernel_above $((base + 100000))
echo >&9
check early__goes_on wait_for 60 early_says 3 begin
check early__is_given_back wait_for 20 kernel_below $((base + 50000))
limit kernel $((base + 60000))
refused=$(counter 0 rx_not_ready)
echo >&9
check early__is_refused wait_for 30 refused_above "$refused"
check early__stays_within_the_limit kernel_below $((base + 60001))
limit comms none
echo >&9
check early__comes_again wait_for 60 early_says 5 right
echo >&9
wait "$early"
exec 9>&-
eventually early__leaves_nothing 20 nothing_charged

# In a user namespace of its own anybody may add fabrics, and ports to them: so many, and no more.
fabrics_of()
{
	local uid=$1 script=$2

	setpriv --reuid "$uid" --regid "$uid" --clear-groups unshare -Urn bash -c "$script"
}

no_fabrics_of()
{
	[[ $(used "$1" fabrics) == 0 ]]
}

# shellcheck disable=SC2016
many='ok=0
for i in {1..70}; do
	torcollctl fabric add $i dims 1 node 0 2>>"$0" && ((ok++))
done
echo $ok'
chmod 777 "$work"
is fabrics__of_one_user "$(fabrics_of 1003 "${many//\$0/$work\/refused}")" 64
is fabrics__are_refused_beyond "$(grep -c 'as many fabrics as it may have' "$work/refused")" 6
eventually fabrics__of_a_namespace_that_went_are_given_back 30 no_fabrics_of 1003
# shellcheck disable=SC2016
chatty='ok=0
for i in {1..8}; do
	ip link add a$i type veth peer name b$i
	torcollctl fabric add $i dims 4 node 0 hello 10ms && torcollctl port add $i dim 0 dir plus dev a$i 2>>"$0" && ((ok++))
done
echo $ok'
is hellos__of_one_user "$(fabrics_of 1003 "${chatty//\$0/$work\/refused}")" 6
is hellos__are_refused_beyond "$(grep -c 'as many hellos as they may' "$work/refused")" 2
# One who takes whatever there is to take, one who keeps the wires busy, and another who only works.
limit comms 12 ops 512 pinned 64M kernel 128M
torcollctl netns run setpriv --reuid 1004 --regid "$group" --clear-groups \
	torcoll-perf allreduce -b 16K -e 16K -n 100000000 -w 0 >"$work/flood" 2>&1 &
flood=$!
check flood__runs wait_for 30 ops_done 10
torcollctl netns exec 0 setpriv --reuid 1001 --regid "$group" --clear-groups limits hog >"$work/hog" 2>&1 &
hog=$!
check hog__has_all wait_for 60 hogged
check shown__what_it_has wait_for 60 pins
check other__goes_on torcollctl netns run setpriv --reuid 1002 --regid "$group" --clear-groups \
	torcoll-perf allreduce -b 8 -e 256K -f 8 -n 5
check flood__still_runs kill -0 "$flood"
check hog__still_runs kill -0 "$hog"
check hog__had_all_the_time test "$(grep -c '^hogged' "$work/hog")" -ge 1
diag <<<"$(sort "$work/hog" | uniq -c | sort -rn | head -n 5)"
# whichever is first: what was closed lingers, and is kernel memory for a while
check hog__was_refused_comms grep -qE "as many comms|no more kernel memory" "$work/hog"
check hog__was_refused_pins grep -q "memory to pin" "$work/hog"
kill "$hog" "$flood"
wait "$hog" "$flood"
eventually users__leave_nothing 20 nothing_charged
finish
