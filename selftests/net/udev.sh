#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 120
#
# The shipped rule gives /dev/torcoll to the group torcoll, whose members may then call, and nobody else.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

member=12345 group=12346

# hello UID GID [GROUP]: of one rank, by that user
hello()
{
	node 0 setpriv --reuid "$1" --regid "$1" "--groups=${2:-$1}" env TORCOLL_FABRIC=1 TORCOLL_COMM=udev \
		TORCOLL_SIZE=1 hello
}

has_group()
{
	[[ $(stat -c '%U:%g %a' /dev/torcoll) == "root:$group 660" ]]
}

# depmod takes that for an error where there is no fixed minor number, and ignores it
# shellcheck disable=SC2153
check module__promises_no_device bash -c "! modinfo -F alias '$TORCOLL_KO' | grep devname"
module_unload
# all in the guest's own files
echo "torcoll:x:$group:" >>/etc/group
mkdir -p /run/udev/rules.d
cp "$TORCOLL_TOP/packaging/90-torcoll.rules" /run/udev/rules.d/
/lib/systemd/systemd-udevd --daemon || bail "no udev"
cleanup udevadm control --exit
torus_up 2
eventually device__belongs_to_the_group 10 has_group
check member__may_call hello $member $group
fails other__may_not any "members of the group torcoll" hello $member
finish
