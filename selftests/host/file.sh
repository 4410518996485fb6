#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Files that commands write: links stay links, what is no file stays what it is, owner and mode are kept.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit
ktap_header

ctl=build/bin/torcollctl
work=$(mktemp -d)
cleanup rm -rf "$work"

selftests/host/survey_torus.py 4 >"$work/survey"
printf '%s\n' '[fabric]' 'key = 1' 'dims = 2' 'ip = 10.7.1.0/24' '[node a]' 'index = 0' '[node b]' 'index = 1' >"$work/1.conf"

discover()
{
	timeout 20 "$ctl" discover from "$work/survey" write "$1"
}

hosts()
{
	timeout 20 "$ctl" hosts "$work/1.conf" write "$1"
}

# is_whole FILE: it is what discover writes.
is_whole()
{
	[[ -f $1 && ! -L $1 ]] && (($(grep -c '^\[node c' "$1") == 4))
}

# through_link COMMAND PATTERN: writes into what the link leads to.
through_link()
{
	echo old >"$work/target"
	ln -sf target "$work/link"
	"$1" "$work/link" && [[ -L $work/link && ! -L $work/target ]] && grep -q "$2" "$work/target"
}

keeps_owner_and_mode()
{
	local before

	echo old >"$work/kept"
	chmod 640 "$work/kept"
	((EUID)) || chown 65534:65533 "$work/kept"
	before=$(stat -c '%a %u %g' "$work/kept")
	discover "$work/kept" && is_whole "$work/kept" && [[ $(stat -c '%a %u %g' "$work/kept") == "$before" ]]
}

# Whoever may write into the folder leaves a link where the text was to be put first.
planted_link()
{
	echo mine >"$work/victim"
	ln -sf victim "$work/planted.new"
	discover "$work/planted" && is_whole "$work/planted" && [[ $(<"$work/victim") == mine && -L $work/planted.new ]]
}

# A pipe gets the text, and is there afterwards.
pipe_gets_it()
{
	local reader

	mkfifo "$work/pipe"
	timeout 20 cat "$work/pipe" >"$work/read" &
	reader=$!
	discover "$work/pipe"
	# a writer that took the pipe for a file never opened it
	[[ -p $work/pipe ]] || { kill "$reader"; return 1; }
	wait "$reader" && is_whole "$work/read"
}

device_stays()
{
	mknod "$work/null" c 1 3 && "$1" "$work/null"
	[[ -c $work/null ]]
}

link_to_nothing()
{
	ln -sf nowhere "$work/dangling"
	! discover "$work/dangling" && [[ -L $work/dangling && ! -e $work/nowhere ]]
}

# In a folder that others may write to.
foreign_link()
{
	echo mine >"$work/victim"
	ln -sf victim "$work/foreign"
	chown -h 65534 "$work/foreign"
	"$1" "$work/foreign"
	[[ $(<"$work/victim") == mine ]]
}

# As the service for Prometheus writes: with the capabilities that its unit leaves to root.
others_folder()
{
	local caps

	caps=$(sed -n 's/^CapabilityBoundingSet=//p' packaging/torcoll-metrics.service.in | tr 'A-Z ' 'a-z,' | sed 's/cap_/+/g')
	mkdir "$work/others" && chown 65534 "$work/others" && chmod 755 "$work/others" || return
	setpriv --bounding-set "-all${caps:+,$caps}" --inh-caps=-all -- \
		"$ctl" discover from "$work/survey" write "$work/others/file" && is_whole "$work/others/file"
}

check discover__new_file discover "$work/new"
check discover__new_file_is_whole is_whole "$work/new"
is discover__new_files_mode "$(stat -c %a "$work/new")" "$(printf %o $((0666 & ~$(umask))))"
check discover__link_stays through_link discover '^\[node c0\]'
check discover__owner_and_mode keeps_owner_and_mode
check discover__planted_link planted_link
check discover__pipe_is_written_to pipe_gets_it
check discover__link_to_nothing link_to_nothing
check hosts__link_stays through_link hosts '10.7.1.2.*b$'
if ((EUID)); then
	skip device__stays "needs root"
	skip link__of_another_user "needs root"
	skip metrics__folder_of_another_user "needs root"
else
	fails discover__link_of_another_user 0 "another user's link" foreign_link discover
	check metrics__folder_of_another_user others_folder
	fails hosts__link_of_another_user 0 "another user's link" foreign_link hosts
	check discover__device_stays device_stays discover
	rm -f "$work/null"
	check hosts__device_stays device_stays hosts
fi
ln -s /nowhere/x "$work/nothing"
fails hosts__link_to_nothing 2 'this is a link to nothing' hosts "$work/nothing"
check hosts__nothing_to_remove_from_there "$ctl" hosts "$work/1.conf" remove "$work/nothing"
mkfifo "$work/other"
fails hosts__pipe_is_refused 2 'this is no file' hosts "$work/other"
check hosts__pipe_stays test -p "$work/other"
is leaves__nothing_else "$(find "$work" -name '*.??????' | wc -l)" 0
finish
