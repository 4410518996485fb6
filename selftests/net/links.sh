#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# What a node counts and remembers of each of its cables: frames lost and damaged on it, frames sent again by it, and changes
# of its link, in the node's log and in the kernel's.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

nodes=4
work=$(mktemp -d)
cleanup rm -rf "$work"

# of_port NODE DIR MEMBER: of that port of a ring.
of_port()
{
	node "$1" torcollctl -j port show | jq --arg dir "$2" ".[] | select(.dir == \$dir).$3"
}

# of_others MEMBER: the sum over all ports but node 1's towards node 0.
of_others()
{
	local n sum=0

	for ((n = 0; n < nodes; n++)); do
		((sum += $(node "$n" torcollctl -j port show |
			jq "[.[] | select($n != 1 or .dir != \"minus\").$1] | add")))
	done
	echo $sum
}

# Each frame goes to a neighbour, of few bytes: netem then has something to drop. Its time does not matter.
traffic()
{
	torcollctl netns run torcoll-perf allreduce --algo bucket -b 64K -e 64K -n "$1" -w 0
}

# Frames that netem dropped at node 0's end of the cable to node 1.
dropped()
{
	node 0 tc -s qdisc show dev d0p root | sed -n 's/.*(dropped \([0-9]*\),.*/\1/p'
}

# near GOT WANTED: within a factor of two, and not of nothing.
near()
{
	echo "$1 counted, of $2"
	(($2 > 20 && $1 * 2 >= $2 && $1 <= $2 * 2))
}

# A loss is counted after a window or two.
lost_is_near()
{
	near "$(of_port 1 minus lost)" "$(dropped)"
}

# ---- loss, on one direction of the cable between nodes 0 and 1 ----

torus_up $nodes "${patient[@]}"
check loss__traffic_before traffic 200
check loss__netem node 0 tc qdisc add dev d0p root netem loss 3%
resent=$(of_port 0 plus resent)
check loss__results_are_right traffic 600
eventually loss__is_counted 60 lost_is_near
diag "netem dropped $(dropped), $(of_port 1 minus lost) counted, $(of_port 0 plus resent) sent again"
is loss__elsewhere_is_none "$(of_others lost)" 0
is loss__is_no_damage "$(of_port 1 minus damaged)" 0
check loss__is_sent_again_by_that_port test "$(of_port 0 plus resent)" -gt "$resent"
before=$(of_port 1 minus lost)
check loss__ends node 0 tc qdisc del dev d0p root
check loss__traffic_behind traffic 200
diag "$before, later $(of_port 1 minus lost)"

# ---- damage ----

check damage__netem node 0 tc qdisc add dev d0p root netem corrupt 3%
check damage__results_are_right traffic 400
damaged=$(of_port 1 minus damaged)
diag "$damaged damaged"
check damage__is_counted test "$damaged" -gt 10
is damage__elsewhere_is_none "$(of_others damaged)" 0
check damage__ends node 0 tc qdisc del dev d0p root

# ---- changes ----

# shows NODE JQ: a line of the node's log for which that is true.
in_log()
{
	node "$1" torcollctl -j log | jq -e "any(.[]; $2)" >/dev/null
}

flap()
{
	node 2 ip link set d0p down && wait_for 20 link_is 3 minus no-carrier &&
		node 2 ip link set d0p up && wait_for 20 link_is 3 minus up
}

link_is()
{
	[[ $(of_port "$1" "$2" state) == "\"$3\"" ]]
}

downs=$(of_port 3 minus downs)
begin=$(date +%s)
check flap__happens flap
is flap__is_counted "$(of_port 3 minus downs)" $((downs + 1))
check flap__since test "$(of_port 3 minus since_ns)" -lt 60000000000
check flap__is_in_the_log in_log 3 '.dir == "minus" and .ifname == "d0m" and .from == "up" and .to == "no-carrier" and
	(.reason | startswith("no carrier"))'
check flap__end_is_in_the_log in_log 3 '.dir == "minus" and .to == "up"'
check flap__reason_is_its_own in_log 2 '.dir == "plus" and .to == "no-carrier" and .reason == "the device is down"'
# each is told how long ago it was when it is told, which may be a while after the one before
in_order()
{
	node 3 torcollctl -j log | jq -e '([.[].seq] == [range(length)]) and
		([.[].ago_ns] | .[0] >= .[-1] and all([.[:-1], .[1:]] | transpose[]; .[1] <= .[0] + 1e9))'
}
check flap__log_is_in_order in_order

# The time that a line names is that of the change.
logged_in_time()
{
	local line

	line=$(node 3 torcollctl log 1 | grep 'dim 0 minus (d0m): up -> no-carrier: no carrier' | tail -n 1)
	echo "$line"
	local at
	at=$(date -d "${line%% *}" +%s) || return
	((at >= begin - 1 && at <= $(date +%s) + 1))
}
check flap__has_its_time logged_in_time

# A cable that carries nothing any more, in one direction: hellos of the others end it. Silence has its length in the log.
check silence__begins node 0 tc qdisc add dev d0p root netem loss 100%
eventually silence__takes_it_down 20 link_is 1 minus waiting
check silence__is_in_the_log in_log 1 '.from == "up" and .to == "waiting" and .reason == "nothing heard for 3000 ms"'
check silence__ends node 0 tc qdisc del dev d0p root
eventually silence__comes_up 20 link_is 1 minus up
fails log__no_such_fabric 2 'no fabric of that key' node 0 torcollctl log 77
fails log__no_such_word 1 'Error' node 0 torcollctl log nonsense

# ---- monitor ----

torcollctl netns exec 3 torcollctl monitor port fabric >"$work/events" &
cleanup kill $!
monitors()
{
	flap && grep -q 'port changed 1 dim 0 minus dev d0m up' "$work/events"
}
eventually monitor__tells 60 monitors
# the time aside: of no object two lines that say the same, one after the other
says_nothing_twice()
{
	awk '{ $1 = ""; name = $2 == "port" ? $2 $4 $6 $7 : $2 $4 }
		last[name] == $0 { print "twice:", $0; bad = 1 }
		{ last[name] = $0 }
		END { exit bad || NR < 4 }' "$work/events"
}
check monitor__no_line_twice says_nothing_twice || diag <"$work/events"

# ---- for Prometheus ----

metrics()
{
	node 3 torcollctl stats --prometheus "$1"
}

# The text format as its description has it: a name has HELP and TYPE, in that order, before its samples, which are together;
# counters end in _total; no two samples have the same labels.
well_formed()
{
	awk '
		function wrong(why) { print NR ": " why ": " $0; bad = 1 }
		/^# HELP [a-z_]+ [A-Z0-9].*\.$/ {
			if ($3 in helped)
				wrong("twice")
			helped[$3] = 1
			next
		}
		/^# TYPE [a-z_]+ (counter|gauge)$/ {
			if ($3 in type || !($3 in helped))
				wrong("out of order")
			if (($4 == "counter") != ($3 ~ /_total$/))
				wrong("name of another type")
			type[$3] = $4
			now = $3
			next
		}
		/^torcoll_[a-z_]+\{[a-z]+="([^"\\]|\\[\\n"])*"(,[a-z]+="([^"\\]|\\[\\n"])*")*\} [0-9]+(\.[0-9]+)?$/ {
			name = $0
			sub(/\{.*/, "", name)
			series = $0
			sub(/ [0-9.]+$/, "", series)
			if (name != now)
				wrong("not of " now)
			if (seen[series]++)
				wrong("twice")
			n[name]++
			next
		}
		{ wrong("no line of this format") }
		END {
			for (name in type)
				if (!n[name])
					wrong("no sample of " name)
			exit bad || length(type) < 50
		}' "$1"
}

has_metric()
{
	grep -qE "^$1\$" "$work/torcoll.prom"
}

check prometheus__file metrics "$work/torcoll.prom"
check prometheus__is_well_formed well_formed "$work/torcoll.prom"
is prometheus__others_may_read "$(stat -c %a "$work/torcoll.prom")" 644
is prometheus__leaves_nothing_else "$(find "$work" -name '*.prom*' | wc -l)" 1
check prometheus__state has_metric \
	'torcoll_port_state\{fabric="1",node="3",dim="0",dir="minus",device="d0m",state="up"\} 1'
check prometheus__other_state has_metric \
	'torcoll_port_state\{fabric="1",node="3",dim="0",dir="minus",device="d0m",state="waiting"\} 0'
check prometheus__downs has_metric 'torcoll_port_downs_total\{.*,dir="minus",device="d0m"\} [1-9][0-9]*'
check prometheus__counter has_metric 'torcoll_ops_total\{fabric="1",node="3"\} [1-9][0-9]+'
check prometheus__info has_metric 'torcoll_fabric_info\{fabric="1",node="3",dims="4",version="[0-9.]+"\} 1'
check prometheus__stdout well_formed <(node 3 torcollctl stats --prometheus)
echo old >"$work/old.prom"
chmod 400 "$work/old.prom"
check prometheus__replaces metrics "$work/old.prom"
check prometheus__is_new well_formed "$work/old.prom"
ln -s old.prom "$work/link.prom"
check prometheus__by_a_link metrics "$work/link.prom"
check prometheus__link_stays test -L "$work/link.prom"
# the folder may be another user's
ln -s "$work/old.prom" "$work/foreign.prom"
chown -h 65534 "$work/foreign.prom"
touch -d @0 "$work/old.prom"
check prometheus__instead_of_a_link metrics "$work/foreign.prom"
is prometheus__link_of_another_user "$(stat -c '%F %Y' "$work/foreign.prom" | cut -d' ' -f1-2) $(stat -c %Y "$work/old.prom")" \
	"regular file 0"
mknod /dev/null.prom c 1 3
check prometheus__to_a_device metrics /dev/null.prom
check prometheus__device_stays test -c /dev/null.prom
fails prometheus__no_such_folder 2 '/nowhere/x.prom: No such file' metrics /nowhere/x.prom

# ---- the kernel's log ----

# Lines about a fabric and node since a mark, or all of the module's since then.
mark=torcoll-links-mark
said()
{
	dmesg | awk -v mark=$mark 'index($0, mark) { on = 1 } on' | grep -E "torcoll: fabric $1"
}

echo $mark >/dev/kmsg
check kernel__flap flap
kernel_says()
{
	said 1 | grep -E -- "$1"
}
eventually kernel__says_down 10 kernel_says 'node 3 port 0- \(d0m\): up -> no-carrier: no carrier'
eventually kernel__says_up 10 kernel_says 'node 3 port 0- \(d0m\): [a-z-]+ -> up$'
check kernel__not_of_steps_between test "$(said 1 | grep -c -e '-> waiting$' -e '-> one-way$')" -eq 0

# Changes faster than lines may come: each end sees a state that needs a remedy, and none, in turn.
storm()
{
	local i

	for ((i = 0; i < 40; i++)); do
		node 2 torcollctl port del dev d0p && node 2 torcollctl port add 1 dim 0 dir plus dev d0p &&
			wait_for 30 link_is_or_flaps || return
	done
}

link_is_or_flaps()
{
	link_is 2 plus up || link_is 2 plus flapping
}

mark=torcoll-links-storm
echo $mark >/dev/kmsg
SECONDS=0
check kernel__storm storm
# those that the storm touched, of which the first may have begun before
pauses=$((SECONDS / 4 + 2))
lines=$(said '1 node 2 port' | wc -l)
diag "$lines lines of node 2 in $SECONDS s, of 80 changes; $(said '1 node 2: .* left out' | wc -l) lines about others"
check kernel__lines_are_limited test "$lines" -le $((12 * pauses))
finish
