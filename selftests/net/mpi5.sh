#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 1200
# takes: 900
#
# net/mpi with Open MPI 5.0, where this Debian has 4.1: the test itself, in a chroot of Debian 13, which make mpi5 has filled. What is written
# there is gone with the guest.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
made=$TORCOLL_TOP/build/trixie

leave()
{
	ktap_header
	skip component "$1"
	finish
}

if [[ $(ompi_info --version 2>/dev/null) == *v5* ]]; then
	leave "Open MPI is 5.0 here: net/mpi"
elif [[ ! -e $made/root ]]; then
	leave "no chroot of Debian 13: make check T=net/mpi5 makes it"
elif ((TORCOLL_SLOW > 1)); then
	leave "net/mpi does not start programs here either"
fi

# Its mounts go with its namespace.
if [[ -z ${MPI5_UNSHARED-} ]]; then
	MPI5_UNSHARED=1 exec unshare --mount "$0"
fi
scratch=$(mktemp -d) root=$scratch/root
{
	mount -t tmpfs over "$scratch" &&
		mkdir "$root" "$scratch/upper" "$scratch/work" &&
		mount -t overlay -o "lowerdir=$(<"$made/root"),upperdir=$scratch/upper,workdir=$scratch/work" over "$root" &&
		mkdir -p "$root$TORCOLL_TOP" &&
		mount --rbind "$TORCOLL_TOP" "$root$TORCOLL_TOP" &&
		mount --bind "$made/mpi" "$root$TORCOLL_TOP/build/mpi"
} || bail "no chroot"
for dir in proc sys dev run lib/modules; do
	{ mkdir -p "$root/$dir" && mount --rbind "/$dir" "$root/$dir"; } || bail "no /$dir in the chroot"
done
cd "$TORCOLL_TOP" || exit
# shellcheck disable=SC2016 # expanded by the inner shell
exec chroot "$root" bash -c 'cd "$0" && exec selftests/net/mpi.sh' "$TORCOLL_TOP"
