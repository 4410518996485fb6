#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 1800
#
# What can be told about the sources without running them.

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
cd "$TORCOLL_TOP" || exit

# sources DIRECTORY... -- FIND-EXPRESSION
sources()
{
	local folders=()

	while [[ $1 != -- ]]; do
		[[ ! -e $1 ]] || folders+=("$1")
		shift
	done
	shift
	((${#folders[@]} == 0)) || find "${folders[@]}" -type f \( "$@" \) | sort
}

c_files=(-name '*.c' -o -name '*.h')

# A case per function that names what offends, and is content if that is nothing.
clean()
{
	local found

	found=$("$1" 2>&1)
	if [[ -z $found ]]; then
		ok "$1"
	else
		not_ok "$1"
		diag <<<"$found"
	fi
}

spdx__first_line()
{
	{
		sources kmod uapi lib mpi python tools selftests bench qemu scripts .ci -- "${c_files[@]}" -o -name '*.sh' \
			-o -name Kbuild -o -name '*.yaml' -o -name '*.py' -o -name '*.toml'
		scripts_of_ours
		echo Makefile
	} | sort -u | xargs gawk '
		BEGINFILE { found = 0 }
		/SPDX-License-Identifier: / { found = 1 }
		FNR == 2 { nextfile }
		ENDFILE { if (!found) print FILENAME ": no SPDX line" }'
}

spdx__by_folder()
{
	{
		sources kmod/core -- "${c_files[@]}" |
			xargs -r grep -L 'SPDX-License-Identifier: GPL-2.0 OR MIT'
		sources kmod -- -not -path '*/core/*' \( "${c_files[@]}" \) |
			xargs -r grep -LE 'SPDX-License-Identifier: \(*GPL-2.0'
		sources uapi -- "${c_files[@]}" | xargs -r grep -L 'Linux-syscall-note'
		sources lib mpi python -- "${c_files[@]}" -o -name '*.py' | xargs -r grep -L 'SPDX-License-Identifier: MIT'
	} | sed 's/$/: not under the licence of its folder/'
}

# Core and what it is compiled with know no kernel but through env.h.
worlds__only_env_h_tests_kernel()
{
	sources kmod lib tools uapi bench -- "${c_files[@]}" | grep -vx kmod/core/env.h |
		xargs -r grep -nE '^[[:space:]]*#.*\b__KERNEL__\b'
}

# Debian's kernels have later ones' interfaces: what the headers have counts, see kmod/compat/has.sh.
worlds__no_versions()
{
	sources kmod uapi -- "${c_files[@]}" -o -name Kbuild |
		xargs -r grep -nE 'LINUX_VERSION_CODE|KERNEL_VERSION|LINUX_VERSION_(MAJOR|PATCHLEVEL)'
}

worlds__core_includes_no_linux()
{
	sources kmod/core kmod/simd -- "${c_files[@]}" | grep -vxE 'kmod/core/(env|host|host_hash|host_shape|reduce/host_isa)\.h' |
		xargs -r grep -nE '#[[:space:]]*include[[:space:]]*<' |
		grep -v '<linux/torcoll'
}

# Which rooms of core include which others, as kmod/core/README.md has it.
worlds__core_rooms_include_what_they_may()
{
	sources kmod/core -- "${c_files[@]}" | xargs grep -nE '^#include "' |
		gawk -F '[:"]' '
			FNR == NR {
				split($0, column, "|")
				if (match(column[2], /`[a-z\/]+`/)) {
					room = substr(column[2], RSTART + 1, RLENGTH - 2)
					rooms[room] = column[5]
				}
				next
			}
			{
				from = gensub("^kmod/core/|/?[^/]*$", "", "g", $1)
				to = gensub("^core/|/?[^/]*$", "", "g", $4)
				if ($4 !~ /^core\// || to == "" || to == from)
					next
				if (!(from in rooms) || index(rooms[from], "`" to "`") == 0)
					print $1 ":" $2 ": " (from == "" ? "core" : from) " includes " $4
			}' kmod/core/README.md -
}

# What lies in a frame is looked into in one place alone; of the others, some want to know how large it is.
worlds__only_accept_c_reads_frames()
{
	sources kmod lib tools -- "${c_files[@]}" | grep -vxE 'kmod/core/wire/(accept|wire)\.[ch]' |
		xargs -r grep -nE 'struct torcoll_(hdr|ack|hello|link_record|abort|comm_msg)\>' |
		sed -E 's/(sizeof|offsetof)\(struct torcoll_[a-z_]+//g; s,(/\*| \* ).*,,' |
		grep -E 'struct torcoll_'
}

# Scripts, by their first line.
scripts_of_ours()
{
	sources qemu scripts selftests bench tools lib kmod .ci -- -name '*' |
		while read -r f; do
			IFS= read -r -n 32 line <"$f" 2>/dev/null
			[[ ! ${line-} =~ ^#!.*(bash|busybox\ sh|/sh) ]] || echo "$f"
		done 2>/dev/null
}

# In jq, // binds weaker than a comparison: without parentheses the default is the comparison, and the test cannot fail.
jq__compares_what_it_should()
{
	{
		scripts_of_ours
		sources selftests bench qemu -- -name '*.sh'
	} | sort -u | xargs grep -nE '(^|[^(])(add|first|last|length|\.[a-z_]+) // [^()|]*(==|!=|<|>)'
}

# Tests in guests run with busybox's sed, which takes line 0 for one that there is none of: nothing changes, and nothing is said.
sed__no_line_0()
{
	sources selftests -- -name '*.sh' | xargs grep -nE "\\bsed\\b.*['\"]0,"
}

shellcheck__clean()
{
	local all busybox='^#!.*busybox'

	all=$({
		scripts_of_ours
		sources scripts selftests bench qemu -- -name '*.sh'
	} | sort -u)
	# busybox's shell is checked as dash
	xargs grep -lE "$busybox" <<<"$all" | xargs -r shellcheck -s dash
	xargs grep -LE "$busybox" <<<"$all" | xargs -r shellcheck
}

# What is only compiled on the host may use what the kernel has its own names for.
checkpatch__clean()
{
	local dir checkpatch
	local host=(--ignore "VOLATILE,STRCPY,NEW_TYPEDEFS,PREFER_DEFINED_ATTRIBUTE_MACRO,SPLIT_STRING")
	local compat=(--ignore "MACRO_ARG_UNUSED")
	local lists=COMPLEX_MACRO,SPACING,MACRO_ARG_UNUSED,TRAILING_SEMICOLON,MULTISTATEMENT_MACRO_USE_DO_WHILE

	dir=$(scripts/kernel --source) || return
	checkpatch=(perl "$dir/scripts/checkpatch.pl" --no-tree --no-summary --terse --show-types
		--ignore CONSTANT_COMPARISON)	# of enumerators, in assertions
	{
		sources kmod uapi -- "${c_files[@]}" |
			grep -vE '^kmod/core/host\.h$|^kmod/compat/|netlink/gen\.[ch]$' |
			xargs -r "${checkpatch[@]}" -f
		sources kmod/compat -- "${c_files[@]}" |
			xargs -r "${checkpatch[@]}" "${compat[@]}" -f
		# lists of functions, for each of which a macro is called; in their parameters it takes MPI_Request * for a product
		sources mpi -- "${c_files[@]}" |
			xargs -r "${checkpatch[@]}" "${host[@]}" --ignore "$lists" -f
		sources kmod/core/host.h lib tools selftests bench -- "${c_files[@]}" | grep -vE 'netlink/gen\.[ch]$' |
			xargs -r "${checkpatch[@]}" "${host[@]}" -f
	}
}

ktap_header
clean spdx__first_line
clean spdx__by_folder
clean jq__compares_what_it_should
clean sed__no_line_0
clean worlds__only_env_h_tests_kernel
clean worlds__no_versions
clean worlds__core_includes_no_linux
clean worlds__core_rooms_include_what_they_may
clean worlds__only_accept_c_reads_frames
clean shellcheck__clean
scripts/kernel --source >/dev/null	# what it says of fetching is no offence
clean checkpatch__clean
finish
