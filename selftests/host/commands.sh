#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Every command in the documents and on the site is one that the programs take: each is given to its program, on a host
# without the module, which must complain of that or of nothing, but not of the command. For make: targets and variables.
# What commands do is seen by the other tests, and by make check-guide, which types the guide.

# Backquotes are those of the documents.
# shellcheck disable=SC2016 source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit
export LC_ALL=C.UTF-8

work=$(mktemp -d) || exit
cleanup rm -rf "$work"
printf '%s\n' "[fabric]" "key = 1" "dims = 2" "[node lab0]" "index = 0" "[node lab1]" "index = 1" >"$work/lab.conf"

commands()
{
	local pages

	mapfile -t pages < <(find docs/site -name "*.md")
	selftests/host/commands.py README.md CHANGELOG.md SECURITY.md docs/*.md "${pages[@]}" "$@"
}

# of PROGRAM: its command lines, each once, with the first place that has it.
of()
{
	commands torcollctl torcollrun torcoll-perf torcoll-plan torcoll-sim make |
		awk -F '\t' -v program="$1" '$3 ~ "^" program "( |$)" && !seen[$3]++'
}

# given COMMAND...: what a program says of that, where there is no network, no module and no namespace with a name: what is in
# /run is this machine's. It complains at once: what still works after five seconds has understood.
given()
{
	local program=$1

	shift
	# shellcheck disable=SC2016 # expanded by the inner shell
	(cd "$work" && timeout 5 unshare --net --mount sh -c 'mount -t tmpfs none /run && exec "$@"' sh \
		"$TORCOLL_TOP/build/bin/$program" "$@" </dev/null 2>&1)
}

# Of the programs' complaints those of the command: torcollctl hints at its help, the others at theirs.
complains()
{
	grep -qE '" tells more\.$|^Try .*--help' <<<"$1"
}

# What is right but for where it is given: the name of a command in a text, a device that is not there, a terminal.
excused()
{
	[[ $1 == text ]] && grep -qE ' (is|are) (missing|needed)|^Usage:' <<<"$2" && return
	grep -qE 'no device ".*" in this network|needs a terminal' <<<"$2"
}

# lines PROGRAM
lines()
{
	local at where line out n=0 bad=0
	local -a words

	while IFS=$'\t' read -r at where line; do
		n=$((n + 1))
		eval "words=($line)"
		# a batch, not a fabric's file
		[[ $line != *" -b lab.conf" ]] || words[2]=/dev/null
		out=$(given "${words[@]}")
		! complains "$out" || excused "$where" "$out" || { printf '%s: %s\n%s\n' "$at" "$line" "$out"; bad=1; }
	done < <(of "$1")
	echo "$n commands of $1"
	((n && !bad))
}

# A target of the Makefile, and variables that it or a script reads.
make_lines()
{
	local at where line word n=0 bad=0

	while IFS=$'\t' read -r at where line; do
		n=$((n + 1))
		for word in $(tr -d "'" <<<"${line#make}"); do
			case $word in
			-* | */*)	;;
			*=*)	grep -rqwE "${word%%=*}" Makefile scripts selftests/*/run qemu bench ;;
			[A-Z]* | *[0-9]*) ;;
			*)	grep -qE "^\.PHONY:.*\b$word\b|^([a-z-]+ )*$word( [a-z-]+)*:" Makefile || [[ $line == *=* ]] ;;
			esac || { echo "$at: $line: make has no $word"; bad=1; }
		done
	done < <(of make)
	echo "$n commands of make"
	((n && !bad))
}

# Commands that are wrong in each way are found.
finds()
{
	local program=$1

	shift
	complains "$(given "$program" "$@")"
}

# What keeps a program from asking the kernel is no lack of the module.
not_asked()
{
	"${CC:-cc}" -x c -shared -fPIC -o "$work/deny.so" - <<-'END' || return
		#include <errno.h>
		#include <sys/socket.h>

		ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
		{
			errno = EACCES;
			return -1;
		}
	END
	LD_PRELOAD=$work/deny.so build/bin/torcollctl fabric show >"$work/out" 2>&1 && return 1
	cat "$work/out"
	grep -qx 'Error: the kernel cannot be asked for torcoll: ..*' "$work/out"
}

found_in_blocks()
{
	printf '%s\n' 'Text `torcollctl foo bar`.' '' '    # torcollctl fabric check; torcollrun --ppn 2 torcoll-perf allreduce | cat   # why' >"$work/a.md"
	diff <(selftests/host/commands.py "$work/a.md" torcollctl torcollrun torcoll-perf | cut -f 2-) - <<-'END'
		text	torcollctl foo bar
		block	torcollctl fabric check
		block	torcollrun --ppn 2 torcoll-perf allreduce
		block	torcoll-perf allreduce
	END
}

ktap_header
check commands__are_found found_in_blocks
check kernel__cannot_be_asked not_asked
# limits, for one, are the same in all namespaces
if [[ -d /sys/module/torcoll ]]; then
	skip commands "the module is loaded, and would do what they say"
	finish
fi
for program in torcollctl torcollrun torcoll-perf torcoll-plan torcoll-sim; do
	check "commands__of_$program" lines "$program"
done
check commands__of_make make_lines
check wrong__object finds torcollctl fabrik show
check wrong__word finds torcollctl fabric add 1 width 4 node 0
check wrong__option finds torcoll-perf allreduce --no-such-option
finish
