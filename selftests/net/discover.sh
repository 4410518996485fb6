#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# takes: 150
#
# Sixteen hosts with nothing but the module, wired as a 4x4 torus: two cables crossed, one missing, a port with another
# MTU, and a host that does not take part. Each is named; when all is put right, the file for all hosts is written, applied
# on each, and an allreduce runs: discover, discover write, apply, fabric check, torcollrun.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

# the tool, again and again: what the kernel does for it is in net/survey
if ((TORCOLL_SLOW > 1)); then
	skip wiring "on slow kernels: minutes for each survey of sixteen hosts"
	finish
fi
work=$(mktemp -d)
cleanup rm -rf "$work"

# name N: of the host that has the place N of the torus.
name()
{
	printf 'h%02d' $((($1 * 7 + 3) % 16))
}

# device N PORT: of the host at the place N; ports are 0 (0+), 1 (0-), 2 (1+), 3 (1-).
device()
{
	echo "enp$(((($1 % 2 ? 3 - $2 : $2) + $1 / 3) % 4 + 1))s0"
}

# right N, below N: the places to which the cables from 0+ and 1+ lead.
right()
{
	echo $(($1 / 4 * 4 + ($1 + 1) % 4))
}

below()
{
	echo $((($1 + 4) % 16))
}

host()
{
	ip netns exec "discover-$1" "${@:2}"
}

# cable HOST DEVICE HOST DEVICE: the devices must not exist.
cable()
{
	ip link add "$2" netns "discover-$1" mtu 9000 type veth peer name "$4" netns "discover-$3" mtu 9000 &&
		ip -n "discover-$1" link set "$2" up && ip -n "discover-$3" link set "$4" up
}

# pull HOST DEVICE: no cable is in that device any more.
pull()
{
	ip -n "discover-$1" link del "$2" 2>/dev/null
	ip link add "$2" netns "discover-$1" mtu 9000 type veth peer name "$1-$2" netns discover-nowhere &&
		ip -n "discover-$1" link set "$2" up
}

# plug HOST DEVICE HOST DEVICE: a cable between two devices that have none.
plug()
{
	ip -n "discover-$1" link del "$2" && ip -n "discover-$3" link del "$4" && cable "$@"
}

make_hosts()
{
	local n h

	for n in {0..15} nowhere; do
		h=$n
		[[ $n == nowhere ]] || h=$(name "$n")
		ip netns add "discover-$h" || return 1
		cleanup ip netns del "discover-$h"
		host "$h" torcollctl host name "$h" || return 1
	done
}

make_cables()
{
	local n r b

	for n in {0..15}; do
		r=$(right "$n") b=$(below "$n")
		cable "$(name "$n")" "$(device "$n" 0)" "$(name "$r")" "$(device "$r" 1)" &&
			cable "$(name "$n")" "$(device "$n" 2)" "$(name "$b")" "$(device "$b" 3)" || return 1
	done
}

# A device of a bridge takes no part in surveys, as if the module were not there.
deaf()
{
	local port

	for port in 0 1 2 3; do
		ip -n "discover-$1" link add "br$port" up type bridge &&
			ip -n "discover-$1" link set "$(device "$2" $port)" master "br$port" || return 1
	done
}

hearing()
{
	local port

	for port in 0 1 2 3; do
		ip -n "discover-$1" link del "br$port" || return 1
	done
}

# found FILTER [ARGUMENT]...: what discover finds passes the filter, and its exit status is $status.
found()
{
	local code

	host "$asker" torcollctl -j discover "${@:2}" >"$work/found"
	code=$?
	((code == status)) && jq -e "$1" "$work/found" >/dev/null && return
	echo "exit status $code"
	host "$asker" torcollctl discover "${@:2}"
	return 1
}

# problem KIND HOST:DEVICE...: there is one such problem, and it is about just these ports.
problem()
{
	local ports

	ports=$(printf '"%s",' "${@:2}")
	jq -e '[.problems[] | select(.kind == "'"$1"'")] | length == 1 and (.[0].where | sort) == ([ '"${ports%,}"' ] | sort)' \
		"$work/found" >/dev/null || { jq -c .problems "$work/found"; return 1; }
}

port()
{
	echo "$(name "$1"):$(device "$1" "$2")"
}

module_load || bail "the module does not load"
cleanup module_unload
make_hosts || bail "no hosts"
make_cables || bail "no cables"

asker=$(name 9) status=0
eventually right__all_cables_fit 60 found '.ok and .shape.kind == "torus" and .shape.sides == [4, 4] and .shape.fits == 32 and
	.problems == [] and (.hosts | length) == 16'

# the cables 2-3 and 8-9 are crossed, that between 5 and 6 is missing
for n in 2 8; do
	pull "$(name $n)" "$(device $n 0)"
	pull "$(name $((n + 1)))" "$(device $((n + 1)) 1)"
done
plug "$(name 2)" "$(device 2 0)" "$(name 9)" "$(device 9 1)"
plug "$(name 8)" "$(device 8 0)" "$(name 3)" "$(device 3 1)"
pull "$(name 5)" "$(device 5 0)"
pull "$(name 6)" "$(device 6 1)"
host "$(name 12)" ip link set "$(device 12 0)" mtu 1500
deaf "$(name 15)" 15

status=3
eventually wrong__is_a_torus_but_for_four_problems 60 found '(.ok | not) and .shape.kind == "torus" and .shape.sides == [4, 4] and
	(.hosts | length) == 15 and (.problems | length) == 4'
check wrong__crossed problem crossed "$(port 2 0)" "$(port 9 1)" "$(port 8 0)" "$(port 3 1)"
check wrong__missing problem missing "$(port 5 0)" "$(port 6 1)"
check wrong__mtu problem mtu "$(port 12 0)" "$(port 13 1)"
check wrong__absent problem absent "$(port 14 0)" "$(port 12 1)" "$(port 11 2)" "$(port 3 3)"
eventually wrong__text 60 fails_so 3 "^15 of 16 hosts form a 4x4 torus, but for 4 problems:$" host "$asker" torcollctl discover
eventually wrong__no_file_without_a_name 60 fails_so 3 "not written: it needs the names of all hosts" \
	host "$asker" torcollctl discover write "$work/1.conf"

# all is put right
pull "$(name 2)" "$(device 2 0)"
pull "$(name 9)" "$(device 9 1)"
pull "$(name 8)" "$(device 8 0)"
pull "$(name 3)" "$(device 3 1)"
plug "$(name 2)" "$(device 2 0)" "$(name 3)" "$(device 3 1)"
plug "$(name 8)" "$(device 8 0)" "$(name 9)" "$(device 9 1)"
plug "$(name 5)" "$(device 5 0)" "$(name 6)" "$(device 6 1)"
host "$(name 12)" ip link set "$(device 12 0)" mtu 9000
hearing "$(name 15)"

status=0
eventually right_again__all_cables_fit 60 found '.ok and .problems == [] and (.hosts | length) == 16' write "$work"
check right_again__file diff "$TORCOLL_TOP/selftests/net/discover.golden" "$work/1.conf"
asker=$(name 2)
eventually right_again__same_from_another_host 60 found '.ok' write "$work/other.conf"
check right_again__same_file diff "$work/1.conf" "$work/other.conf"

# applied on all hosts: a fabric, on which a program runs
apply_all()
{
	local n h

	for n in {0..15}; do
		h=$(name "$n")
		host "$h" torcollctl apply "$work/1.conf" as "$h" || return 1
	done
}

# Nothing is left to do on any host.
agrees()
{
	local n h

	for n in {0..15}; do
		h=$(name "$n")
		host "$h" torcollctl -j apply "$work/1.conf" as "$h" | jq -e '.changes == 0' || return 1
	done
}

no_fault()
{
	host "$asker" torcollctl fabric check
}

# Sums of right values, by ssh's stand-in.
run_all()
{
	cat >"$work/ssh" <<-'EOT'
		#!/bin/bash
		host=$1
		shift
		exec ip netns exec "discover-$host" bash -c "$*"
	EOT
	chmod +x "$work/ssh"
	torcollrun --ssh "$work/ssh" --fabric "$work/1.conf" --timeout $((60 * TORCOLL_SLOW)) \
		torcoll-perf allreduce -b 64K -e 64K -n 3 -w 1 -c 1
}

check applied__on_all_hosts apply_all
check applied__nothing_is_left_to_do agrees
eventually applied__nothing_is_wrong 60 no_fault
check applied__allreduce run_all
finish
