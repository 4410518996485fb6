# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Other releases of Debian, from the mirrors that apt has on this machine: their packages, and a bare one in a folder, by
# debootstrap. Sourced, never run. Whoever mounts there has a mount namespace of its own.

# The mirror of Debian, and of its security updates, that apt has here; with label $1.
mirror()
{
	# shellcheck disable=SC2016 # for apt to expand
	apt-get indextargets --format '$(REPO_URI) $(LABEL)' 'Created-By: Packages' |
		sed -n "s/ $1\$//p" | sort -u | head -n 1
}

# Lines of sources.list for suites $2.. from the mirrors that apt has, each with options $1.
sources_of()
{
	local options=$1 debian security suite

	shift
	debian=$(mirror Debian)
	[[ $debian ]] || die "apt has no mirror of Debian here"
	security=$(mirror Debian-Security)
	for suite; do
		echo "deb $options$debian $suite main"
		[[ $suite != *-* ]] || continue
		echo "deb $options$debian $suite-updates main"
		[[ -z $security ]] || echo "deb $options$security $suite-security main"
	done
}

# chroot_make ROOT SUITE PACKAGE,...: besides what is essential
chroot_make()
{
	local root=$1 suite=$2 debian

	debian=$(mirror Debian)
	[[ $debian ]] || die "apt has no mirror of Debian here"
	debootstrap --variant=minbase --include="$3" "$suite" "$root" "$debian" |
		sed -u -n 's/^I: \(Configuring\|Base system\)/  &/p' >&2
	sources_of "" "$suite" >"$root/etc/apt/sources.list"
	[[ ! -e /etc/resolv.conf ]] || cp -L /etc/resolv.conf "$root/etc/"
	[[ ! -e /etc/hosts ]] || cp -L /etc/hosts "$root/etc/"
}

chroot_mount()
{
	# unshare --mount, in there, wants the root to be a mount point
	mount --bind "$1" "$1"
	mount -t proc proc "$1/proc"
	mount --rbind --make-rslave /dev "$1/dev"
	mount -t tmpfs -o nosuid,nodev shm "$1/dev/shm"
	mount -t sysfs -o ro sysfs "$1/sys"
	mount -t tmpfs tmpfs "$1/tmp"
}

# chroot_run ROOT COMMAND...: what a user types, as a user's shell has it
chroot_run()
{
	local root=$1

	shift
	chroot "$root" /usr/bin/env -i HOME=/root TERM="${TERM-dumb}" LC_ALL=C.UTF-8 \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin sh -c "$*" </dev/null
}
