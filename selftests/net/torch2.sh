#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 1200
# takes: 600
#
# net/torch with PyTorch 2.6, where this Debian has 1.13: the test itself, in a chroot of Debian 13, which make torch2 has filled.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"

if [[ ! -e $TORCOLL_TOP/build/trixie/torch/root ]]; then
	skip_all torch "no chroot of Debian 13: make check T=net/torch2 makes it, where PyTorch is 1.13"
elif ((TORCOLL_SLOW > 1)); then
	skip_all torch "net/torch does not start PyTorch here either"
fi
exec "$TORCOLL_TOP/selftests/in-trixie" "torch python" selftests/net/torch.sh
