#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# The fuzzers on what they found before: inputs that once went wrong, and the corpus. "make fuzz" searches on.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header
cd "$TORCOLL_TOP" || exit

# replay NAME: all of its inputs, committed ones.
replay()
{
	local name=$1 here=selftests/fuzz inputs=("$work/$1")

	mkdir "$work/$name"
	tar -xJf "$here/corpus/$name.tar.xz" -C "$work/$name" || return 1
	[[ ! -d $here/regress/$name ]] || inputs+=("$here/regress/$name")
	"build/asan/fuzz/${name}_fuzz" "${inputs[@]}" 2>"$work/log" && return
	# the last input named is the one
	tail -n 25 "$work/log"
	return 1
}

work=$(mktemp -d)
cleanup rm -rf "$work"
for f in selftests/fuzz/*_fuzz.c; do
	name=$(basename "$f" _fuzz.c)
	check "${name}__inputs_of_before" replay "$name"
done
finish
