#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# The unit torcoll@, as a systemd runs it: what it starts it stops, also if a change was refused; and a host whose name comes
# late.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

export XDG_RUNTIME_DIR=/run/unit
conf=/etc/torcoll/lab.conf
systemd=/lib/systemd/systemd

if [[ ! -x $systemd ]]; then
	skip unit "no systemd"
	finish
fi

ctl()
{
	systemctl --user "$@"
}

# conf KEY NODE DEVICE
write_conf()
{
	printf '%s\n' '[fabric]' "key = $1" 'dims = 2' "[node $2]" 'index = 0' "port 0+ = $3" >"$conf"
}

state()
{
	ctl show -P "$1" torcoll@lab
}

fabrics()
{
	torcollctl -j fabric show | jq -c 'map(.key)'
}

is_active()
{
	[[ $(state ActiveState) == active ]]
}

is_failed()
{
	[[ $(state ActiveState) == failed ]]
}

tried_again()
{
	(($(state NRestarts) > 0))
}

module_load || bail "the module does not load"
mkdir -p /etc/torcoll "$XDG_RUNTIME_DIR/systemd/user"
sed "s,@BINDIR@,$(dirname "$(command -v torcollctl)")," "$TORCOLL_TOP/packaging/torcoll@.service.in" \
	>"$XDG_RUNTIME_DIR/systemd/user/torcoll@.service"
# it only runs where it believes that another one has booted the system
mkdir -p /run/systemd/system
cleanup rmdir /run/systemd/system
cleanup rm -f "$conf"
mountpoint -q /sys/fs/cgroup || mount -t cgroup2 none /sys/fs/cgroup || bail "no cgroups"
SYSTEMD_LOG_TARGET=console "$systemd" --user >/run/unit/log 2>&1 &
cleanup kill "$!"
wait_for 90 ctl show-environment || { diag </run/unit/log; bail "no systemd for this user"; }
ip link add late0 type veth peer name late1
ip link add bridge0 type bridge
ip link set late1 master bridge0
cleanup eval 'ip link del bridge0; ip link del late0'

# ---- a change that is refused ----

write_conf 5 "$(hostname)" bridge0
check refused__starts ctl start torcoll@lab
is refused__is_active "$(state ActiveState) $(state ExecMainStatus) $(fabrics)" "active 4 [5]"
check refused__stops ctl stop torcoll@lab
is refused__fabric_is_gone "$(fabrics)" "[]"

# ---- a name that comes late ----

name=$(hostname)
cleanup hostname "$name"
write_conf 6 unit-later late0
check name__is_waited_for ctl start --no-block torcoll@lab
eventually name__is_tried_again 30 tried_again
hostname unit-later
eventually name__has_come 30 is_active
is name__fabric_runs "$(fabrics)" "[6]"
check name__stops ctl stop torcoll@lab
hostname "$name"

# ---- what no time mends ----

echo nonsense >"$conf"
fails file__is_wrong 1 '' ctl start torcoll@lab
check file__has_failed is_failed
is file__is_not_read_again "$(state NRestarts)" 0
is file__no_fabric "$(fabrics)" "[]"
finish
