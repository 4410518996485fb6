# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Tests that are run again. In a whole run tests share the machine with others, and a case that bounds what something takes may
# fail by that alone. As netdev's CI does, those that failed by cases are run once more, with nothing beside them; one that
# passes then is unsteady: it is named at the end, with its first log, but fails nothing. What may be a bug that does not show
# each time is no case for it: tests that need two processors, since they are about what several contexts do at a time, a splat of
# the kernel, a leak, a guest that died, a module that does not unload, a test that does not end, unit tests, and many tests at
# once. Sourced by selftests/run.
again_most=3
doubtful=() unsteady=()

# Whether the failure of test $1, of whole run $suite, for reason $2 besides its cases, may be the machine's doing.
is_doubtful()
{
	[[ $suite == check && -z ${T-}$2 && $1 == @(host|net)/* ]] && ! needs_processors "$1"
}

# doubt NAME PASSED FAILED
doubt()
{
	doubtful+=("$*")
}

on_host_again()
{
	local name

	for name; do
		run "$name" ktap "$(limit_of "selftests/$name.sh")" "selftests/$name.sh"
		leave_result "$name" "$logs" "$ok" "$bad" "$skipped" "$seconds" "$why"
		settle "$name" "$logs"
	done
}

# once_more NAME...: what they say now counts.
once_more()
{
	local logs=$logs/again name host=() guest=()

	echo "once more, with nothing beside: $*"
	rm -rf "$logs"
	for name; do
		case $name in
		host/*)	host+=("$name") ;;
		*)	guest+=("$name") ;;
		esac
	done
	on_host_again "${host[@]}"
	((${#guest[@]} == 0)) || use_guests 1 "${guest[@]}"
}

# Where the test that failed has its log.
first_log()
{
	[[ $1 == host/* ]] && echo "$logs/$1.log" || echo "$logs/guest/$1.log"
}

# settle_again NAME PASSED FAILED: what became of a test of which so many cases passed and failed before. That it failed again, or
# left no result, is counted.
settle_again()
{
	local file=$logs/again/$1.result ok bad

	[[ $1 == host/* ]] || file=$logs/again/guest/$1.result
	[[ -e $file ]] || return 0
	read -r ok bad _ <"$file"
	if ((bad)); then
		return
	elif ((ok >= $2 + $3)); then
		unsteady+=("$1: $3 failed; log: $(first_log "$1")")
	else
		# what is skipped now, or not begun as the time is over, may be what failed
		count "$1" 0 "$3"
	fi
}

# Counts what was doubted: as it comes out now, or as it did if there is too much of it.
settle_doubts()
{
	local all=("${doubtful[@]}") names=() name had_passed had_failed

	doubtful=()
	((${#all[@]})) || return 0
	for name in "${all[@]}"; do
		read -r name had_passed had_failed <<<"$name"
		names+=("$name")
		((${#all[@]} <= again_most)) || count "$name" "$had_passed" "$had_failed"
	done
	((${#all[@]} <= again_most)) || return 0
	suite=again once_more "${names[@]}"
	for name in "${all[@]}"; do
		read -r name had_passed had_failed <<<"$name"
		settle_again "$name" "$had_passed" "$had_failed"
	done
}

show_unsteady()
{
	((${#unsteady[@]})) || return 0
	echo "Unsteady, failed beside others and passed alone:"
	printf '  %s\n' "${unsteady[@]}"
}
