#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# The shipped rules give /dev/torcoll to the group torcoll, whose members may then call, and nobody else; and make a port
# of a device that comes, or comes back.

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
has_port()
{
	torcollctl -j port show 5 | jq -e "any(.[]; .ifname == \"$1\" and .dir == \"$2\" and .mtu == 4000)" &&
		ip -j link show "$1" | jq -e '.[0].flags | any(. == "UP")'
}

# all in the guest's own files
echo "torcoll:x:$group:" >>/etc/group
mkdir -p /run/udev/rules.d
sed "s,@BINDIR@,$(dirname "$(command -v torcollctl)")," "$TORCOLL_TOP/packaging/90-torcoll.rules.in" \
	>/run/udev/rules.d/90-torcoll.rules
/lib/systemd/systemd-udevd --daemon || bail "no udev"
cleanup udevadm control --exit
torus_up 2
eventually device__belongs_to_the_group 20 has_group
check member__may_call hello $member $group
fails other__may_not any "members of the group torcoll" hello $member

mkdir -p /etc/torcoll
cat >/etc/torcoll/lab.conf <<END
[fabric]
key = 5
dims = 3
[node $(hostname)]
index = 1
mtu = 4000
port 0+ = late0
port 0- = path:somewhere-1
END
# of another fabric, which does not run
sed 's/^key = 5/key = 6/' /etc/torcoll/lab.conf >/etc/torcoll/other.conf
echo 'SUBSYSTEM=="net", KERNEL=="late2", ENV{ID_PATH}="somewhere-1"' >/run/udev/rules.d/50-path.rules
udevadm control --reload
cleanup torcollctl apply /etc/torcoll/lab.conf remove
fails port__missing 3 'lab.conf:7: port 0\+: late0: there is no such device' torcollctl apply /etc/torcoll/lab.conf
ip link add late0 type veth peer name late1
cleanup ip link del late0
eventually port__comes 20 has_port late0 plus
ip link add late2 type veth peer name late3
cleanup ip link del late2
eventually port__comes_by_path 20 has_port late2 minus
is port__nothing_left_to_do "$(torcollctl -j apply /etc/torcoll/lab.conf | jq -c '[.changes, .missing]')" '[0,[]]'
ip link del late0
fails port__gone any . has_port late0 plus
ip link add late0 type veth peer name late1
eventually port__comes_back 20 has_port late0 plus
# another device takes the name
ip link del late0
ip link add other0 type veth peer name late1
ip link set other0 name late0
eventually port__renamed 20 has_port late0 plus
# what the file says is for later, not for a device that comes
sed -i 's/^dims = 3/dims = 4/' /etc/torcoll/lab.conf
ip link del late0
fails port__not_of_an_edited_file 1 'not applied yet, so late2 stays as it is: dims: 3 runs, 4 is in the file' \
	torcollctl apply --device late2
is port__of_no_other_fabric "$(torcollctl -j fabric show | jq -c 'map(.key)')" '[5]'
finish
