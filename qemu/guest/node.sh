#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Makes a guest of qemu/torus the node that it is, waits for its links, and runs the command. With TORCOLL_BARE
# nothing is configured but the name of the host, hN, and that devices are up at its first boot.

set -uo pipefail

wait_seconds=120
mark=$TORCOLL_RESULTS/node-$TORCOLL_NODE

fail()
{
	echo "node $TORCOLL_NODE: $*" >&2
	exit 1
}

ports()
{
	torcollctl -j port show | jq -r '.[] | "\(.ifname) \(.state) \(.reason // "")"'
}

all_up()
{
	torcollctl -j fabric show | jq -e '.[0] | .ports > 0 and .ports == .ports_up' >/dev/null
}

bare()
{
	hostname "h$TORCOLL_NODE"
	load-module || fail "the module does not load"
	((TORCOLL_BOOT == 1)) || return 0
	for pair in $TORCOLL_DEVICES; do
		ip link set "${pair#*=}" mtu "${TORCOLL_MTU:-9000}" up || fail "cannot set ${pair#*=} up"
	done
}

member()
{
	local pair dev dir i

	load-module || fail "the module does not load"
	torcollctl fabric add "$TORCOLL_FABRIC" dims "$TORCOLL_DIMS" node "$TORCOLL_NODE" || fail "no fabric"
	for pair in $TORCOLL_DEVICES; do
		dev=${pair#*=} dir=plus
		[[ $dev == *p ]] || dir=minus
		ip link set "$dev" mtu "${TORCOLL_MTU:-9000}" up || fail "cannot set $dev up"
		torcollctl port add "$TORCOLL_FABRIC" dim "${dev:1:1}" dir $dir dev "$dev" || fail "no port $dev"
	done
	for ((i = 0; i < wait_seconds * 5; i++)); do
		! all_up || break
		sleep 0.2
	done
	all_up || fail "not all links are up within $wait_seconds s:" $'\n'"$(ports)"
}

if [[ -n ${TORCOLL_BARE-} ]]; then
	bare
else
	member
fi
uname -r >"$mark/up"
exec "$@"
