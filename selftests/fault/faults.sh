#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
#
# Every allocation fails once: of each call, each netlink command, the module's loading, a namespace's creation, an
# allreduce. For kernels with fault injection.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

debugfs=/sys/kernel/debug
filters=("$debugfs"/failslab "$debugfs"/fail_page_alloc "$debugfs"/fail_usercopy)
if [[ ! -w ${filters[0]}/require-start ]]; then
	echo "1..0 # SKIP this kernel has no fault injection"
	exit
fi

# Which allocations count: those with a caller in [$1, $2). Copies to and from users do not.
count_callers_in()
{
	local dir

	for dir in "${filters[@]:0:2}"; do
		echo 0 >"$dir/verbose"
		echo N >"$dir/ignore-gfp-wait"
		echo "$1" >"$dir/require-start"
		echo "$2" >"$dir/require-end"
	done
	echo 0 >"$debugfs/fail_page_alloc/min-order"
	echo 0 >"${filters[2]}/verbose"
	echo 1 >"${filters[2]}/require-start"
	echo 2 >"${filters[2]}/require-end"
}

# The range of kernel function $1, up to the next one. /proc/kallsyms would say it, too, after minutes.
range_of_function()
{
	awk -v name="$1" '
		found && $1 != start { print "0x" start, "0x" $1; exit }
		$3 == name { start = $1; found = 1 }' "$TORCOLL_KERNEL_DIR"/boot/System.map-*
}

# Of the module's text, as it lies now.
range_of_module()
{
	local start bytes

	start=$(</sys/module/torcoll/sections/.text)
	# shellcheck disable=SC2153 # the guest's environment has it
	bytes=$(size -A "$TORCOLL_KO" | awk '$1 == ".text" { print $2 }')
	printf '%#x %#x\n' "$start" $((start + bytes))
}

count_module()
{
	# shellcheck disable=SC2046 # two words
	count_callers_in $(range_of_module)
}

load_module()
{
	local module depends

	depends=$(modinfo -F depends "$TORCOLL_KO")
	for module in ${depends//,/ }; do
		modprobe "$module"
	done
	# shellcheck disable=SC2046 # two words
	count_callers_in $(range_of_function do_one_initcall)
	faults load "$TORCOLL_KO"
}

# What every protocol needs per namespace, so that ours is undone with it.
new_namespaces()
{
	# shellcheck disable=SC2046
	count_callers_in $(range_of_function ops_init)
	faults netns
}

# command NAME UNDO COMMAND...: torcollctl in node 0.
command_in_node()
{
	local name=$1 undo=$2

	shift 2
	check "netlink__$name" node 0 faults command "$undo" torcollctl "$@"
}

# pair OBJECT KEY WHICH WHAT: del and add of an object that exists, and is there again at the end.
pair()
{
	local object=$1 key=$2 which=$3 what=$4

	# shellcheck disable=SC2086 # words
	command_in_node "${object}_del" "torcollctl $object add $key $which $what" \
		$object del "$key" $which
	# shellcheck disable=SC2086
	node 0 torcollctl "$object" del "$key" $which
	# shellcheck disable=SC2086
	command_in_node "${object}_add" "torcollctl $object del $key $which" \
		$object add "$key" $which $what
	# shellcheck disable=SC2086
	node 0 torcollctl "$object" add "$key" $which $what
}

has_comm()
{
	node 0 torcollctl comm show | grep -q faults
}

# The device that is port (dimension 0, plus) of node $1.
device_of()
{
	node "$1" torcollctl -j port show | jq -r '[.. | objects | select(.dim == 0 and .dir == "plus")][0].ifname'
}

works()
{
	torcollctl netns run torcoll-perf allreduce -b 8 -e 64K -f 8 -n 2
}

no_failures()
{
	echo 0 >"${filters[0]}/probability"
}

# What frames need in softirqs, one time in ten not to be had.
atomic_allocations()
{
	local dir=${filters[0]} code

	echo Y >"$dir/ignore-gfp-wait"
	echo 10 >"$dir/probability"
	echo -1 >"$dir/times"
	torcollctl netns run torcoll-perf allreduce -b 8 -e 256K -f 8 -n 3
	code=$?
	no_failures
	return "$code"
}

cleanup no_failures
check module__load load_module
check namespace__creation new_namespaces
count_module

work=$(mktemp -d)
cleanup rm -rf "$work"
torus_up 2x2
for command in "fabric show" "port show" "node show" "tune show" "limit show" "explain allreduce 64K" "-j stats"; do
	# shellcheck disable=SC2086 # words
	command_in_node "${command//[ -]/_}" true $command
done
# a comm's nodes are tuned alike
node 0 torcollctl tune save "$work/rates" || bail "no rates"
command_in_node tune_set "torcollctl tune load $work/rates" tune set 1 round-ps 1000000
command_in_node tune_default "torcollctl tune load $work/rates" tune default
command_in_node limit_set "torcollctl limit set comms none" limit set comms 1000
# news are told, and need memory, while somebody listens
torcollctl netns exec 0 torcollctl monitor >"$work/news" &
monitor=$!
pair port 1 "dim 0 dir plus" "dev $(device_of 0)"
node 0 torcollctl fabric add 9 dims 3 node 0
pair fabric 9 "" "dims 3 node 0"
kill "$monitor"
check news__told grep -q fabric "$work/news"

TORCOLL_FABRIC=1 TORCOLL_COMM=faults TORCOLL_MEMBERS=0 TORCOLL_SIZE=1 node 0 orphan >/dev/null 2>&1 &
orphan=$!
wait_for 20 has_comm
command_in_node comm_show true comm show
command_in_node op_show true op show
pkill -9 -x orphan
wait "$orphan" 2>/dev/null

eventually links__up_again 20 works
check calls__each node 0 fault_calls 1 0
check ranks__one_per_node fault_ranks 1 0 1 2 3
check ranks__several_per_node fault_ranks 1 0 0 1
check allreduce__in_softirqs atomic_allocations
check node__works works
finish
