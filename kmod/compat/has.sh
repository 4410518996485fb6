#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# What the headers of a kernel have, whatever its version is called: writes a header that defines TOR_HAS_NAME for
# each has/NAME.c that compiles.
#
# usage: has.sh HEADER SOURCE... -- COMPILER FLAG...

set -eu
header=$1
shift
sources=
while [ "$1" != -- ]; do
	sources="$sources $1"
	shift
done
shift

# A compiler or flags that do not work must not look like an old kernel.
"$@" -fsyntax-only "$(dirname "$0")/has/always.c"
{
	echo "/* Made by compat/has.sh. */"
	for source in $sources; do
		name=$(basename "$source" .c | tr '[:lower:]' '[:upper:]')
		if "$@" -fsyntax-only "$source" 2>/dev/null; then
			echo "#define TOR_HAS_$name"
		fi
	done
} >"$header"
