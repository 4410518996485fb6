#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A virtual torus without a fabric: wires, commands in nodes, the launcher, and that nothing is left. And
# what torcollctl refuses by itself.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit

ctl=build/bin/torcollctl
TORCOLL_PREFIX=tst$$
export TORCOLL_PREFIX

namespaces()
{
	find /run/netns -maxdepth 1 -name "$1-*" 2>/dev/null | wc -l
}

# Names of the devices of a node but for lo, with their MTU.
devices()
{
	"$ctl" netns exec "$1" ip -o link show | awk '$2 != "lo:" { sub(/@.*/, "", $2); print $2 ":" $5 }' |
		sort | tr '\n' ' '
}

all_up()
{
	local n

	for ((n = 0; n < $1; n++)); do
		"$ctl" netns exec "$n" ip -o link show | grep -v ' lo: ' | grep -v 'UP,LOWER_UP' && return 1
	done
	return 0
}

# A frame sent by node 0 on a cable comes in at the device and node where the cable ends.
reaches()
{
	local dev=$1 node=$2 peer=$3 before

	before=$("$ctl" netns exec "$node" cat /proc/net/dev | awk -v d="$peer:" '$1 == d { print $3 }')
	"$ctl" netns exec 0 ip link set "$dev" arp off &&
		"$ctl" netns exec 0 ip addr add 192.0.2.1/24 dev "$dev" &&
		"$ctl" netns exec 0 ip neigh replace 192.0.2.2 lladdr ff:ff:ff:ff:ff:ff dev "$dev" &&
		"$ctl" netns exec 0 bash -c 'echo >/dev/udp/192.0.2.2/9'
	"$ctl" netns exec 0 ip addr del 192.0.2.1/24 dev "$dev"
	(($("$ctl" netns exec "$node" cat /proc/net/dev |
		awk -v d="$peer:" '$1 == d { print $3 }') > before))
}

has_ipv6_address()
{
	"$ctl" netns exec 0 ip -6 -o addr show scope link | grep -q .
}

# Two processes per rank, of which the shell is the rank: neither may be left.
stops()
{
	local pid marker=$RANDOM$RANDOM

	# here, not by the process in the background: what the last case left would count
	: >"$work/out"
	"$ctl" netns run bash -c "sleep 300$marker & echo ready; wait" >"$work/out" 2>/dev/null &
	pid=$!
	wait_for 30 eval "((\$(grep -c ready $work/out) == 4))" || return 1
	kill "-$1" "$pid"
	wait "$pid"
	(($? == 128 + $(kill -l "$1"))) || return 1
	wait_for 20 eval "! pgrep -f 'sleep 300$marker'"
}

# Whole lines, each with the rank that wrote it.
lines_are_whole()
{
	# shellcheck disable=SC2016
	local body='for i in {1..200}; do echo $TORCOLL_RANK; printf "%s" $TORCOLL_RANK; echo; done'

	"$ctl" netns run bash -c "$body" >"$work/out" &&
		awk '$1 != "[" $2 "]" || NF != 2 { bad = 1 } END { exit bad || NR != 1600 }' "$work/out"
}

environment()
{
	"$ctl" netns run --secret hush env |
		awk '$2 == "TORCOLL_SIZE=4" { size++ } $2 == "TORCOLL_SECRET=hush" { secret++ }
		     $2 ~ /^TORCOLL_RANK=/ { sub(/.*=/, "", $2); if ("[" $2 "]" == $1) rank++ }
		     $2 ~ /^TORCOLL_COMM=./ { comm[$2]++ }
		     END { for (c in comm) n++; exit !(size == 4 && secret == 4 && rank == 4 && n == 1) }'
}

other_secrets()
{
	[[ $("$ctl" netns run --no-prefix --only 0 env | grep -E 'COMM|SECRET') != \
	   $("$ctl" netns run --no-prefix --only 0 env | grep -E 'COMM|SECRET') ]]
}

# The batch's last command is about a device of this namespace.
finds_its_device()
{
	local out

	out=$("$ctl" -b "$work/batch" 2>&1)
	echo "$out"
	[[ $out == *"$work/batch:2" && $out != *"no device"* ]]
}

ktap_header
work=$(mktemp -d)
cleanup rm -rf "$work"
cleanup "$ctl" netns down

# ---- the command line ----

check version__is_told "$ctl" -V
fails object__unknown 1 'is no' "$ctl" frobnicate
fails object__unknown_and_long 1 '\\x1bx{2000}" is no' "$ctl" $'\e'"$(printf 'x%.0s' {1..2000})"
fails object__ambiguous 1 'node or netns' "$ctl" n show
fails object__missing 1 'Usage' "$ctl"
check help__of_an_object "$ctl" fab help
fails fabric_add__no_key 1 'key is missing' "$ctl" fabric add
fails fabric_add__bad_key 1 'not a whole number' "$ctl" fabric add one dims 4x4 node 0
fails fabric_add__no_dims 1 'dims is missing' "$ctl" fabric add 1 node 0
fails fabric_add__bad_dims 1 'dims' "$ctl" fabric add 1 dims 4x node 0
fails fabric_add__seven_dims 1 'dims' "$ctl" fabric add 1 dims 2x2x2x2x2x2x2 node 0
fails fabric_add__no_node 1 'node or coord' "$ctl" fabric add 1 dims 4x4
fails fabric_add__both 1 'node or coord' "$ctl" fabric add 1 dims 4x4 node 1 coord 0,1
fails fabric_add__coord_outside 1 'not below 4' "$ctl" fabric add 1 dims 4x4 coord 0,4
fails fabric_add__coord_of_33_bits 1 'coord: "4294967297" is not' "$ctl" fabric add 1 dims 4 coord 4294967297
fails fabric_add__no_ethertype 1 'ethertype: 0' "$ctl" fabric add 1 dims 4x4 node 0 ethertype 0
fails fabric_add__no_frame 1 'frame: 0' "$ctl" fabric add 1 dims 4x4 node 0 frame 0
fails fabric_add__no_cables 1 'cables: 0' "$ctl" fabric add 1 dims 2 node 0 cables 0
fails fabric_add__bad_hello 1 'not a time' "$ctl" fabric add 1 dims 4x4 node 0 hello 2min
fails fabric_add__unknown_word 1 'colour.*not expected' "$ctl" fabric add 1 dims 4x4 node 0 colour red
fails port_add__no_device 1 'no device' "$ctl" port add 1 dim 0 dir plus dev nothing0
fails port_add__bad_dir 1 'is no direction' "$ctl" port add 1 dim 0 dir up
if [[ ! -d /sys/module/torcoll ]]; then
	fails fabric_show__no_module 1 'modprobe' "$ctl" fabric show
	fails netns_up__no_module 1 'modprobe' "$ctl" netns up 2x2
	is netns_up__no_module__leaves_nothing "$(namespaces "$TORCOLL_PREFIX")" 0
fi

printf '# nothing\n\nnetns show prefix "%s"\nnetns exec nowhere true\nnetns show\n' "$TORCOLL_PREFIX" >"$work/batch"
fails batch__says_which_line 1 "failed $work/batch:4" "$ctl" -b "$work/batch"
fails batch__forced_goes_on 1 "failed $work/batch:4" "$ctl" -f -b "$work/batch"
fails batch__of_stdin 1 'failed -:4' "$ctl" -b - <"$work/batch"

# ---- wires ----

if ((EUID)) || ! ip link add tstv$$ type veth peer name tstw$$ 2>/dev/null; then
	skip netns "needs root and veth"
	finish
fi
ip link del tstv$$

check up__2x2 "$ctl" netns up 2x2 --no-fabric mtu 8000
is up__namespaces "$(namespaces "$TORCOLL_PREFIX")" 4
is up__one_cable_per_side_of_2 "$(devices 0)/$(devices 3)" "d0p:8000 d1p:8000 /d0m:8000 d1m:8000 "
check up__all_devices_are_up all_up 4
check up__cable_along_dim_0 reaches d0p 1 d0m
check up__cable_along_dim_1 reaches d1p 2 d1m
fails up__no_ipv6_noise any '^$' has_ipv6_address
fails up__twice 1 'already' "$ctl" netns up 2x2 --no-fabric
is up__twice_leaves_the_first "$(namespaces "$TORCOLL_PREFIX")" 4
check show__json jq -e 'length == 4 and .[0].netns == env.TORCOLL_PREFIX + "-0"' <("$ctl" -j netns show)

# ---- batches ----

ip link add "here$$" type veth peer name "there$$"
cleanup ip link del "here$$"
printf 'netns show\nport add 1 dim 0 dir plus dev here%s\n' $$ >"$work/batch"
check batch__show_comes_home finds_its_device
printf 'netns exec 0 true\nport add 1 dim 0 dir plus dev here%s\n' $$ >"$work/batch"
check batch__exec_stays_at_home finds_its_device
printf 'netns exec 0 true\nnetns exec nowhere true\n' >"$work/batch"
fails batch__exec_goes_on 1 "failed $work/batch:2" "$ctl" -b "$work/batch"
printf 'netns exec 0 sh -c "exit 7"\n' >"$work/batch"
fails batch__exec_exit_code 7 "failed $work/batch:1" "$ctl" -b "$work/batch"
printf 'netns exec 0 %s/nothing\n' "$work" >"$work/batch"
fails batch__exec_no_such_command 127 'No such file' "$ctl" -b "$work/batch"
# shellcheck disable=SC2016 # that of the shell
printf 'netns exec 0 sh -c "kill -TERM $$"\n' >"$work/batch"
fails batch__exec_signal 143 "failed $work/batch:1" "$ctl" -b "$work/batch"
# more than stdio reads at once, of which the command would read the rest
is batch__exec_does_not_read_it "$({
	echo 'netns exec 0 cat'
	printf '# %s\n' {1..20000}
	echo 'netns exec 0 echo end'
} | "$ctl" -b - | tail -n 1)" end

# ---- commands in nodes ----

check exec__true "$ctl" netns exec 0 true
fails exec__exit_code 7 '' "$ctl" netns exec 1 sh -c 'exit 7'
check exec__by_name "$ctl" netns exec "$TORCOLL_PREFIX-2" true
fails exec__no_such_node 1 'no network namespace' "$ctl" netns exec 4 true
fails exec__no_such_command 127 'No such file' "$ctl" netns exec 0 "$work/nothing"
fails exec__not_executable 126 'denied' "$ctl" netns exec 0 "$work/batch"

check run__environment environment
check run__a_fresh_comm_each_time other_secrets
check run__lines_are_whole lines_are_whole
is run__no_prefix "$("$ctl" netns run --no-prefix echo a | tr -d '\n')" aaaa
is run__only "$("$ctl" netns run --only 2 echo a)" "[2] a"
is run__fewer_ranks "$("$ctl" netns run -n 2 echo a | sort | tr '\n' ' ')" "[0] a [1] a "
# shellcheck disable=SC2016 # each rank's own
is run__ranks_per_node "$("$ctl" netns run --no-prefix --ppn 1,2 --only 4 sh -c 'echo $TORCOLL_SIZE $TORCOLL_MEMBERS')" "6 0,1,1,2,3,3"
# shellcheck disable=SC2016
is run__ranks_by_node "$("$ctl" netns run --no-prefix --by-node --ppn 1,3 --only 4 sh -c 'echo $TORCOLL_SIZE $TORCOLL_MEMBERS')" "8 0,1,2,3,1,3,1,3"
fails run__no_ranks_on_a_node 1 'each 1 to 64' "$ctl" netns run --ppn 2,0 true
fails run__no_number_of_ranks 1 'each 1 to 64' "$ctl" netns run --ppn 2, true
is run__last_line_without_end "$("$ctl" netns run -n 1 printf a)" "[0] a"
is run__stderr_apart "$("$ctl" netns run -n 1 sh -c 'echo a >&2' 2>/dev/null)" ""
check run__no_input "$ctl" netns run -n 1 sh -c '! read line'
# shellcheck disable=SC2016
fails run__worst_exit_code 3 'rank 3 ended with exit status 3' \
	"$ctl" netns run sh -c 'exit $TORCOLL_RANK'
# shellcheck disable=SC2016
fails run__a_rank_is_killed 139 'rank 2 killed by SIGSEGV' \
	"$ctl" netns run sh -c '[ $TORCOLL_RANK != 2 ] || kill -SEGV $$'
fails run__all_fail_alike 1 'ranks 0,1,2,3 ended with' "$ctl" netns run false
fails run__no_such_command 127 'nothing: No such file' "$ctl" netns run "$work/nothing"
fails run__too_many_ranks 1 'has 4 nodes' "$ctl" netns run -n 5 true
fails run__no_nodes 1 '^Error: -n 0' "$ctl" netns run -n 0 true
fails run__no_command 1 'command is missing' "$ctl" netns run -n 2
check run__term_ends_all stops TERM
is run__no_reader "$(timeout 60 "$ctl" netns run --only 0 yes | head -n 1; echo "${PIPESTATUS[0]}")" $'[0] y\n141'
check run__hup_ends_all stops HUP

# ---- the end ----

fails down__without_the_right 2 "netns/$TORCOLL_PREFIX-3: " setpriv --bounding-set=-all --inh-caps=-all "$ctl" netns down
is down__without_the_right__leaves_all "$(namespaces "$TORCOLL_PREFIX")" 4
check down__removes "$ctl" netns down
is down__leaves_nothing "$(namespaces "$TORCOLL_PREFIX")" 0
check down__of_nothing "$ctl" netns down
fails run__no_torus 1 'no virtual torus' "$ctl" netns run true

check up__three_dims_two_cables "$ctl" netns up 2x1x3 cables 2 --no-fabric
is up__two_cables "$(devices 0)" "d0m:9000 d0p:9000 d2m:9000 d2p:9000 "
check up__second_cable reaches d0m 1 d0p
check down__again "$ctl" netns down
check up__another_prefix "$ctl" netns up 3 prefix "other$$" --no-fabric
is up__prefixes_do_not_mix "$("$ctl" netns run --prefix "other$$" --only 2 echo a)" "[2] a"
check down__another_prefix "$ctl" netns down prefix "other$$"
check up__prefix_that_begins_with_a_digit "$ctl" netns up 3 prefix "1tst$$" --no-fabric
check exec__name_that_begins_with_a_digit "$ctl" netns exec "1tst$$-2" true
check exec__node_of_such_a_prefix "$ctl" netns exec prefix "1tst$$" 2 true
is torcollrun__prefix_that_begins_with_a_digit "$(build/bin/torcollrun --netns --prefix "1tst$$" --no-prefix echo a | paste -sd' ')" "a a a"
check down__prefix_that_begins_with_a_digit "$ctl" netns down prefix "1tst$$"
fails exec__no_such_name 1 "no network namespace 1tst$$-2" "$ctl" netns exec "1tst$$-2" true
fails exec__no_node 1 'node: "12x" is not a whole number' "$ctl" netns exec 12x true
fails up__bad_prefix 1 'prefix' "$ctl" netns up 3 prefix ../x --no-fabric

# A wire that cannot be made takes everything with it.
fails up__impossible_mtu 2 'cable .*mtu 70000' "$ctl" netns up 3x3 mtu 70000 --no-fabric
is up__failed_leaves_nothing "$(namespaces "$TORCOLL_PREFIX")" 0
finish
