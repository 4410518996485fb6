# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
#
# What the scripts of the build and of the guest harness share. Sourced, never run.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${TORCOLL_KERNELS:-${XDG_CACHE_HOME:-$HOME/.cache}/torcoll}

# depmod and modprobe, for users too.
PATH=$PATH:/usr/sbin:/sbin

say()
{
	printf '%s\n' "$*" >&2
}

die()
{
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# Whether all the commands named are there.
have()
{
	local c

	for c; do
		command -v "$c" >/dev/null 2>&1 || return 1
	done
}

# Packages are asked for by name and by need, so that one list serves every script.
need()
{
	local c missing=()

	for c; do
		have "$c" || missing+=("$c")
	done
	((${#missing[@]} == 0)) ||
		die "not found: ${missing[*]} (scripts/install-deps installs what is needed)"
}
