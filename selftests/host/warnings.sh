#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 1800
#
# Everything is compiled without a warning: the module with all that gcc and sparse have, for Debian 12's kernels.

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
cd "$TORCOLL_TOP" || exit

# Core and the tests are compiled so when the tests are built: -Werror is among their flags.
host_without_warnings()
{
	local said code

	said=$(make --no-print-directory -k strict 2>&1)
	code=$?
	# where all is built make says nothing
	said=$(grep -vE '^  [A-Z]+ |^$' <<<"$said")
	[[ -z $said ]] || echo "$said"
	[[ $code == 0 && -z $said ]]
}

# All of gcc's extra warnings, and with @sparse that one's. What gives one is not left built, or it would not be given again.
module_without_warnings()
{
	local kernel=$1 sparse=${2-} name=module__without_warnings_$1 flags="W=1 KCFLAGS=-Werror" log

	[[ ! $sparse ]] || flags+=" C=2"

	if ! log=$(KERNEL=$kernel KDIR="" OUT=style KFLAGS=$flags \
		   scripts/build-module 2>&1) || grep -qiE '(warning|error): ' <<<"$log"; then
		rm -rf build/style
		not_ok "$name"
		grep -vE '^  [A-Z]+ ' <<<"$log" | diag
	else
		ok "$name"
	fi
}

ktap_header
check host__without_warnings host_without_warnings
module_without_warnings 6.12 sparse
# what sparse looks at are the same lines but for kmod/compat
module_without_warnings 6.1
case ${KERNEL-} in
""|6.1|6.12|debug|kcsan)	;;
# Debian's headers of 7.x lack the script that looks for sparse
*)	module_without_warnings "$KERNEL" ;;
esac
finish
