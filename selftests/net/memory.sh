#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# processors: 2
#
# Kinds of memory, and the library's cache of registered memory. Nothing of either is left.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

work=$(mktemp -d)
cleanup rm -rf "$work"
torus_up 2x2 "${patient[@]}"
# A file system of its own, on a disk that is a file.
mount_disk()
{
	modprobe -qa loop ext4 && truncate -s 8M "$work/disk" && mkfs.ext4 -q "$work/disk" &&
		mkdir "$work/mnt" && mount -o loop "$work/disk" "$work/mnt"
}

memory()
{
	torcollctl netns run memory >"$work/out" 2>&1
	sed 's/^\[[0-9]*\] //' "$work/out"
}
fold memory memory
if mount_disk; then
	fold disk disk "$work/mnt/file"
	umount "$work/mnt"
else
	skip disk "no file system to be had"
fi
eventually memory__leaves_nothing_charged 20 nothing_charged
finish
