#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# One file for a fabric: applied on its nodes, it makes them what it says, and nothing else; a second time nothing; what
# differs is changed beside a running job; a device that comes back is a port again.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header
work=$(mktemp -d)
cleanup rm -rf "$work"
# for a user without rights, too
chmod 755 "$work"
conf=$work/lab.conf

ctl()
{
	node 0 torcollctl "$@"
}

# apply NODE ARGUMENT...: the file, by the section of that node.
apply()
{
	node "$1" torcollctl apply "$conf" as "n$1" "${@:2}"
}

apply_all()
{
	local n

	for n in 0 1 2 3; do
		apply $n || return
	done
}

changes()
{
	node "$1" torcollctl -j apply "$conf" as "n$1" | jq .changes
}

all_up()
{
	torcollctl netns run -n 4 --no-prefix torcollctl -j port show |
		jq -se 'map(length) == [2, 2, 2, 2] and all(.[][]; .state == "up")'
}

rates()
{
	node "$1" torcollctl -j tune show | jq -c '.[0] | [.op_ps, .round_ps, .hop_ps, .message_ps, .link_fs, .byte_fs]'
}

perf()
{
	torcollctl netns run torcoll-perf allreduce -b 4K -e 4K -n "${1-2}" -w 0 -c 1 -d i32
}

# port DIM DIR: device of that port of node 0
port()
{
	ctl -j port show | jq -r ".[] | select(.dim == $1 and .dir == \"$2\") | .ifname"
}

# whole_with DEVICE: write the whole file with another device as node 0's port 1+
whole_with()
{
	sed "/^\[node n0\]/,/^\[node n1\]/s/^port 1+ = .*/port 1+ = $1/" "$work/whole" >"$conf"
}

# Without the right to change anything, a request that would is refused.
powerless()
{
	node "$1" setpriv --reuid 65534 --clear-groups --bounding-set=-all --inh-caps=-all \
		"$TORCOLL_TOP/build/bin/torcollctl" apply "$conf" as "n$1"
}

cat >"$conf" <<'END'
# four hosts, one cable between any two neighbours
[fabric]
key = 1
dims = 2x2
mtu = 4000

[node n0]
index = 0
port 0+ = d0p
port 1+ = d1p
[node n1]
index = 1
port 0- = d0m
port 1+ = d1p
[node n2]
index = 2
port 0+ = d0p
port 1- = d1m
[node n3]
index = 3
port 0- = d0m
port 1- = d1m

[rates]
op-ps = 1000001
round-ps = 1000002
hop-ps = 1000003
message-ps = 1000004
link-fs = 1000005
byte-fs = 1000006
END
torus_up 2x2 --no-fabric

# ---- from nothing, and again ----

fails dry_run__prints_commands 0 '^torcollctl fabric add 1 dims 2x2 node 0$' apply 0 --dry-run
fails dry_run__the_port 0 '^torcollctl port add 1 dim 1 dir plus dev d1p$' apply 0 --dry-run
fails dry_run__the_device 0 '^ip link set d1p mtu 4000 up$' apply 0 --dry-run
is dry_run__changes_nothing "$(ctl -j fabric show)" "[]"
fails powerless__is_refused 2 'CAP_NET_ADMIN' powerless 0
check apply__on_all apply_all
eventually apply__links_are_up 20 all_up
is apply__rates "$(rates 3)" "[1000001,1000002,1000003,1000004,1000005,1000006]"
is apply__mtu "$(node 3 ip -j link show d0m | jq '.[0].mtu')" 4000
check apply__allreduce_is_right perf
is again__no_changes "$(changes 0) $(changes 1) $(changes 2) $(changes 3)" "0 0 0 0"
is again__says_nothing "$(apply_all 2>&1)" ""
check again__asks_for_nothing_that_needs_a_right powerless 0
check showconf__is_the_file eval "ctl showconf as n0 | tee '$work/shown' | node 0 torcollctl apply - as n0"
is showconf__no_changes "$(node 0 torcollctl -j apply - as n0 <"$work/shown" | jq .changes)" 0
check showconf__ports grep -qx 'port 1+ = d1p' "$work/shown"

# ---- what differs, and nothing else ----

sed 's/^hop-ps = .*/hop-ps = 7/' "$conf" >"$work/tuned"
is rates__only "$(node 0 torcollctl apply "$work/tuned" as n0 --dry-run)" \
	"torcollctl tune set 1 op-ps 1000001 round-ps 1000002 hop-ps 7 message-ps 1000004 link-fs 1000005 byte-fs 1000006"
sed 's/^mtu = .*/mtu = 5000/' "$conf" >"$work/larger"
is mtu__only "$(node 0 torcollctl apply "$work/larger" as n0 --dry-run)" \
	$'ip link set d0p mtu 5000 up\nip link set d1p mtu 5000 up'
printf '%s\n' "[limits]" "comms = 77" >"$work/limits"
cat "$conf" >>"$work/limits"
fails limits__only 0 '^torcollctl limit set comms 77$' torcollctl netns exec 0 torcollctl apply "$work/limits" as n0
is limits__are_set "$(torcollctl -j limit show | jq '.[0].comms')" 77
is limits__again_nothing "$(node 0 torcollctl apply "$work/limits" as n0)" ""

sed '/^\[rates/,$d' "$conf" >"$work/measured"
check save__into_the_file ctl tune save "$work/measured"
is save__nothing_else "$(head -n -8 "$work/measured")" "$(sed '/^\[rates/,$d' "$conf")"
check save__again ctl tune save "$work/measured"
is save__is_what_runs "$(node 0 torcollctl apply "$work/measured" as n0; grep -c '^\[rates\]' "$work/measured")" 1

# A job runs on, over the other cable's dimension and back, while a port is taken away and given back.
cp "$conf" "$work/whole"
perf $((TORCOLL_SLOW > 1 ? 1000 : 3000)) >"$work/job" 2>&1 &
job=$!
has_comm()
{
	ctl -j comm show | jq -e 'any(.[]; .state == "up" and .ops > 5)'
}
eventually job__runs 30 has_comm
sed -i '/^port 1+ = d1p/d' "$conf"
is job__port_removed "$(apply 0)" "torcollctl port del 1 dim 1 dir plus"
is job__port_is_gone "$(port 1 plus)" ""
check job__went_on has_comm
sleep 1
cp "$work/whole" "$conf"
is job__port_added "$(apply 0)" "torcollctl port add 1 dim 1 dir plus dev d1p"
eventually job__links_are_up 20 all_up
check job__still_goes_on has_comm
sed 's/^key = 1/key = 1\nhello = 300ms/' "$work/whole" >"$conf"
fails job__fabric_stays 2 'must be made anew \(hello: [0-9]+ms runs, 300ms is in the file\), and processes have 1 comm' apply 0
fails job__dry_run_says_so 2 'must be made anew' apply 0 --dry-run
cp "$work/whole" "$conf"
check job__still_there has_comm
sed "s|^key = 1|key = 1\nip = 10.7.0.0/24\nhosts = $work/names|" "$work/whole" >"$conf"
check job__names_written ctl hosts "$conf" write "$work/names"
fails job__not_removed 2 'torcollctl fabric del 1: ' apply 0 remove
check job__names_stay grep -qw n3 "$work/names"
cp "$work/whole" "$conf"
wait $job
is job__is_right "$?" 0
diag <"$work/job"

# With nothing in its way, the fabric is made anew, with all its ports.
sed 's/^key = 1/key = 1\nhello = 300ms/' "$work/whole" >"$conf"
check anew__all apply_all
is anew__hello "$(ctl -j fabric show | jq '.[0].hello_ms')" 300
eventually anew__links_are_up 20 all_up
is anew__no_changes "$(changes 2)" 0
cp "$work/whole" "$conf"
check anew__and_back apply_all

# ---- devices ----

mac=$(node 0 ip -j link show d1p | jq -r '.[0].address')
whole_with "mac:${mac^^}"
check mac__is_in_the_file grep -q "^port 1+ = mac:" "$conf"
is mac__is_the_same_device "$(apply 0)" ""
cp "$work/whole" "$conf"

node 0 ip link del d1p
is gone__no_port "$(port 1 plus)" ""
fails gone__says_so 3 "lab.conf:10: port 1\+: d1p: there is no such device" apply 0
is gone__json "$(node 0 torcollctl -j apply "$conf" as n0 | jq -c '[.changes, .missing[0].device]')" '[0,"d1p"]'
is gone__others_stay "$(port 0 plus)" d0p
node 0 ip link add d1p type veth peer name d1m netns tor-2
check back__is_a_port apply 0
check back__at_the_other_end apply 2
eventually back__links_are_up 20 all_up
check back__allreduce_is_right perf

# ---- a change that is refused, and a name that no section has ----

node 0 ip link add br9 type bridge
node 0 ip link add v9 type veth peer name w9
node 0 ip link set w9 master br9
whole_with br9
fails change__is_refused 4 'torcollctl port add 1 dim 1 dir plus dev br9: ' apply 0
is change__others_are_made "$(port 0 plus) $(port 1 plus)" "d0p "
cp "$work/whole" "$conf"
check change__can_be_made apply 0
fails name__no_section 5 "no section \[node .*\], this host's name; sections of nodes: n0, n1" node 0 torcollctl apply "$conf"
node 0 ip link del br9
node 0 ip link del v9
eventually change__links_are_up 20 all_up

# ---- what is refused, whole ----

# refuses NAME PATTERN LINES
refuses()
{
	printf '%s\n' "$3" >"$work/bad.conf"
	fails "refuses__$1" 1 "$2" node 0 torcollctl apply "$work/bad.conf" as n0
}
before=$(ctl -j fabric show | jq -c '.[0].epoch'; ctl -j port show | jq -c 'map(.ifname)')
refuses commands 'bad.conf:1: "fabric add 1 dims 4 node 0" stands before any section.*torcollctl showconf' \
	"fabric add 1 dims 4 node 0"
refuses word 'bad.conf:4: \[fabric\] has no setting "mut"' $'[fabric]\nkey = 1\ndims = 2\nmut = 9000'
refuses twice 'bad.conf:6: device x is that of port 0\+ in line' \
	$'[fabric]\nkey = 1\ndims = 4\n[node n0]\nport 0+ = x\nport 0- = x\nindex = 0'
refuses no_section 'no section \[node n0\]; sections of nodes: a, b' \
	$'[fabric]\nkey = 1\ndims = 4\n[node a]\nindex = 0\n[node b]\nindex = 1'
fails refuses__no_file 1 'nothing.conf: No such file' ctl apply "$work/nothing.conf"
is refuses__touches_nothing "$(ctl -j fabric show | jq -c '.[0].epoch'; ctl -j port show | jq -c 'map(.ifname)')" "$before"
fails showconf__no_such_key 1 'no fabric 9' ctl showconf 9

# ---- leaving ----

check remove__leaves apply 0 remove
is remove__no_fabric "$(ctl -j fabric show)" "[]"
is remove__again_nothing "$(apply 0 remove)" ""
check remove__and_back apply 0
is remove__rates_are_back "$(rates 0)" "$(rates 1)"
eventually remove__links_are_up 20 all_up
finish
