#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 700
#
# Four hosts with nothing but the module, each with a kernel of its own: one finds the wiring and writes the file of the
# fabric, all apply it as their boot does, and an allreduce runs. Then one host boots again, and is back by itself, with its
# rates.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit

# What each guest runs; its boot is what torcoll@.service starts. Files in the folder of results tell the others.
job()
{
	cat <<-'EOF'
		set -e
		dir=$TORCOLL_RESULTS conf=$TORCOLL_RESULTS/1.conf own=$TORCOLL_RESULTS/node-$TORCOLL_NODE
		wait_for() { for ((i = 0; i < 1200; i++)); do "$@" && return; sleep 0.2; done; echo "never: $*"; exit 1; }
		boot()
		{
			local start
			start=$(sed -n 's|^ExecStart=@BINDIR@/||p' packaging/torcoll@.service.in)
			${start/\/etc\/torcoll\/%i.conf/"$conf"}
		}
		up() { torcollctl -j port show | jq -e 'length == 2 and all(.[]; .state == "up")' >/dev/null; }
		rates() { torcollctl -j tune show | jq -e '.[0] | .op_ps == 7000000 and .hop_ps == 3000000' >/dev/null; }
		sum() { TORCOLL_COMM=$1 torcoll-perf allreduce -b 64K -e 64K -n 3 -w 1 -c 1; }

		if ((TORCOLL_BOOT == 2)); then
			boot
			wait_for up
			rates && touch "$own/rates"
			touch "$dir/node-0/back"
			sum again >"$own/again" 2>&1
			exit 0
		fi
		touch "$own/ready"
		if ((TORCOLL_NODE == 0)); then
			for n in 1 2 3; do wait_for test -e "$dir/node-$n/ready"; done
			torcollctl discover write "$dir/found.conf"
			printf '%s\n' '[rates]' 'op-ps = 7000000' 'round-ps = 5000000' 'hop-ps = 3000000' 'message-ps = 900000' 'link-fs = 900000' 'byte-fs = 200000' >>"$dir/found.conf"
			mv "$dir/found.conf" "$conf"
		fi
		wait_for test -e "$conf"
		boot
		wait_for up
		rates
		sum once >"$own/once" 2>&1
		# node 2 goes, and boots again; its neighbours notice
		((TORCOLL_NODE != 2)) || exit 0
		wait_for test -e "$dir/node-0/back"
		wait_for up
		sum again >"$own/again" 2>&1
	EOF
}

hosts()
{
	qemu/torus --bare --again 2 --timeout 500 --results "$work" --logs build/log/check/vms/reboot 4 bash -c "$(job)"
}

# right WHEN: every node has called the allreduce, whose results node 0 prints; who had wrong ones has ended all guests.
right()
{
	local n

	for n in 0 1 2 3; do
		[[ -e $work/node-$n/$1 ]] || { echo "node $n has none"; return 1; }
	done
	grep -q 65536 "$work/node-0/$1" || { cat "$work/node-0/$1"; return 1; }
}

work=$(mktemp -d)
ktap_header
cleanup rm -rf "$work"
check hosts__end_well hosts
check wiring__is_found_and_applied right once
check reboot__back_by_itself right again
check reboot__rates_included test -e "$work/node-2/rates"
finish
