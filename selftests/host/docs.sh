#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The documents against what they describe: names, numbers and links that they must get right.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit
export LC_ALL=C.UTF-8

# Every field of every wire struct, with the offset that the compiler has asserted.
wire_fields()
{
	local struct member offset n=0 bad=0

	while read -r struct member offset; do
		n=$((n + 1))
		[[ $member != __reserved ]] || member=reserved
		grep -qE "^\| $offset \| [0-9]+ \| \`?$member(\[[0-9]\])?\`? \|" docs/wire.md || {
			echo "$struct.$member at $offset is not in docs/wire.md"
			bad=1
		}
	done < <(sed -nE 's/^WIRE_AT\((\w+), (\w+), ([0-9]+)\);/\1 \2 \3/p' kmod/core/wire.c)
	((n && !bad))
}

# The reasons for drops, and no invented ones.
wire_drops()
{
	diff <(sed -nE 's/.*"(drop_[a-z_]+)".*/\1/p' kmod/core/counter.c | sort) \
		<(grep -oE '\bdrop_[a-z_]+\b' docs/wire.md | sort -u)
}

# A link from a document to a file, or to a heading.
links()
{
	local doc link file bad=0

	while IFS=: read -r doc link; do
		file=${link%%#*}
		[[ -z $file || -e $(dirname "$doc")/$file ]] || { echo "$doc: no $link"; bad=1; }
	done < <(grep -oHE '\]\([^)]+\)' README.md docs/*.md | sed -E 's/\]\(([^)]+)\)/\1/' | grep -v '://')
	((!bad))
}

# No document but the index that no document mentions.
all_in_index()
{
	local f bad=0

	for f in docs/*.md; do
		[[ $f == docs/README.md ]] || grep -q "](${f#docs/})" docs/README.md ||
			{ echo "$f is not in docs/README.md"; bad=1; }
	done
	((!bad))
}

ktap_header
check wire__fields wire_fields
check wire__drops wire_drops
check links__lead_somewhere links
check index__complete all_in_index
finish
