#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# What auto takes: explained beforehand, observed afterwards, told by the environment, by rates that are set. They
# are measured in long/tune.sh.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header
work=$(mktemp -d)
cleanup rm -rf "$work"

ctl()
{
	torcollctl netns exec 0 torcollctl "$@"
}

# explained BYTES JQ-EXPRESSION
explained()
{
	ctl -j explain allreduce "$1" bits exact | jq -e "$2"
}

# perf BYTES [TO FACTOR]: an allreduce of integers by auto
perf()
{
	torcollctl netns run torcoll-perf allreduce -b "$1" -e "${2-$1}" -f "${3-2}" -n 2 -w 0 -d i32 --in-place
}

torus_up 2x2

check explain__six_candidates explained 16K 'length >= 6'
check explain__fastest_first explained 16K '[.[].predicted_ns] | . == sort'
check explain__parts_are_the_whole explained 16K 'all(.[];
	(.op_ns + .rounds_ns + .hops_ns + .messages_ns + .link_ns + .bytes_ns - .predicted_ns) | fabs < 10)'
check explain__nothing_observed_yet explained 16K 'all(.[]; has("observed_ns") | not)'
check explain__text eval 'ctl explain allreduce 16K | grep -q "^bibucket .*us"'
fails explain__refuses_a_collective 1 "none of allreduce" ctl explain allsum 16K
fails explain__refuses_a_size 1 "no number of bytes" ctl explain allreduce 16Q

# Of small ones and large ones, what is explained is what is done.
check auto__right perf 64 1M 128
for bytes in 64 8K 1M; do
	check "auto__took_what_was_explained_$bytes" explained $bytes \
		'.[0].observed_ops >= 2 and .[0].observed_ns > 0'
done

# By the environment.
export TORCOLL_ALGO="allreduce:hamiltonian;broadcast:^ring"
check env__one_of_these perf 4K
check env__it_was_taken explained 4K 'any(.[]; .algorithm == "hamiltonian" and has("observed_ns"))'
export TORCOLL_ALGO=^hamiltonian,tree
check env__any_but_these perf 2K
check env__they_were_not_taken explained 2K \
	'all(.[]; (.algorithm | IN("hamiltonian", "tree") | not) or (has("observed_ns") | not))'
export TORCOLL_ALGO=allreduce:bruck-lat
fails env__nothing_left any "no permitted algorithm" perf 8K
export TORCOLL_ALGO=allreduce:fast
fails env__refused any "TORCOLL_ALGO=allreduce:fast" perf 8K
unset TORCOLL_ALGO

# Tuning.
share=$(jq -n "[4 / $(nproc), 1] | max")
check tune__of_shared_processors eval \
	"ctl -j tune show | jq -e '.[0] | .hop_ps == 0 and .message_ps == 1000000 * $share'"
torcollctl netns run torcollctl tune set 1 round-ps 30000000 byte-fs 700000
is tune__set_everywhere "$?" 0
check tune__saves ctl tune save "$work/rates"
check tune__saved grep -q '^link-fs [0-9]' "$work/rates"
check tune__saves_to_stdout diff <(ctl tune save -) "$work/rates"
# in a folder that others may write to
echo mine >"$work/victim"
ln -s victim "$work/foreign"
chown -h 65534 "$work/foreign"
fails tune__saves_into_no_link_of_others 1 "another user's link" ctl tune save "$work/foreign"
is tune__what_it_leads_to_stays "$(<"$work/victim")" mine
is tune__same_everywhere "$(torcollctl netns exec 3 torcollctl -j tune show)" "$(ctl -j tune show)"
tuned=$(ctl -j tune show)
check default__forgets ctl tune default
check default__shown eval 'ctl -j tune show | jq -e ".[0].round_ps == 12000000"'
# node 0 with the defaults, the others as tuned: all take those of rank 0
check default__tuned_differently perf 64
check load__loads ctl tune load "$work/rates"
is load__same_again "$(ctl -j tune show)" "$tuned"
check load__comms_go_on perf 64
echo "hop-ps fast" >"$work/bad"
fails load__refuses_words 1 "a rate and a number" ctl tune load "$work/bad"
echo "hop-ps 1" >"$work/bad"
fails load__refuses_a_part 1 "is missing" ctl tune load "$work/bad"
check set__sets ctl tune set 1 hop-ps 77
check set__others_stay eval 'ctl -j tune show | jq -e ".[0].hop_ps == 77 and .[0].round_ps > 0"'
fails set__refuses_slowness 2 "the rate exceeds 10 s" ctl tune set 1 byte-fs 99999999999999
fails set__refuses_what_is_no_number 1 'is no time' ctl tune set 1 hop nanus
fails set__one_rate_twice 1 '"hop-ps" is given twice' ctl tune set 1 hop 1us round 2us hop-ps 3
# Where it is started on one node only.
export TORCOLL_TIMEOUT=$((3 * TORCOLL_SLOW))
in_time=(timeout $((30 * TORCOLL_SLOW)))
fails run__says_who_is_missing 2 '^waiting for node 1 \(1,0\): start this there; Ctrl-C ends it$' \
	"${in_time[@]}" torcollctl netns exec 0 torcollctl tune run
fails run__others_miss_node_0 2 '^waiting for node 0 \(0,0\)' "${in_time[@]}" torcollctl netns exec 3 torcollctl tune run
is run__one_of_many_says_it "$("${in_time[@]}" torcollctl netns run -n 3 --no-prefix torcollctl tune run 2>&1 |
	grep ^waiting)" "waiting for node 3 (1,1): start this there; Ctrl-C ends it"
check run__on_a_terminal grep -qF $'\rwaiting for node 1 (1,0): start this there; Ctrl-C ends it; ' \
	<("${in_time[@]}" script -qec "torcollctl netns exec 0 torcollctl tune run" /dev/null </dev/null)
fails run__gives_up 2 '^Error: .*rank 0 is missing \(ETIMEDOUT\)' "${in_time[@]}" torcollctl netns exec 3 torcollctl tune run
fails run__no_folder 1 'none/rates: No such file' "${in_time[@]}" torcollctl netns exec 0 torcollctl tune run save "$work/none/rates"
fails run__a_folder 1 'Is a directory' "${in_time[@]}" torcollctl netns exec 0 torcollctl tune run save "$work"
printf '[fabric]\nkey = 1\ndims = 2x\n' >"$work/lab.conf"
fails run__file_is_broken 1 'lab.conf:3: ' "${in_time[@]}" torcollctl netns exec 0 torcollctl tune run save "$work/lab.conf"
printf '[fabric]\nkey = 1\ndims = 2x2\n[node a]\nindex = 0\n' >"$work/lab.conf"
fails run__file_is_good 2 '^waiting for' "${in_time[@]}" torcollctl netns exec 0 torcollctl tune run save "$work/lab.conf"
TORCOLL_TIMEOUT=soon
fails run__no_number_of_seconds 1 'TORCOLL_TIMEOUT: "soon" is not a whole number' "${in_time[@]}" torcollctl netns exec 0 torcollctl tune run
unset TORCOLL_TIMEOUT
fails set__needs_permission 2 "not permitted" \
	torcollctl netns exec 0 setpriv --reuid 65534 --clear-groups --bounding-set=-all --inh-caps=-all \
	build/bin/torcollctl tune set 1 hop-ps 5
finish
