# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For test scripts: results in KTAP, waiting for facts, a torus that is gone at the end whatever
# happens. A script sources it, calls ktap_header, its cases, and finish as its last line:
#
#	. "$(dirname "$0")/../lib.sh"
#	ktap_header
#	torus_up 4x4
#	check fabric_show__lists_all_nodes node 0 torcollctl fabric show
#	finish
#
# The plan is printed by finish alone, so a script that dies on its way is seen to have died.
# A comment "# timeout: SECONDS" at the head of a script replaces the runner's 300.

set -u -o pipefail

TORCOLL_TOP=${TORCOLL_TOP:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)}

# ---- results ----

ktap_cases=0
ktap_failed=0
ktap_cleanups=()

ktap_header()
{
	echo "KTAP version 1"
	trap ktap_cleanup EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
}

# A line of explanation, or all of stdin's.
diag()
{
	if (($#)); then
		printf '# %s\n' "$@"
	else
		sed 's/^/# /'
	fi
}

ok()
{
	echo "ok $((++ktap_cases)) $1"
}

# not_ok NAME [EXPLANATION]...
not_ok()
{
	local name=$1

	shift
	ktap_failed=$((ktap_failed + 1))
	echo "not ok $((++ktap_cases)) $name"
	(($# == 0)) || diag "$@"
}

# skip NAME REASON
skip()
{
	echo "ok $((++ktap_cases)) $1 # SKIP $2"
}

# check NAME COMMAND [ARGUMENT]...: ok if the command succeeds; its output is shown if not.
check()
{
	local name=$1 out code

	shift
	out=$("$@" 2>&1)
	code=$?
	if ((code == 0)); then
		ok "$name"
	else
		not_ok "$name" "exit code $code: $*"
		[[ -z $out ]] || diag <<<"$out"
	fi
	return $code
}

# fails_so CODE PATTERN COMMAND...: whether it exits with that code ("any": not 0) and says the pattern; if not, what it does.
fails_so()
{
	local want=$1 pattern=$2 out code

	shift 2
	out=$("$@" 2>&1)
	code=$?
	if [[ $want == any ]] && ((code != 0)) || [[ $want == "$code" ]]; then
		! grep -qE -- "$pattern" <<<"$out" || return 0
	fi
	echo "exit code $code, wanted $want; wanted to read: $pattern"
	echo "command: $*"
	[[ -z $out ]] || echo "$out"
	return 1
}

# fails NAME CODE PATTERN COMMAND...: a case of that.
fails()
{
	local name=$1 out

	shift
	if out=$(fails_so "$@"); then
		ok "$name"
	else
		not_ok "$name"
		diag <<<"$out"
		return 1
	fi
}

# is NAME GOT WANTED
is()
{
	if [[ $2 == "$3" ]]; then
		ok "$1"
	else
		not_ok "$1" "got:    $2" "wanted: $3"
		return 1
	fi
}

# one_of TRIES COMMAND...: until it succeeds, so many times at most. For what is measured: a moment in which the machine is busy with
# something else spoils one of them, a defect all.
one_of()
{
	local i tries=$1

	shift
	for ((i = 1; i <= tries; i++)); do
		"$@" && return
		echo "this was attempt $i of $tries"
	done
	return 1
}

# fold NAME COMMAND...: the cases of a program that speaks KTAP itself, as ours. One that fails though none of its cases does, as
# one that dies after its plan, or a guest whose kernel complained, has not run to its end.
fold()
{
	local name=$1 line plan="" cases=0 failed=0 code

	shift
	while IFS= read -r line; do
		case $line in
		"ok "*)		cases=$((cases + 1)); line=${line#ok * }; ok "${name}__$line" ;;
		"not ok "*)	cases=$((cases + 1)); line=${line#not ok * }; failed=1; not_ok "${name}__$line" ;;
		"1.."*)		plan=${line#1..} ;;
		"Bail out!"*)	diag "$line" ;;
		*)		echo "$line" ;;
		esac
	done < <("$@" 2>&1)
	wait $!
	code=$?
	((code == 0 || failed)) || plan+=" and exit code 0, not $code"
	is "${name}__ran_to_its_end" "$cases" "${plan:-a plan}"
}

# pytest_ktap FILE: what "pytest -v" has said, for fold: each of its cases as one of KTAP; the details of those that fail
# stand before them.
pytest_ktap()
{
	awk '
		match($0, /::.* (PASSED|FAILED|ERROR) +\[/) {
			name = substr($0, RSTART, RLENGTH)
			good = name ~ / PASSED +\[$/
			gsub(/^.*::test_| (PASSED|FAILED|ERROR) +\[$/, "", name)
			gsub(/[ #]/, "_", name)
			of[name] = good
		}
		/^=+ (FAILURES|ERRORS) =+$/ { detail = 1 }
		detail || /^(ERROR|ImportError|E  )/ { print "# " $0 }
		/ in [0-9.]+s.* =+$/ { ended = 1 }
		END {
			for (name in of)
				print (of[name] ? "ok " : "not ok ") ++n, name
			if (!ended || !n)
				print "Bail out! pytest died, or found no case"
			print "1.." n + (!ended || !n)
		}' "$1"
}

# Ends the script: plan, exit code.
finish()
{
	ktap_cleanup
	echo "1..$ktap_cases"
	((ktap_failed == 0))
	exit
}

# skip_all NAME WHY: the script, of which nothing can run here.
skip_all()
{
	ktap_header
	skip "$1" "$2"
	finish
}

# Ends the script because going on makes no sense.
bail()
{
	echo "Bail out! $*"
	exit 1
}

# Commands to run at the end, last one first, in whatever way the script ends.
cleanup()
{
	ktap_cleanups+=("$(printf '%q ' "$@")")
}

ktap_cleanup()
{
	local i

	trap '' INT TERM
	for ((i = ${#ktap_cleanups[@]} - 1; i >= 0; i--)); do
		eval "${ktap_cleanups[i]}" >/dev/null 2>&1
	done
	ktap_cleanups=()
}

# ---- waiting ----

# Kernels that check what they do are that many times slower: waiting may take that much longer.
TORCOLL_SLOW=${TORCOLL_SLOW:-1}

# up_to SIZE: the largest vector of a test, where that only costs time: less on slow kernels.
up_to()
{
	((TORCOLL_SLOW > 1)) && echo 16K || echo "$1"
}

# wait_for SECONDS COMMAND...: until the command succeeds, which is looked at 20 times a second.
wait_for()
{
	local end=$((${EPOCHREALTIME/[.,]/} + $1 * TORCOLL_SLOW * 1000000))

	shift
	until "$@" >/dev/null 2>&1; do
		((${EPOCHREALTIME/[.,]/} < end)) || return 1
		sleep 0.05
	done
}

# eventually NAME SECONDS COMMAND...: a case of wait_for.
eventually()
{
	local name=$1 seconds=$2

	shift 2
	if wait_for "$seconds" "$@"; then
		ok "$name"
	else
		not_ok "$name" "not within $seconds s: $*"
		diag <<<"$("$@" 2>&1)"
		return 1
	fi
}

# ---- the module ----

module_loaded()
{
	[[ -d /sys/module/torcoll ]]
}

module_load()
{
	module_loaded || "$TORCOLL_TOP/qemu/guest/load-module"
}

# Its last user may just be going: that is waited for, a user that stays is a failure.
module_unload()
{
	! module_loaded || wait_for 10 rmmod torcoll || rmmod torcoll
}

# ---- the torus ----

# Where many ranks crowd a busy machine, hellos may wait for 0.6 s, which is a dead cable by default. For
# tests that cut none, or by the carrier, or to whom it is the same that silence is noticed after three seconds.
# shellcheck disable=SC2034
patient=(hello 1s)

# nodes_up SHAPE [ARGUMENT]...: as torcollctl netns up. On slow kernels the default hellos of 16 nodes alone
# would keep a processor busy, and be late: as much rarer as those are slower. What the arguments say counts.
nodes_up()
{
	local slow=()

	if ((TORCOLL_SLOW > 1)); then
		[[ " ${*:2} " == *" hello "* ]] || slow+=(hello "$((200 * TORCOLL_SLOW))ms")
		[[ " ${*:2} " == *" wait "* ]] || slow+=(wait 300)
	fi
	torcollctl netns up "$1" "${slow[@]}" "${@:2}"
}

# random_calls WORD CASES: so many of all ranks, drawn from the word, are right.
random_calls()
{
	local out

	out=$(torcollctl netns run --no-prefix conformance "$1" "$2" 2>&1)
	grep -q "^$2 passed, 0 failed$" <<<"$out" && return
	echo "$out"
	return 1
}

# torus_up SHAPE [ARGUMENT]...: the same; it ends with the script.
torus_up()
{
	module_load || bail "the module does not load"
	cleanup torus_down
	nodes_up "$@" || bail "no torus: torcollctl netns up $*"
}

torus_down()
{
	torcollctl netns down
	module_unload
}

# node N COMMAND...: in that node's namespace. What is to be killed is started by torcollctl netns exec itself: the process of a
# function in the background is a shell that waits for it.
node()
{
	torcollctl netns exec "$@"
}

# counter N NAME: a counter of node N.
counter()
{
	node "$1" torcollctl -j stats |
		jq -r --arg name "$2" '[.. | objects | .[$name]? | numbers] | add // 0'
}

# counters NAME NODES: the sum over the first so many nodes.
counters()
{
	torcollctl netns run -n "$2" --no-prefix torcollctl -j stats |
		jq -n --arg name "$1" '[inputs | .. | objects | .[$name]? | numbers] | add // 0'
}

# without_frames COMMAND...: it succeeds, and node 0 sends nothing but hellos meanwhile. That a link was down for a moment is news,
# which all nodes are sent, but not each of three times.
without_frames()
{
	local i before sent

	for i in 1 2 3; do
		wait_for 30 nothing_charged || return
		before=$(counter 0 tx_frames)
		"$@" || return
		sent=$(($(counter 0 tx_frames) - before))
		echo "$sent frames"
		((sent)) || return 0
	done
	return 1
}

# fabric_on DEVICE-0 DEVICE-1: a ring of two on these.
fabric_on()
{
	node 0 torcollctl fabric add 1 dims 2 node 0 &&
		node 1 torcollctl fabric add 1 dims 2 node 1 &&
		node 0 torcollctl port add 1 dim 0 dir plus dev "$1" &&
		node 1 torcollctl port add 1 dim 0 dir minus dev "$2" &&
		wait_for 10 port_is 0 '.state == "up"' && wait_for 10 port_is 1 '.state == "up"'
}

no_fabric()
{
	node 0 torcollctl fabric del 1 && node 1 torcollctl fabric del 1
}

# port_is NODE FILTER: the only port of that node.
port_is()
{
	node "$1" torcollctl -j port show | jq -e "length == 1 and (.[0] | $2)"
}

# A packet socket stays open until release_socket: its use alone changes code that other processors run (on_one_cpu).
hold_socket()
{
	local said

	said=$(mktemp)
	badframes hold >"$said" &
	holder=$!
	wait_for 10 test -s "$said" && rm "$said"
}

release_socket()
{
	kill "$holder"
	wait "$holder"
}

# ---- the network device ----

# Times of all packets are taken from here on, until the guest ends: each ping would switch that on and off again.
stamps_up()
{
	pgrep -x stamps >/dev/null || on_one_cpu stamps
}

# ip_up NODES [ARGUMENT]...: tor0 on each of the first so many nodes, with addresses of both families. ARGUMENTs as of torcollctl
# fabric KEY ip on; the key is $fabric_key, or 1. Namespaces of nodes have IPv6 off, so that cables are as quiet as they can be.
ip_up()
{
	torcollctl netns run -n "$1" sysctl -qw net.ipv6.conf.default.disable_ipv6=0 net.ipv6.conf.lo.disable_ipv6=0
	torcollctl netns run -n "$1" torcollctl fabric "${fabric_key:-1}" ip on prefix 10.7.0.0/24 prefix6 fd00:7::/64 "${@:2}"
}

# address NODE [4|6]: the node's address on tor0.
address()
{
	node "$1" ip -"${2:-4}" -j address show dev tor0 scope global | jq -r '.[0].addr_info[0].local'
}

# reaches FROM TO [ARGUMENT]...: one echo between two nodes. ARGUMENTs as of ping.
reaches()
{
	node "$1" ping -q -n -c 1 -W 5 "${@:3}" "$(address "$2")"
}

# pairs_ping 4|6: each of 16 nodes reaches each other by its address.
pairs_ping()
{
	local n addresses=()

	for ((n = 0; n < 16; n++)); do
		addresses+=("$(address "$n" "$1")")
	done
	pairs $((20 * TORCOLL_SLOW)) "${addresses[@]}"
}

# listens NODE PORT: a process does, by TCP.
listens()
{
	node "$1" cat /proc/net/tcp /proc/net/tcp6 | grep -qi ":$(printf %04x "$2") [0:]* 0A "
}

# iperf FROM TO FILE [ARGUMENT]...: an iperf3 between two nodes; what its client reports goes to FILE, as JSON.
iperf()
{
	local server code

	torcollctl netns exec "$2" iperf3 -s -1 >"$3.server" 2>&1 &
	server=$!
	wait_for 20 listens "$2" 5201
	node "$1" iperf3 -J -c "$(address "$2")" "${@:4}" >"$3"
	code=$?
	((code == 0)) || jq -r '.error // empty' "$3"
	((code == 0)) || kill "$server" 2>/dev/null
	wait "$server"
	return $code
}

# iperf_received FILE: bytes.
iperf_received()
{
	jq -r '.end.sum_received.bytes // .end.sum.bytes // 0' "$1"
}

# Nobody has a file open, or pays for anything that is still there.
nothing_charged()
{
	torcollctl -j limit show |
		jq -e '[.[] | select(.user != null) | .comms + .ops + .pinned + .kernel] | (add // 0) == 0' >/dev/null
}

# on_one_cpu COMMAND...: with the other processors switched off. For what switches a static key in a
# path that they may be running, such as the first "tc qdisc add ... clsact" or packet socket:
# QEMU 7.2 may keep the translation of a half-patched instruction, which is an oops later.
on_one_cpu()
{
	local cpu code

	for cpu in /sys/devices/system/cpu/cpu[1-9]*/online; do
		echo 0 >"$cpu"
	done
	"$@"
	code=$?
	for cpu in /sys/devices/system/cpu/cpu[1-9]*/online; do
		echo 1 >"$cpu"
	done
	return $code
}
