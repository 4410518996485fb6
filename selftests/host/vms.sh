#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# A guest for each node: four kernels on cables between them make a torus and reduce right.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit

work=$(mktemp -d)
ktap_header
cleanup rm -rf "$work"
torus()
{
	qemu/torus --timeout 200 --results "$work" --logs build/log/check/host/vms "$@"
}

check demo__2x2 torus --env STEPS=5 --env LARGEST=32K 2x2 qemu/guest/demo-node.sh
finish
