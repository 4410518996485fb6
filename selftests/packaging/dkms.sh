#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 900
#
# What "make install" leaves for DKMS builds, by Debian's dkms, for both kernels; in trees of its own, so that
# nothing of the machine changes. Part of "make check-dkms" only: it compiles the module twice. Needs root.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit

# dkms keeps a key there, whatever trees it is given.
if [[ -z ${TORCOLL_UNSHARED-} ]]; then
	exec unshare -m env TORCOLL_UNSHARED=1 "$0"
fi
mount -t tmpfs none /var/lib/dkms || exit

tmp=$(mktemp -d)
cleanup rm -rf "$tmp"

# by KERNEL COMMAND [ARGUMENT]...: dkms in our trees.
by()
{
	local kernel=$1 command=$2 headers

	shift 2
	headers=$(scripts/kernel --headers "$kernel") || return
	dkms "$command" -m torcoll -v "$version" -k "${headers##*/linux-headers-}" \
		--kernelsourcedir "$headers" --dkmstree "$tmp/dkms" --sourcetree "$tmp/root/usr/src" \
		--installtree "$tmp/root/lib/modules" "$@"
}

build()
{
	local headers

	# it wants to see the folder of a kernel that is installed
	headers=$(scripts/kernel --headers "$1") || return
	mkdir -p "$tmp/root/lib/modules/${headers##*/linux-headers-}"
	by "$1" build || {
		tail -n 50 "$tmp"/dkms/torcoll/"$version"/build/make.log
		return 1
	}
}

is_of_kernel()
{
	local headers release ko

	headers=$(scripts/kernel --headers "$1") || return
	release=${headers##*/linux-headers-}
	ko=$(find "$tmp/root/lib/modules/$release" -name 'torcoll.ko*')
	modinfo "$ko"
	[[ $(modinfo -F vermagic "$ko") == "$release "* && $(modinfo -F version "$ko") == "$version" ]]
}

# On a kernel before the range, which needs no headers: the answer comes first.
refused()
{
	mkdir -p "$tmp/root/lib/modules/$1" "$tmp/headers"
	fails dkms__not_before_the_range 77 'BUILD_EXCLUSIVE directive which does not match' dkms build -m torcoll -v "$version" -k "$1" \
		--kernelsourcedir "$tmp/headers" --dkmstree "$tmp/dkms" --sourcetree "$tmp/root/usr/src" --installtree "$tmp/root/lib/modules"
}

ktap_header
check install make --no-print-directory install DESTDIR="$tmp/root"
version=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' "$tmp"/root/usr/src/torcoll-*/dkms.conf)
mkdir -p "$tmp/dkms"
for kernel in 6.12 6.1; do
	check "dkms__build_$kernel" build $kernel
	check "dkms__install_$kernel" by $kernel install --no-depmod
	check "dkms__module_is_of_$kernel" is_of_kernel $kernel
done
refused 5.10.0-30-amd64
for kernel in 6.12 6.1; do
	check "dkms__remove_$kernel" by $kernel remove --no-depmod
done
is dkms__nothing_left "$(find "$tmp/root/lib/modules" -name 'torcoll.ko*')" ""
finish
