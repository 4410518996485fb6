#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Manual pages: well formed, one for each function of the library, and of one mind with --help.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit
export LC_ALL=C
scratch=$(mktemp -d) || exit
cleanup rm -rf "$scratch"

pages()
{
	find docs lib tools -name '*.[1-8]' | sort
}

# A page that only leads to another.
is_alias()
{
	[[ $(head -c 4 "$1") == ".so " ]]
}

well_formed()
{
	local f out bad=0

	while read -r f; do
		is_alias "$f" && continue
		# pages carry no date: they are of their version
		out=$({ mandoc -T lint -W warning "$f"; man -l --warnings=w "$f" 2>&1 >/dev/null; } |
			grep -v 'missing date')
		[[ -z $out ]] || { echo "$out"; bad=1; }
	done < <(pages)
	((!bad))
}

aliases_lead_somewhere()
{
	local f to bad=0

	while read -r f; do
		is_alias "$f" || continue
		to=$(sed -nE '1s|^\.so man[1-8]/||p' "$f")
		grep -sqw "$(basename "$f" ".${f##*.}")" <(sed -n '/^\.SH NAME/,/^\.SH [SD]/p' "$(dirname "$f")/$to") ||
			{ echo "$f: leads to ${to:-nothing}, which does not name it"; bad=1; }
	done < <(pages)
	((!bad))
}

# What the library exports, and the pages of section 3 that are about functions.
every_function()
{
	diff <(sed 's/@.*//' selftests/abi/symbols.golden | sort) \
		<(find lib/man -name 'torcoll_*.3' ! -name torcoll_types.3 -printf '%f\n' | sed 's/\.3$//' | sort)
}

# What man shows of several pages is that of section 1, before 3.
overview_first()
{
	export MANPATH=$scratch
	install -Dm 644 -t "$MANPATH/man1" docs/torcoll.1 &&
		install -Dm 644 -t "$MANPATH/man3" lib/man/torcoll.3 &&
		install -Dm 644 -t "$MANPATH/man7" docs/torcoll.7 &&
		grep -q '^torcoll(7)' <(man torcoll)
}

# A page or file named in SEE ALSO, or anywhere, exists.
references()
{
	local name section bad=0

	while read -r name section; do
		case $name in
		torcoll*)
			pages | grep -q "/$name\.$section\$" ||
				{ echo "no page $name($section)"; bad=1; } ;;
		esac
	done < <(pages | xargs cat |
		sed -nE 's/^\.[BI]R "?([a-z_\\-]+)"? \(([1-8])\).*/\1 \2/p' | tr -d '\134' | sort -u)
	((!bad))
}

# The index has a sentence for each function, or is not made.
no_empty_entry()
{
	local tree=$scratch/tree

	mkdir "$tree" &&
		cp --parents -t "$tree" scripts/man-tables scripts/site/headers.py lib/torcoll.h lib/names.c lib/man/torcoll.3 \
			lib/man/torcoll_types.3 uapi/linux/torcoll.h kmod/core/names.c &&
		printf '\nint torcoll_unsaid(int x);\n' >>"$tree/lib/torcoll.h" || return
	fails_so 1 'no comment says what torcoll_unsaid does' "$tree/scripts/man-tables" --check
}

plain()
{
	mandoc -T ascii -O width=400 "$1" | sed 's/.\x08//g'
}

# Options as words, of whatever text: -x and --long.
options()
{
	grep -oE '(^|[^A-Za-z0-9_-])--?[A-Za-z?][A-Za-z_-]*' | sed 's/^[^-]*//' |
		grep -xE -- '--[a-z_-]+[a-z]|-[A-Za-z?]' | sort -u
}

# same_options PAGE HELP-COMMAND...
same_options()
{
	local page=$1

	shift
	diff <("$@" 2>&1 | options) <(plain "$page" | options)
}

objects()
{
	build/bin/torcollctl --help | sed -nE '/^Objects/,/^$/s/^  ([a-z]+) .*/\1/p' | paste -sd'|'
}

ctl_help()
{
	local object

	build/bin/torcollctl --help
	for object in $(objects | tr '|' ' '); do
		build/bin/torcollctl "$object" help
	done
}

# Every keyword of a usage of torcollctl is in its page, and every command of the page has a usage.
ctl_words()
{
	local page usages word bad=0

	page=$(plain tools/torcollctl/torcollctl.8)
	usages=$(ctl_help | sed -n '/^Usage:/,/^$/p')
	while read -r word; do
		grep -qw -e "$word" <<<"$page" || { echo "$word is not in the page"; bad=1; }
	done < <(tr -cs 'a-zA-Z-' '\n' <<<"$usages" | grep -xE '[a-z]+' | sort -u)
	while read -r word; do
		grep -qE "torcollctl( \[[^]]*\])? $word( |\$)" <<<"$usages" ||
			{ echo "no usage of: $word"; bad=1; }
	done < <(sed -nE 's/^\\fB([a-z]+( [a-z]+)+)[\\ ].*/\1/p' tools/torcollctl/torcollctl.8 |
		grep -E "^($(objects)) ")
	((!bad))
}

ktap_header
check pages__well_formed well_formed
check pages__aliases aliases_lead_somewhere
check pages__every_function every_function
check pages__references references
check pages__overview_first overview_first
check tables__are_those_of_the_headers scripts/man-tables --check
check tables__no_empty_entry no_empty_entry
for tool in torcoll-perf torcoll-plan torcoll-sim; do
	check "options__${tool#torcoll-}" same_options tools/$tool/$tool.1 build/bin/$tool --help
done
check options__run same_options tools/torcollrun/torcollrun.1 build/bin/torcollrun --help
check options__ctl same_options tools/torcollctl/torcollctl.8 ctl_help
check words__ctl ctl_words
finish
