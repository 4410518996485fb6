#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# processors: 2
#
# Jobs that outlive their processes and hosts: ranks die in the middle of an allreduce, the others learn of it,
# shrink the comm and go on, with right results.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

STEPS=160
# the rest of a job takes far longer than to kill some of its processes
pause=$((TORCOLL_SLOW > 1 ? 75 : 25))
ranks=()

# find_ranks PROGRAM: the processes of its ranks in ranks; by the shell alone, since a job does not wait for other programs.
find_ranks()
{
	local p variable

	for p in $(pidof "$1"); do
		while IFS= read -rd '' variable; do
			[[ $variable != TORCOLL_RANK=* ]] || ranks[${variable#*=}]=$p
		done <"/proc/$p/environ"
	done
}

# A job of a process per node, which takes some seconds; its ranks' words in $work/out, their processes in ranks.
start()
{
	ops_before=$(counter 0 ops)
	ranks=()
	torcollctl netns run survive --steps "$STEPS" --count 16384 --pause "$pause" >"$work/out" 2>&1 &
	pid=$!
	wait_for 60 all_started survive || bail "the job does not start"
	find_ranks survive
	wait_for 60 under_way || bail "the job does not get on"
}

# all_started PROGRAM
all_started()
{
	(($(pidof "$1" | wc -w) == 8))
}

under_way()
{
	(($(counter 0 ops) >= ops_before + 3))
}

# The launcher's exit code says no more than that some ranks died.
end()
{
	wait "$pid"
}

# went_on MASK: the nodes of the mask, and no others, did all steps.
went_on()
{
	local mask=$1 left

	left=$(printf '%o' "0x$mask" | sed 's/[0-7]/&\n/g' | awk '{ n += substr("01121223", $1 + 1, 1) } END { print n }')
	if (($(grep -c "of $left: $STEPS steps, shrunk [1-9][0-9]* times, nodes $mask\$" "$work/out") != left)); then
		grep -v "goes on" "$work/out" | head -n 30
		return 1
	fi
	! grep "wrong result" "$work/out"
}

# told PATTERN: someone heard of the failure by these words.
told()
{
	grep -qE "survive: step [0-9]+: .*($1)" "$work/out" || { head -n 20 "$work/out"; return 1; }
}

# Rank 3 dies in the middle of a training; the others share its rows.
train_on()
{
	local data=lib/examples/data/digits.csv.gz

	ranks=()
	torcollctl netns run --no-prefix train --survive --pause $((2 * pause)) --steps 40 --data "$data" >"$work/train" 2>"$work/err" &
	pid=$!
	wait_for 60 all_started train || return
	find_ranks train
	wait_for 60 grep -q '^step 10 ' "$work/train" || return
	kill -KILL "${ranks[3]}"
	end
	train --single --steps 40 --data "$data" >"$work/single"
	paste <(grep ^step "$work/train") <(grep ^step "$work/single") |
		awk '{ d = $4 - $10; n++; if ($2 != $8 || d * d > 1e-10) bad = 1; print }
		     END { exit bad || n != 5 }'
}

equal_weights()
{
	(($(grep -c weights "$work/train") == 7 && $(sed -n 's/.*weights //p' "$work/train" | sort -u | wc -l) == 1))
}

# On the nodes that are left.
no_comms()
{
	local n

	for n in {0..6}; do
		[[ $(node "$n" torcollctl -j comm show | jq length) == 0 ]] || return
	done
}

work=$(mktemp -d)
cleanup rm -rf "$work"
# Hosts that are busy are not dead: where all links of one time out, it is left out. One that dies is missed after three seconds.
torus_up 4x2 "${patient[@]}"

node 0 torcollctl fabric add 9 dims 2 node 0 ethertype 0x88b7
TORCOLL_FABRIC=9 check no_ports__heir_has_the_same_frames node 0 alike heir
node 0 torcollctl fabric del 9 force

start
kill -9 "${ranks[5]}"
end
check killed_process__the_others_go_on went_on df
check killed_process__aborted told 'ECONNABORTED'

# the rank that collects the others, and one more
start
kill -9 "${ranks[0]}" "${ranks[6]}"
end
check killed_chief__the_others_go_on went_on be

# they die one by one, some of them while the others shrink
start
for n in 1 0 3 2; do
	kill -9 "${ranks[n]}"
	sleep 0.05
done
end
check dying_job__the_others_go_on went_on f0

# one leaves, as if it was done, and is long gone when the others come to the next step
# shellcheck disable=SC2016
torcollctl netns run bash -c 'steps=2; ((TORCOLL_RANK == 3)) && steps=1
	exec survive --steps $steps --pause 4000' >"$work/out" 2>&1
STEPS=2
check left__the_others_go_on went_on f7
STEPS=160
check left__named told 'caused by rank 3 .node 3.*ECONNABORTED'

check training__learns_the_same train_on
check training__agrees equal_weights
check training__went_on grep -q '^train: 7 ranks go on with step' "$work/err"

start
for dev in d0p d0m d1m; do node 7 tc qdisc add dev "$dev" root netem loss 100%; done
kill -9 "${ranks[7]}"
ip netns del tor-7
end
check dead_host__the_others_go_on went_on 7f
check dead_host__down told 'rank 7 .node 7. is down.*EHOSTDOWN'
eventually nothing__left_behind 30 no_comms
finish
