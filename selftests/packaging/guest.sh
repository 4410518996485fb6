# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# For tests that run in a guest what is installed in a folder. Sourced, never run, by what sets root (that folder) and has
# sourced scripts/chroot.sh.

inside()
{
	chroot_run "$root" "export DEBIAN_FRONTEND=noninteractive; $*"
}

# mount_at FOLDER ARGUMENT...: unless the guest has that already
mount_at()
{
	local at=$root/$1

	shift
	mountpoint -q "$at" || mount "$@" "$at"
}

mounts()
{
	mount_at proc -t proc proc && mount_at sys -t sysfs sys && mount_at dev --rbind /dev &&
		mount_at run -t tmpfs run && mkdir -p "$root/run/netns"
}
