#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 1800
#
# Everything is compiled without a warning: what make has built here says it again, and for Debian's other kernels the module is
# compiled; sparse looks at it as well.

# shellcheck source=selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
cd "$TORCOLL_TOP" || exit

# The compiler's words are kept beside the objects. Unit tests are compiled with warnings as errors.
host_without_warnings()
{
	local said code

	said=$(make --no-print-directory -k warnings 2>&1)
	code=$?
	# where all is built make says nothing
	said=$(grep -vE '^  [A-Z]+ |^$' <<<"$said")
	[[ -z $said ]] || echo "$said"
	[[ $code == 0 && -z $said ]]
}

# What has been warned of is compiled again. With @flags C=2 sparse looks at all, whether it is compiled or not.
module_without_warnings()
{
	local kernel=$1 flags=${2-} name=module__without_warnings_$1 log

	if ! log=$(KERNEL=$kernel KDIR="" KFLAGS=$flags scripts/build-module 2>&1) || grep -qiE '(warning|error): ' <<<"$log"; then
		not_ok "$name"
		grep -vE '^  [A-Z]+ ' <<<"$log" | diag
	else
		ok "$name"
	fi
}

ktap_header
check host__without_warnings host_without_warnings
module_without_warnings 6.12 C=2
# what sparse looks at are the same lines but for kmod/compat
module_without_warnings 6.1
case ${KERNEL-} in
""|6.1|6.12|debug|kcsan)	;;
# Debian's headers of 7.x lack the script that looks for sparse
*)	module_without_warnings "$KERNEL" ;;
esac
finish
