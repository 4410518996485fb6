#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 900
# processors: 2
#
# Random calls of every kind against a sequential program, on tori of several shapes. CONFORMANCE_CASES are drawn from
# CONFORMANCE_SEED. What pairs of properties they have is counted over all shapes; 2000 of them are to meet every pair.
# With CONFORMANCE_ALL, each shape has as many cases as it takes until any two properties were met together. With
# CONFORMANCE_PPN, nodes have so many ranks each, as by torcollctl netns run --ppn, and with CONFORMANCE_ORDER these do not
# follow one another: by-node, as by --by-node, or shuffled. CONFORMANCE_COMM: in a duplicate of the comm, dup, or in parts of it, slice.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

seed=${CONFORMANCE_SEED:-1} cases=${CONFORMANCE_CASES:-$((TORCOLL_SLOW > 1 ? 60 : 400))}
shapes=(2 3 8 4x4 3x5 2x2x2) ppn=() order=()
[[ -z ${CONFORMANCE_PPN-} ]] || ppn=(--ppn "$CONFORMANCE_PPN")
case ${CONFORMANCE_ORDER:-} in
'') ;;
by-node) ppn+=(--by-node) ;;
shuffled) order=(shuffled) ;;
*) bail "no such order: $CONFORMANCE_ORDER" ;;
esac
case ${CONFORMANCE_COMM:-} in
'') ;;
dup | slice) order+=("$CONFORMANCE_COMM") ;;
*) bail "no such comm: $CONFORMANCE_COMM" ;;
esac
# far more than are needed
[[ -z ${CONFORMANCE_ALL-} ]] || cases=3000

# run SHAPE CASES [all]: its lines, and a verdict.
run()
{
	local out passed failed met possible comms=1

	nodes_up "$1" "${patient[@]}" >/dev/null || bail "no torus: torcollctl netns up $1"
	out=$(torcollctl netns run --no-prefix "${ppn[@]}" conformance "$seed.$1" "$2" "${3:-list}" "${order[@]}" 2>&1)
	torcollctl netns down
	grep '^pair ' <<<"$out" >>"$pairs"
	grep -v '^pair ' <<<"$out" | sed "s/^/$1: /" | diag
	[[ ${CONFORMANCE_COMM:-} != slice || $1 != *x* ]] || comms=${1##*x}
	read -r passed failed < <(awk -v comms="$comms" '
		/^[0-9]+ passed, [0-9]+ failed$/ { passed += $1; failed += $3; n++ }
		END { print passed + 0, failed + (n != comms) }' <<<"$out")
	if [[ ${3-} == all ]]; then
		read -r met possible < <(sed -n 's/^# (any property, any other): \([0-9]*\) of \([0-9]*\) pairs$/\1 \2/p' <<<"$out")
		is "${1}__right" "$failed wrong of $((passed + failed))" "0 wrong of $passed"
		is "${1}__any_two_properties" "${met:-none}" "${possible:-0}"
	else
		is "${1}__${2}_cases" "$passed right, $failed wrong" "$((comms * $2)) right, 0 wrong"
	fi
	total_passed=$((total_passed + passed)) total_failed=$((total_failed + failed))
}

# Lines "TABLE: N of M pairs", from all shapes.
covered()
{
	awk -F': ' '
		{ table = substr($1, 6); key = table ": " $2; met[key] += $3; of[key] = table }
		END {
			for (key in met) { all[of[key]]++; some[of[key]] += met[key] > 0 }
			for (table in all) print table ": " some[table] " of " all[table] " pairs"
		}' "$pairs" | sort
}

# Those that no shape has met.
never_met()
{
	awk -F': ' '{ met[substr($1, 6) ": " $2] += $3 } END { for (key in met) if (!met[key]) print key }' "$pairs"
}

pairs=$(mktemp)
cleanup rm -f "$pairs"
module_load || bail "the module does not load"
cleanup torus_down
total_passed=0 total_failed=0
for shape in ${CONFORMANCE_SHAPES:-"${shapes[@]}"}; do
	if [[ -n ${CONFORMANCE_ALL-} ]]; then
		run "$shape" "$cases" all
	else
		run "$shape" $((cases / ${#shapes[@]} + 1))
	fi
done
covered | diag
[[ -n ${CONFORMANCE_ALL-} ]] || ((cases < 2000)) || is covers_every_pair "$(never_met)" ""
diag "$total_passed passed, $total_failed failed"
finish
