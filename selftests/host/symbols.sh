#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What libtorcoll exports, against selftests/abi/symbols.golden: no symbol may go, change its
# version or come unnoticed. What its header declares is what it exports, and Debian's list of symbols
# names the release of each one. After an addition:
#
#	selftests/host/symbols.sh --print >selftests/abi/symbols.golden

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit
export LC_ALL=C

so=build/lib/libtorcoll.so.0

exported()
{
	nm -D --defined-only "$so" | awk '$2 != "A" { print $3 }' | sort
}

# "SYMBOL@NODE RELEASE", of the release that it came with: that of its node, unless it came later.
packaged()
{
	exported | sed -E 's/@@?TORCOLL_(.*)/@TORCOLL_\1 \1.0/
		s/^(torcoll_(fabrics|run_until|wait_all|wait_any|wait_fds)@TORCOLL_0.1) .*/\1 0.2.0/'
}

declared()
{
	sed -e 's|/\*.*\*/||; /^\/\*/,/\*\//d' lib/torcoll.h |
		grep -oE '\<torcoll_[a-z_0-9]+\(' | tr -d '(' | sort -u
}

if [[ ${1-} == --print ]]; then
	exported
	exit
fi
ktap_header
check symbols__golden diff selftests/abi/symbols.golden <(exported)
check symbols__are_declared diff <(declared) <(exported | sed 's/@.*//')
check symbols__debian_names_their_releases diff <(packaged) \
	<(sed -n 's/^ //p' debian/libtorcoll0.symbols | grep -v '^TORCOLL_' | sort)
finish
