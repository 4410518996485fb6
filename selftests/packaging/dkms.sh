#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 900
#
# What "make install" leaves for DKMS builds, by Debian's dkms, for both kernels; in trees of its own, so that
# nothing of the machine changes. Part of "make check-dkms" only: it compiles the module four times. Needs root.

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

# typed COMMANDS: for 6.12, with a dkms that keeps to our trees.
typed()
(
	headers=$(scripts/kernel --headers 6.12) || exit
	dkms()
	{
		local options=(--dkmstree "$tmp/dkms" --sourcetree "$tmp/root/usr/src" --installtree "$tmp/root/lib/modules")

		[[ $1 != @(build|install) ]] || options+=(-k "${headers##*/linux-headers-}" --kernelsourcedir "$headers")
		[[ $1 != @(remove|install) ]] || options+=(--no-depmod)
		command dkms "$@" "${options[@]}"
	}
	eval "$1"
)

# What the RPM does when its files have replaced those of a former release.
rpm_post()
{
	sed -n '/^%post dkms/,/^$/{/^%post/d;p}' packaging/torcoll.spec | sed "s/%{name}/torcoll/g; s/%{version}/$version/g"
}

# What make install says is to be typed.
source_upgrade()
{
	scripts/dkms-former "$tmp/root/usr/src" "$version" "$tmp/dkms" 2>&1 | sed -n 's/^    //p'
}

# replaces NUMBER COMMANDS: the module is that of a source that has been changed, of the same version.
replaces()
{
	local headers release

	headers=$(scripts/kernel --headers 6.12) || return
	echo "MODULE_INFO(release, \"$1\");" >"$tmp/root/usr/src/torcoll-$version/kmod/release.h"
	grep -q release.h "$tmp/root/usr/src/torcoll-$version/kmod/main.c" ||
		echo '#include "release.h"' >>"$tmp/root/usr/src/torcoll-$version/kmod/main.c"
	typed "$2" || return
	release=$(modinfo -F release "$(find "$tmp/root/lib/modules/${headers##*/linux-headers-}" -name 'torcoll.ko*')")
	[[ $release == "$1" ]] || { echo "the module is still that of before"; return 1; }
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
check dkms__remove_6.1 by 6.1 remove --no-depmod
check dkms__rpm_of_the_same_version_is_built replaces 2 "$(rpm_post)"
check dkms__source_of_the_same_version_is_built replaces 3 "$(source_upgrade)"
check dkms__remove_6.12 by 6.12 remove --no-depmod
is dkms__nothing_left "$(find "$tmp/root/lib/modules" -name 'torcoll.ko*')" ""
finish
