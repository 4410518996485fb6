#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Commands that change files at the same time, and who can keep them waiting.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit
ktap_header

ctl=build/bin/torcollctl
lock=/run/torcollctl.lock
fabrics=12
work=$(mktemp -d)
cleanup rm -rf "$work"

# By root alone: what other users change is their own.
if ((EUID)); then
	skip lock "needs root"
	finish
fi

for ((i = 1; i <= fabrics; i++)); do
	printf '%s\n' '[fabric]' "key = $i" 'dims = 2' "ip = 10.7.$i.0/24" \
		"[node a$i]" 'index = 0' "[node b$i]" 'index = 1' >"$work/$i.conf"
done
echo '192.0.2.1 other' >"$work/hosts"

write()
{
	timeout 60 "$ctl" hosts "$work/$1.conf" write "$work/hosts"
}

# held FILE COMMAND...: runs it while another process, which may only read FILE, has a lock on that.
held()
{
	local file=$1 holder ret

	mkfifo "$work/go"
	# shellcheck disable=SC2016
	bash -c 'exec 3<"$1" && flock -x 3 && echo >"$2" && exec sleep 100' - "$file" "$work/go" &
	holder=$!
	read -r _ <"$work/go"
	"${@:2}"
	ret=$?
	kill -- "$holder"
	wait "$holder" 2>/dev/null
	rm "$work/go"
	return "$ret"
}

all_at_once()
{
	local i pids=()

	for ((i = 1; i <= fabrics; i++)); do
		write "$i" &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i" || return
	done
	(($(grep -cE $'[[:space:]][ab][0-9]+' "$work/hosts") == 2 * fabrics)) && grep -q ' other$' "$work/hosts"
}

waits_for_it()
{
	local holder writer

	exec {holder}>>"$lock"
	flock "$holder"
	write 1 {holder}>&- &
	writer=$!
	sleep 0.5
	! grep -qw a1 "$work/hosts" || return
	exec {holder}>&-
	wait "$writer" && grep -qw a1 "$work/hosts"
}

# A file that exists: another command may be changing it.
discover_waits()
{
	local holder writer

	selftests/host/survey_torus.py 4 >"$work/survey"
	echo old >"$work/found"
	exec {holder}>>"$lock"
	flock "$holder"
	timeout 20 "$ctl" discover from "$work/survey" write "$work/found" {holder}>&- &
	writer=$!
	sleep 0.5
	grep -qx old "$work/found" || return
	exec {holder}>&-
	wait "$writer" && grep -q '^.node c3.$' "$work/found"
}

# Of a user to whom the lock does not belong.
own_file()
{
	mkdir "$work/user" && cp "$work/1.conf" "$work/user" && : >"$work/user/hosts" && cp "$ctl" "$work/user/ctl" &&
		chown -R 65534 "$work/user" && chmod 755 "$work" || return
	LD_LIBRARY_PATH=build/lib setpriv --reuid 65534 --clear-groups "$work/user/ctl" hosts "$work/user/1.conf" write "$work/user/hosts" &&
		grep -qw b1 "$work/user/hosts"
}

check reader_of_hosts__keeps_nobody_waiting held "$work/hosts" write 1
check reader_of_fabric__keeps_nobody_waiting held "$work/1.conf" write 1
is lock__is_of_root "$(stat -c '%u %a' "$lock")" "0 600"
check remove timeout 60 "$ctl" hosts "$work/1.conf" remove "$work/hosts"
check lock__is_waited_for waits_for_it
check discover__waits discover_waits
check writers__lose_no_names all_at_once
check user__writes_own_files own_file

if [[ -d /sys/module/torcoll ]]; then
	skip remove__no_module "the module is loaded"
	finish
fi
sed "/^ip/a hosts = $work/left" "$work/1.conf" >"$work/left.conf"
check remove__no_module__has_names "$ctl" hosts "$work/left.conf" write "$work/left"
is remove__no_module__dry_run "$("$ctl" apply "$work/left.conf" remove --dry-run)" \
	"torcollctl hosts $work/left.conf remove $work/left"
check remove__no_module__dry_run_leaves_them grep -qw b1 "$work/left"
is remove__no_module "$("$ctl" -j apply "$work/left.conf" remove | jq .changes)" 1
is remove__no_module__nothing_is_left "$(<"$work/left")" ""
is remove__no_module__again "$("$ctl" -j apply "$work/left.conf" remove | jq .changes)" 0
finish
