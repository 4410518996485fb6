#!/bin/bash
# SPDX-License-Identifier: MIT
#
# make install into a folder: what is there works from there.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit

root=$(mktemp -d)
cleanup rm -rf "$root"

has_files()
{
	local f bad=0

	for f; do
		[[ -s $root/$f ]] || { echo "no $f"; bad=1; }
	done
	((!bad))
}

# Every program, page, header and document of the tree.
complete()
{
	local f list=()

	for f in build/bin/torcoll*; do
		list+=("usr/bin/${f##*/}")
	done
	while read -r f; do
		list+=("usr/share/man/man${f##*.}/${f##*/}")
	done < <(find docs lib tools -name '*.[1-8]')
	for f in docs/*.md; do
		list+=("usr/share/doc/torcoll/$f")
	done
	has_files "${list[@]}" usr/include/torcoll.h usr/include/linux/torcoll.h \
		usr/include/linux/torcoll_netlink.h usr/lib/libtorcoll.so usr/lib/libtorcoll.so.0 \
		usr/lib/libtorcoll.a usr/lib/pkgconfig/libtorcoll.pc usr/share/doc/torcoll/README.md \
		usr/share/bash-completion/completions/torcollctl usr/share/torcoll/torcoll.lua \
		lib/udev/rules.d/90-torcoll.rules usr/lib/sysusers.d/torcoll.conf
}

runs()
{
	"$root/usr/bin/$1" --version
}

compiles()
{
	local flags

	export PKG_CONFIG_PATH=$root/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root
	read -ra flags < <(pkg-config --cflags --libs libtorcoll)
	# no headers but those installed
	cc -o "$root/hello" -x c - "${flags[@]}" <<-'END' && LD_LIBRARY_PATH=$root/usr/lib "$root/hello"
		#include <stdio.h>
		#include <torcoll.h>
		int main(void) { return puts(torcoll_version()) < 0; }
	END
}

# DKMS gets all that the module is made of.
module_source()
{
	diff -r kmod "$root"/usr/src/torcoll-*/kmod && diff -r uapi "$root"/usr/src/torcoll-*/uapi
}

one_version()
{
	local version

	version=$(sed -n 's/^VERSION := //p' Makefile)
	grep -q "\"$version\"" kmod/core/version.h &&
		grep -q "^PACKAGE_VERSION=\"$version\"" "$root/usr/src/torcoll-$version/dkms.conf" &&
		[[ $(runs torcollctl) == "torcollctl $version" ]]
}

group_torcoll()
{
	command -v systemd-sysusers >/dev/null || return 0
	mkdir -p "$root/etc"
	systemd-sysusers --root="$root" "$root/usr/lib/sysusers.d/torcoll.conf" || return
	grep -q '^torcoll:' "$root/etc/group" && grep -q 'GROUP="torcoll"' "$root"/lib/udev/rules.d/*
}

# What is said to a compiler for a kernel that is configured so.
said_for()
{
	# it fails in any case, for want of the kernel's headers
	{ cc -E -Ikmod "$@" kmod/main.c 2>&1 >/dev/null || true; } |
		grep -q 'torcoll needs a kernel of 64 bits'
}

for_64_bits_only()
{
	said_for && ! said_for -DCONFIG_64BIT &&
		grep -q '^BUILD_EXCLUSIVE_CONFIG="CONFIG_64BIT"' "$root"/usr/src/torcoll-*/dkms.conf
}

ktap_header
check install make --no-print-directory install PREFIX=/usr DESTDIR="$root"
check install__complete complete
for tool in build/bin/torcoll*; do
	check "runs__${tool##*/}" runs "${tool##*/}"
done
check program__compiles_against_it compiles
check module__source_is_whole module_source
check version__is_one one_version
check module__for_64_bits_only for_64_bits_only
check group__is_made group_torcoll
finish
