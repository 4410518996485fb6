# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What docs/guide.md says that is to be typed. Sourced, never run.

guide=${TORCOLL_TOP:?}/docs/guide.md

# block HEADING N: the N-th block of commands under that heading, without what explains them; what stands in brackets is left out.
block()
{
	awk -v heading="$1" -v wanted="$2" '
		/^#+ / { here = $0 ~ "^#+ " heading "$"; n = 0; in_block = 0; next }
		!here { next }
		/^    / {
			if (!in_block) { n++; in_block = 1 }
			if (n == wanted) print substr($0, 5)
			next
		}
		/./ { in_block = 0 }' "$guide" | sed -E 's/^[#$] //; s/[[:space:]]+# .*//'
}

# says HEADING N COMMAND: whether that block has this command.
says()
{
	block "$1" "$2" | grep -qxF -- "$3" || {
		echo "not in block $2 of \"$1\": $3"
		return 1
	}
}
