#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The documents against what they describe: names, numbers and links that they must get right.

# Backquotes are those of the documents.
# shellcheck disable=SC2016 source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit
export LC_ALL=C.UTF-8
scratch=$(mktemp -d) || exit
cleanup rm -rf "$scratch"

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
	done < <(sed -nE 's/^WIRE_AT\((\w+), (\w+), ([0-9]+)\);/\1 \2 \3/p' kmod/core/wire/wire.c \
		kmod/core/survey/frame.c)
	((n && !bad))
}

# What is accepted of each field, but for those where that is anything: as tested. Behind a semicolon is what needs more knowledge.
wire_accepted()
{
	diff <(sed -nE 's/^\tROW\((\w+), (\w+)(\[[0-9]\])?, "([^"]*)",.*/\1.\2 \4/p' \
		selftests/unit/accept_test.c selftests/unit/survey_wire_test.c | sort -u) \
		<(awk -F ' [|] ' '
			BEGIN { split("hdr ack hello link_record hello_more abort call comm_msg comm_terms survey survey_train survey_record survey_end survey_host survey_node survey_port", struct, " ") }
			/^[|] offset [|] bytes [|] field [|] accepted/ { table++ }
			/^[|] [0-9]+ [|] [0-9]+ [|] / {
				gsub(/`|\[[0-9]\]/, "", $3)
				sub(/;.*/, "", $4)
				if ($4 != "any")
					print struct[table] "." $3, $4
			}' docs/wire.md | sort -u)
}

# The reasons for drops, and no invented ones.
wire_drops()
{
	diff <(sed -nE 's/.*"(drop_[a-z_]+)".*/\1/p' kmod/core/counter.c | sort) \
		<(grep -oE '\bdrop_[a-z_]+\b' docs/wire.md | sort -u)
}

# Counters and tracepoints, as the module has them.
counters()
{
	diff <(sed -nE 's/.*\[TOR_C_[A-Z_]+\] = "([a-z_]+)".*/\1/p' kmod/core/counter.c) \
		<(sed -nE '/^## Counters/,/^## /s/^\| `([a-z_]+)`.*/\1/p' docs/observing.md)
}

# What each counts, in the same words for people, netlink and Prometheus, which has sentences.
counters_alike()
{
	sed -nE '/^## Counters/,/^## /s/^\| `([a-z_]+)` \| (.*) \|$/\1: \2/p' docs/observing.md >"$scratch/counters"
	diff "$scratch/counters" <(sed -nE '/^    name: counter$/,/^  -$/{s/^        name: (.*)/\1/;T doc;y/-/_/;h;d;:doc;s/^        doc: //;T;H;g
			s/\n/: /p}' uapi/torcoll.yaml) &&
		diff "$scratch/counters" <(tr -d '\n\t' <tools/torcollctl/prometheus.c |
			grep -oE '\[TORCOLL_A_COUNTER_[A-Z_]+\] =[^"]*("[^"]*")+,' | sed -E 's/""//g
				s/.*_COUNTER_([A-Z_]+)\] = ?"(.)(.*)\.",/\L\1: \2\E\3/')
}

tracepoints()
{
	diff <(sed -nE 's/^(TRACE_EVENT\(|DEFINE_EVENT\([a-z_]+, )([a-z_]+),.*/\2/p' kmod/trace.h | sort) \
		<(sed -nE '/^## Tracepoints/,/^## /s/^\| `([a-z_]+)`.*/\1/p' docs/observing.md | sort)
}

# Fields of tracepoints, in their order; an event of a class has those of the class.
trace_fields()
{
	awk -F'[(,)]' '
		/^(TRACE_EVENT|DECLARE_EVENT_CLASS)\(/ { name = $2; fields = "" }
		/__(field|string)\(/ {
			field = /__string/ ? $2 : $3
			gsub(/ /, "", field)
			fields = fields " " field
		}
		/TP_fast_assign/ { of[name] = fields }
		/^TRACE_EVENT\(/ { events[name] = name }
		/^DEFINE_EVENT\(/ { gsub(/ /, "", $3); events[$3] = $2 }
		END { for (e in events) print e of[events[e]] }' kmod/trace.h | sort
}

fields()
{
	diff <(trace_fields) <(sed -nE '/^## Tracepoints/,/^## /s/^\| `([a-z_]+)` \|.*\| (.*) \|$/\1 \2/p' \
		docs/observing.md | tr -d '`,' | sort)
}

# The table of costs, by the program that it names.
costs()
{
	local names hops name rounds w messages cost n=0 bad=0

	while IFS='|' read -r _ names rounds hops w messages _; do
		for name in $(tr -d '`,' <<<"$names"); do
			n=$((n + 1))
			cost=$(build/bin/torcoll-plan --dims 8x8 -a "$name" --cost -j) || return
			jq -e --argjson rounds "$rounds" --argjson w "$w" --argjson messages "$messages" \
				--argjson hops "[$hops]" '.rounds == $rounds and .messages == $messages and
				(.w - $w | fabs) < 0.0005 and (.hops as $h | $hops | index($h) != null)' \
				>/dev/null <<<"$cost" || { echo "$name: $cost"; bad=1; }
		done
	done < <(sed -n '/^## Costs/,/^## Computing time/p' docs/algorithms.md | grep '^| `')
	((n > 10 && !bad))
}

# shape_costs HEADING NEXT: those of the tables between two headings: hops and W on the shapes of the table's head.
shape_costs()
{
	local -a shapes=()
	local cells cell i n=0 bad=0 cost

	while IFS='|' read -r -a cells; do
		if [[ ${cells[1]} == *name* ]]; then
			for cell in "${cells[@]:2}"; do
				shapes+=("$(awk '{ print $1 }' <<<"$cell")")
			done
			continue
		fi
		# the table of families comes before
		((${#shapes[@]})) || continue
		for ((i = 2; i < ${#cells[@]}; i++)); do
			n=$((n + 1))
			cost=$(build/bin/torcoll-plan --dims "${shapes[i - 2]}" -a "$(tr -d '` ' <<<"${cells[1]}")" --cost -j) ||
				return
			jq -e --argjson want "[${cells[i]}]" '.hops == $want[0] and (.w - $want[1] | fabs) < 0.006' \
				>/dev/null <<<"$cost" || { echo "${shapes[i - 2]} ${cells[1]}: $cost"; bad=1; }
		done
	done < <(sed -n "/^## $1/,/^## $2/p" docs/algorithms.md | grep -E '^\| (name|`[a-z-]+`) \|')
	((n > 10 && !bad))
}

# Every algorithm that there is, with the collectives that it serves; a barrier is an allreduce.
algorithms()
{
	diff <(build/bin/torcoll-plan --list | sed 's/allreduce/AR/; s/reduce-scatter/RS/; s/allgather/AG/
			s/broadcast/B/; s/ reduce/ R/; s/ barrier//; s/gather/G/; s/scatter/S/; s/alltoall/AA/
			s/exscan/ES/; s/scan/SC/; s/halo/H/' | tr -s ' ' | sort) \
		<(sed -nE '/^\| name \| for/,/^$/s/^\| `([a-z-]+)` \| ([A-Z ]+) \|.*/\1 \2/p' \
			docs/algorithms.md | sort)
}

picture()
{
	build/bin/torcoll-plan --dims 4x4 -a bibucket --draw | diff -q - docs/bibucket-4x4.svg
}

# The house as the tree has it; numbers of lines change with every commit.
house()
{
	diff <(scripts/house --no-lines) <(sed -E 's/( files), [0-9.]+k lines</\1</' docs/house.svg) ||
		{ echo "make house draws it anew"; return 1; }
}

# defines FUNCTION FILE...: is it, or a macro of that name, defined or declared in one of them?
defines()
{
	grep -rqE --include='*.[ch]' "^(#define |[a-z][^;]*\b)$1\(" "${@:2}"
}

# Functions of the module that the design names.
design_functions()
{
	local name n=0 bad=0

	while read -r name; do
		n=$((n + 1))
		defines "$name" kmod || { echo "there is no $name()"; bad=1; }
	done < <(grep -oE '\btor_[a-z0-9_]+\(\)' docs/design.md | sort -u | tr -d '()')
	((n && !bad))
}

# In the walk through an allreduce, each is in a file that its paragraph links to.
design_steps()
{
	local files names name n=0 bad=0

	while IFS=: read -r files names; do
		for name in $names; do
			n=$((n + 1))
			# shellcheck disable=SC2086
			defines "$name" $files || { echo "$name() is not in one of $files"; bad=1; }
		done
	done < <(sed -n '/^## One allreduce/,/^## [^O]/p' docs/design.md | gawk -v RS= '{
		files = names = ""
		for (rest = $0; match(rest, /\]\(\.\.\/kmod\/[^)]+\)/); rest = substr(rest, RSTART + RLENGTH))
			files = files " " substr(rest, RSTART + 5, RLENGTH - 6)
		for (rest = $0; match(rest, /`[a-z0-9_]+\(\)`/); rest = substr(rest, RSTART + RLENGTH))
			names = names " " substr(rest, RSTART + 1, RLENGTH - 4)
		if (files)
			print files ":" names
	}')
	((n > 50 && !bad))
}

# headings DOCUMENT: as links name them.
headings()
{
	sed -nE '/^```/,/^```/d; s/^#+ //p' "$1" | tr '[:upper:] ' '[:lower:]-' | tr -cd 'a-z0-9_\n-'
}

documents=(README.md CHANGELOG.md SECURITY.md docs/*.md kmod/README.md kmod/core/README.md)

# A link from a document to a file, or to a heading; from a page of the site only those to what is no page of it, since many of
# its pages are made.
links()
{
	local doc link file bad=0 pages

	mapfile -t pages < <(find docs/site -name '*.md')
	while IFS=: read -r doc link; do
		file=${link%%#*}
		file=${file:+$(dirname "$doc")/$file}
		if [[ ! -e ${file:-$doc} ]]; then
			echo "$doc: no $link"
			bad=1
		elif [[ $link == *.md#* || $link == \#* ]]; then
			grep -qxF -- "${link#*#}" <(headings "${file:-$doc}") || { echo "$doc: no heading $link"; bad=1; }
		fi
	done < <({ grep -oHE '\]\([^)]+\)' "${documents[@]}"
		grep -oHE '\]\([^)]+\)' "${pages[@]}" | grep -E '\]\(((\.\./){2,}README|(\.\./)+[a-z0-9-]+\.svg)'
	} | sed -E 's/\]\(([^)]+)\)/\1/' | grep -v '://')
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

# The manual pages that the index names: all programs, files and overviews, and those of the library that lead to the others.
pages_in_index()
{
	diff <({ find docs tools -name '*.[1-8]' ! -name torcoll.1; ls lib/man/torcoll.3 lib/man/torcoll_types.3; } |
			sed -nE 's|.*/([a-zA-Z_.-]+)\.([1-8])$|\1(\2)|p' | sort) \
		<(sed -n '/^Manual pages:/,$p' docs/README.md | grep -oE '[a-z_.-]+\([1-8]\)' | sort -u)
}

# Every page of the site can be made: each section that it includes is there, each enumeration has a table, each function a page.
site_pages()
{
	scripts/site/build.py --pages "$scratch" && [[ -s $scratch/src/reference/types.md ]]
}

# Known misspellings, in all that people read; bu and te are requests of man(7) and of tbl.
spelling()
{
	local made='lib/man/torcoll_types.3' list

	mapfile -t list < <(find docs lib/man tools -name '*.[1-8]' ! -path "$made"; find docs/site -name '*.md' -o -name '*.html' -o -name '*.js')
	codespell -L bu,te,inout "${documents[@]}" "${list[@]}" lib/*.h uapi/linux/*.h uapi/torcoll.yaml
}

finds_misspellings()
{
	! codespell -L bu,te,inout - <<<'An exmaple that is occured.' >/dev/null
}

# row NAME: what README's table says that works, of that name.
row()
{
	sed -n "s/^| $1 | \([^|]*\) |.*/\1/p" README.md
}

# The names of an array of kmod/core/names.c.
names()
{
	sed -nE "/\\* ?const $1\[/,/^}/s/.*\[TORCOLL_.*\] = \"(.*)\".*/\1/p" kmod/core/names.c | grep -vx none
}

# README's words for the collectives that have others than their names; a message is a send and a receive.
readme_collectives()
{
	diff <(names tor_collective_names | sort) \
		<(row collectives | sed 's/halo exchange/halo/; s/blocks of any length//; s/messages between two ranks/send, recv/' |
			tr ',;' '\n' | sed 's/^ *//; s/ *$//' | grep . | sort)
}

readme_types()
{
	local said bits

	said=$(row 'types, operators')
	bits=$(sed -nE 's/.*integers of ([0-9]+) to ([0-9]+) bits.*/\1 \2/p' <<<"$said")
	is_same "$bits" "$(names tor_type_names | sed -nE 's/^[iu]([0-9]+)$/\1/p' | sort -n | sed -n '1p;$p' | paste -sd' ')" &&
		diff <(names tor_type_names | grep -xE 'b?f[0-9]+' | sort) <(grep -oE '\bb?f[0-9]+\b' <<<"$said" | sort) &&
		diff <(names tor_redop_names | sort) <(sed -E 's/.*MPI.s pairs; //; s/, in all.*//; s/bitwise and logical operators/band, bor, bxor, land, lor, lxor/
			s/pre-multiplied sum/premulsum/' <<<"$said" | tr ',' '\n' | tr -d ' ' | sort)
}

is_same()
{
	[[ $1 == "$2" ]] || { echo "README.md says $1, it is $2"; return 1; }
}

# Whatever stands in backquotes in the table: an errno, a program or a launcher, an algorithm, a command of torcollctl.
readme_code()
{
	local what n=0 bad=0

	while read -r what; do
		n=$((n + 1))
		case $what in
		E[A-Z]*) grep -qE "^ \*	$what\b" uapi/linux/torcoll.h ;;
		torcoll-plan\ *) build/bin/torcoll-plan --help | grep -qe "${what#* }" ;;
		torcollrun) [[ -x build/bin/$what ]] ;;
		mpirun | srun) grep -q "$what" lib/launcher.c docs/guide.md ;;
		*-* | auto) [[ " $(names tor_algorithm_names | paste -sd' ') " == *" $what "* ]] || ctl_has "$what" ;;
		*) ctl_has "$what" ;;
		esac || { echo "README.md: there is no $what"; bad=1; }
	done < <(sed -n '/^## Status/,/^## /p' README.md | grep '^|' | grep -oE '`[^`]+`' | tr -d '`' | sort -u)
	((n > 8 && !bad))
}

# ctl_has "OBJECT COMMAND": as a usage has it.
ctl_has()
{
	local word

	for word in ${1#* }; do
		build/bin/torcollctl "${1%% *}" help 2>&1 | sed -n '/^Usage:/,/^$/p' | grep -qw -e "${word#--}" || return
	done
}

# Kinds of devices that a test has.
readme_devices()
{
	local kind n=0 bad=0

	while read -r kind; do
		n=$((n + 1))
		grep -rqiwE "(type )?$kind" selftests/net selftests/vms selftests/lib.sh qemu || { echo "no test has $kind"; bad=1; }
	done < <(row devices | sed 's/, in virtual machines//' | tr ',' '\n' | tr -d ' ')
	((n && !bad))
}

# To change a loaded module: a unit that stays active is not started a second time, so it is stopped before.
upgrades()
{
	local f bad=0

	for f in docs/guide.md debian/torcoll-dkms.postinst; do
		grep -qE 'systemctl stop torcoll@\w+; modprobe -r torcoll; systemctl start torcoll@' <(tr -d '\n\t"' <"$f" | tr -d '\134') ||
			{ echo "$f does not say how a unit comes to use a new module"; bad=1; }
	done
	! grep -nE 'modprobe -r torcoll && modprobe torcoll([^ ]|$)' docs/guide.md debian/torcoll-dkms.postinst && ((!bad))
}

# No long line of text twice, nor rows of a table that begin alike, as the repair of a merge leaves them.
no_line_twice()
{
	local twice

	twice=$(awk '{ text = $0; most = 60 }
		/^[|] / { sub(/ [|] .*/, "", text); most = 40 }
		length(text) > most && !/^[ \t]/ && !/^[|] *-/ && n[FILENAME, text]++ { print FILENAME ": " text }' "${documents[@]}")
	[[ -z $twice ]] || { echo "twice: $twice"; return 1; }
}

ktap_header
check wire__fields wire_fields
check wire__accepted wire_accepted
check wire__drops wire_drops
check observing__counters counters
check observing__counters_as_elsewhere counters_alike
check observing__tracepoints tracepoints
check observing__fields fields
check algorithms__costs costs
check algorithms__costs_on_lines_and_meshes shape_costs "Lines and full meshes" "Rings with chords"
check algorithms__costs_on_rings_with_chords shape_costs "Rings with chords" Sources
check wiring__table diff <(sed -n '/^| hosts/,/^$/p' docs/wiring.md | sed '$d') <(scripts/wiring --table)
check algorithms__all algorithms
check picture__is_what_is_drawn picture
check house__is_that_of_the_tree house
check design__names_functions_that_there_are design_functions
check design__steps_are_in_their_files design_steps
check links__lead_somewhere links
check defects__tests_are_there selftests/host/defects.py
check guide__upgrade_uses_the_new_module upgrades
check documents__no_line_twice no_line_twice
check index__complete all_in_index
check index__manual_pages pages_in_index
check site__pages_are_made site_pages
check spelling__of_documents_pages_headers spelling
check spelling__finds_misspellings finds_misspellings
for what in collectives types code devices; do
	check "readme__$what" "readme_$what"
done
finish
