#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 1800
#
# host/torch with PyTorch 2.6, where this Debian has 1.13: the test itself, in a chroot of Debian 13, which make torch2 has filled.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"

if [[ ! -e $TORCOLL_TOP/build/trixie/torch/root ]]; then
	skip_all torch "no chroot of Debian 13: make check T=host/torch2 makes it, where PyTorch is 1.13"
elif ((EUID != 0)); then
	skip_all torch "only root can use a chroot"
fi
exec "$TORCOLL_TOP/selftests/in-trixie" "torch python" selftests/host/torch.sh
