#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 1200
# takes: 900
#
# net/mpi with Open MPI 5.0, where this Debian has 4.1: the test itself, in a chroot of Debian 13, which make mpi5 has filled.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"

if [[ $(ompi_info --version 2>/dev/null) == *v5* ]]; then
	skip_all component "Open MPI is 5.0 here: net/mpi"
elif [[ ! -e $TORCOLL_TOP/build/trixie/mpi/root ]]; then
	skip_all component "no chroot of Debian 13: make check T=net/mpi5 makes it"
elif ((TORCOLL_SLOW > 1)); then
	skip_all component "net/mpi does not start programs here either"
fi
exec "$TORCOLL_TOP/selftests/in-trixie" mpi selftests/net/mpi.sh
