#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The descriptions for syzkaller tell of everything that the interfaces have: ioctls and the members of their structs, netlink
# commands and attributes, frames and the members of theirs.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP/selftests/fuzz/syzkaller" || exit
uapi=$TORCOLL_TOP/uapi/linux

# all_in FILE: every word that is read occurs there, and there are some.
all_in()
{
	local word words=0 missing=0

	while read -r word; do
		words=$((words + 1))
		grep -qw -- "$word" "$1" || { echo "$1: no $word"; missing=1; }
	done
	((words && !missing))
}

# Names that header $1 has by pattern $2, but for the ends of enums.
names()
{
	sed 's,/\*.*\*/,,' "$uapi/$1" | grep -oE "\\b$2" | grep -vE '_(MAX|END)$' | sort -u
}

# Structs of header $1, with members, as "struct.member"; reserved ones have other names.
members()
{
	awk '
		/^struct torcoll_[a-z_]+ \{/ { name = $2 }
		/^\};/ { name = "" }
		name && /^\t/ && match($0, /[a-z][a-z0-9_]*(\[[A-Za-z0-9_]+\])?;/) {
			member = substr($0, RSTART, RLENGTH - 1)
			sub(/\[.*/, "", member)
			if ($0 !~ /__reserved/)
				print name "." member
		}' "$uapi/$1"
}

# What descriptions $1 have, in the same form; a handle has one for each kind of it.
described()
{
	awk '
		/^torcoll_[a-z_]+ \{/ { name = $1; sub(/^torcoll_handle_.*/, "torcoll_handle", name) }
		/^\}/ { name = "" }
		name && /^\t/ { print name "." $1 }' "$1"
}

all_members()
{
	# the process reads these from memory
	members "$1" | grep -vE '^torcoll_(ring|completion)\.' | grep -vxFf <(described "$2") && return 1
	members "$1" | grep -q .
}

ioctls()
{
	names torcoll.h 'TORCOLL_IOC_[A-Z_]+' | grep -v _MAGIC | all_in dev_torcoll.txt
}

values()
{
	names torcoll.h 'TORCOLL_(OP|WAIT|REGION)_[A-Z]+' | grep -v _FLAGS | all_in dev_torcoll.txt
	sed -n '/^enum torcoll_\(collective\|type\|redop\|bits\|algorithm\) {/,/^}/s/^\t\(TORCOLL_[A-Z0-9_]*\).*/\1/p' "$uapi/torcoll.h" |
		grep -v _COUNT | all_in dev_torcoll.txt
}

netlink()
{
	names torcoll_netlink.h "TORCOLL_$1_[A-Z0-9_]+" | all_in socket_netlink_generic_torcoll.txt
}

frames()
{
	names torcoll_wire.h 'TORCOLL_(FRAME|COMM)_[A-Z_]+' | all_in vnet_torcoll.txt
}

# What a batch is an array of.
size_of_submit()
{
	local size

	size=$(sed -n 's/^\tdesc_size\tconst\[\([0-9]*\), int32\]$/\1/p' dev_torcoll.txt)
	[[ -n $size ]] && printf '#include <linux/torcoll.h>\n_Static_assert(sizeof(struct torcoll_submit) == %s, "");\n' "$size" |
		gcc -I"$TORCOLL_TOP/uapi" -fsyntax-only -xc -
}

ktap_header
check ioctls__all ioctls
check ioctls__members all_members torcoll.h dev_torcoll.txt
check ioctls__values values
check ioctls__size_of_a_call size_of_submit
check netlink__commands netlink CMD
check netlink__attributes netlink A
check frames__kinds frames
check frames__members all_members torcoll_wire.h vnet_torcoll.txt
finish
