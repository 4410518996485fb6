#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Every file has a licence, and every licence its text.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit

tmp=$(mktemp -d)
cleanup rm -rf "$tmp"

# finds NAME SENTENCE COMMAND: in a tree of two files that the command has changed it says so.
finds()
{
	local name=$1 sentence=$2 command=$3

	rm -rf "$tmp/tree" && mkdir -p "$tmp/tree/LICENSES" && cp LICENSES/MIT.txt "$tmp/tree/LICENSES/" || return
	printf '// SPDX-License-Identifier: MIT\n' >"$tmp/tree/a.c"
	printf 'data\n' >"$tmp/tree/b"
	printf 'version = 1\n[[annotations]]\npath = "b"\nSPDX-License-Identifier = "MIT"\n' >"$tmp/tree/REUSE.toml"
	sed -i '1i # SPDX-License-Identifier: MIT' "$tmp/tree/REUSE.toml"
	(cd "$tmp/tree" && "$TORCOLL_TOP/selftests/host/licences.py") || { not_ok "$name" "the tree is wrong before"; return; }
	(cd "$tmp/tree" && eval "$command")
	fails "$name" 1 "$sentence" env -C "$tmp/tree" "$TORCOLL_TOP/selftests/host/licences.py"
}

ktap_header
check files__have_a_licence selftests/host/licences.py
finds file__without_one_is_found '^c: no SPDX line' 'echo >c'
finds rule__for_nothing_is_found '^REUSE.toml: b: no file' 'rm b'
finds text__missing_is_found '^LICENSES/GPL-2.0.txt is missing' 'echo "# SPDX-License-Identifier: GPL-2.0" >c'
finds text__unused_is_found '^LICENSES/X.txt: no file is under it' 'touch LICENSES/X.txt'
finish
