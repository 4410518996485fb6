#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 1500
#
# A guest for each node: two kernels in one torus, another network device, nine nodes; and that a guest
# which fails, or an interrupt, ends all and leaves nothing.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit

torus()
{
	qemu/torus --timeout 500 --results "$work" --logs "build/log/check/vms/$name" "$@"
}

# demo NAME ARGUMENT...: the demo, shortened.
demo()
{
	name=$1
	shift
	check "demo__$name" torus --env STEPS=10 --env LARGEST=256K "$@" qemu/guest/demo-node.sh
}

# As many as this script has started, and their children.
guests()
{
	pgrep -fc "qemu-system.*$work"
}

no_guest()
{
	(($(guests) == 0))
}

# Node 2 gives up when all are up; the others would wait for ever.
one_fails()
{
	torus 2x2 bash -c '((TORCOLL_NODE != 2)) || { echo "no more"; exit 7; }; sleep 400'
}

# The runner as a user's Ctrl-C hits it: by SIGINT, when all guests are up.
interrupted()
{
	local pid

	# a script starts its background jobs with SIGINT ignored
	env --default-signal=INT qemu/torus --timeout 300 --results "$work" \
		--logs build/log/check/vms/interrupted 2x2 sleep 400 >"$work.out" 2>&1 &
	pid=$!
	wait_for 120 all_up || { kill "$pid"; return 1; }
	(($(guests) == 4)) || return 1
	kill -INT "$pid"
	wait "$pid"
	(($? == 130)) && grep -q interrupted "$work.out"
}

all_up()
{
	(($(find "$work" -name up -size +0 | wc -l) == 4))
}

work=$(mktemp -d)
name=failure
ktap_header
cleanup rm -rf "$work" "$work.out"
demo mixed_kernels --kernel 6.1,6.12 2x2
demo e1000e --nic e1000e 2x2
demo 3x3 3x3
name=failure
fails failure__ends_all_and_is_named 7 'node 2 failed \(exit code 7\)' one_fails
check failure__leaves_no_guest wait_for 10 no_guest
rm -rf "${work:?}"/node-*
check interrupt__ends_all interrupted
check interrupt__leaves_no_guest wait_for 10 no_guest
check interrupt__leaves_no_sockets test -z "$(find /tmp -maxdepth 1 -name 'torcoll-torus.*' -newer "$work")"
finish
