#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# selftests/run itself: which tests it takes, in which order, and what becomes of one that does not end.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit
ktap_header

work=$(mktemp -d) logs=$work
cleanup rm -rf "$work"
# what the runner keeps open, and tests are not to
exec {running}>"$work/lock"

# A test that waits for a program, and has started others: in the background, in a session of its own, with a limit of its own.
cat >"$work/test" <<'END'
#!/bin/bash
. selftests/lib.sh
ktap_header
cleanup touch "$1/cleaned"
sleep 1000 &
setsid sleep 1000 &
(trap "" TERM; exec timeout 1000 bash -c 'trap "" TERM; sleep 1000; sleep 1000') &
case $2 in
waits)	sleep 1000 ;;
deaf)	trap "" TERM; sleep 1000; sleep 1000 ;;
ends)	ok case; finish ;;
esac
END
chmod +x "$work/test"

# Programs of these tests that run.
left()
{
	grep -lzs "^TORCOLL_TEST=$$/case" /proc/[0-9]*/environ | wc -l
}

# ends HOW LIMIT: what the runner says of the test that ends so.
ends()
(
	# shellcheck source=selftests/report.sh
	. selftests/report.sh
	mkdir -p "$work/$1"
	run "case.$1" ktap "$2" "$work/test" "$work/$1" "$1"
	# shellcheck disable=SC2154
	echo "$ok $bad $skipped $why"
)

is limit__is_told "$(ends waits 3)" "0 1 0 timeout"
check limit__the_test_cleans_up test -e "$work/waits/cleaned"
is limit__no_program_is_left "$(left)" 0
is limit__of_one_that_hears_nothing "$(ends deaf 3)" "0 1 0 timeout"
is limit__no_program_of_that_is_left "$(left)" 0
is end__is_told "$(ends ends 60)" "1 0 0 "

# What the runner does at its own end, of whatever kind.
check end__programs_may_be_left test "$(left)" -gt 0
(. selftests/report.sh && end_programs "$$/")
is end__of_the_runner_ends_them "$(left)" 0

fails names__one_that_is_none 1 '^no test is called nonesuch$' env SUITE=check T="env nonesuch" selftests/run
fails names__of_another_suite 1 '^no test is called long/kill$' env SUITE=check T="host/env long/kill" selftests/run

# Tests of folder "host" in the work folder that pass ("steady"), fail ("broken"), or fail the first time only ("flaky"); one of
# these is about what several contexts do at a time ("flaky_race"), and one is skipped from then on ("skips").
mkdir -p "$work/selftests/host"
cat >"$work/selftests/host/test" <<'END'
#!/bin/bash
case $0 in
*/steady*)	echo "ok 1 case" ;;
*/broken*)	echo "not ok 1 case" ;;
*/flaky*)	[[ -e $0.ran ]] || echo -n "not "; echo "ok 1 case" ;;
*/skips*)	[[ -e $0.ran ]] && echo "ok 1 case # SKIP" || echo "not ok 1 case" ;;
esac
touch "$0.ran"
echo 1..1
END
chmod +x "$work/selftests/host/test"

# whole TEST...: what a run of these says, after their own lines. WHY is a reason to fail besides cases; ASKED, what was asked for;
# LATE, that the time is over when one is to be run once more.
whole()
(
	# shellcheck source=selftests/report.sh
	. selftests/report.sh
	# shellcheck source=selftests/guests.sh
	. selftests/guests.sh
	# shellcheck source=selftests/again.sh
	. selftests/again.sh
	# shellcheck disable=SC2030
	suite=check T=${ASKED-}
	limit_of() { echo 60; }
	if [[ ${LATE-} ]]; then
		on_host_again()
		{
			mkdir -p "$logs/host"
			leave_result "$1" "$logs" 0 0 0 0 "not begun, the time is over"
			settle "$1" "$logs"
		}
	fi
	cd "$work" || exit
	mkdir -p log/host
	rm -f selftests/host/*.ran
	logs=log
	for test; do
		cp selftests/host/test "selftests/$test.sh"
		[[ $test != *race ]] || sed -i '2i # processors: 2' "selftests/$test.sh"
		run "$test" ktap 60 "selftests/$test.sh"
		# shellcheck disable=SC2154
		leave_result "$test" log "$ok" "$bad" "$skipped" "$seconds" "${WHY:-$why}"
		settle "$test" log
	done >/dev/null
	settle_doubts >said
	grep '^once more' said
	show_unsteady
	echo "$passed passed, $failed failed"
)

is again__what_passes_alone_is_named "$(whole host/steady host/flaky)" "once more, with nothing beside: host/flaky
Unsteady, failed beside others and passed alone:
  host/flaky: 1 failed; log: log/host/flaky.log
2 passed, 0 failed"
is again__what_fails_twice_failed "$(whole host/broken host/steady)" "once more, with nothing beside: host/broken
1 passed, 1 failed"
is again__what_is_skipped_then_failed "$(whole host/skips host/steady)" "once more, with nothing beside: host/skips
1 passed, 1 failed"
is again__what_is_not_begun_failed "$(LATE=1 whole host/flaky)" "once more, with nothing beside: host/flaky
0 passed, 1 failed"
is again__not_many "$(whole host/flaky{1,2,3,4})" "0 passed, 4 failed"
is again__not_what_the_kernel_says "$(WHY="the kernel complained" whole host/flaky)" "0 passed, 1 failed"
is again__not_of_several_contexts "$(whole host/flaky_race)" "0 passed, 1 failed"
is again__not_where_one_is_asked_for "$(ASKED=host/flaky whole host/flaky)" "0 passed, 1 failed"

# order FILE...: in which guests take them.
order()
(
	# shellcheck source=selftests/guests.sh
	. selftests/guests.sh
	longest_first "$@" | sed 's,.*/,,' | paste -sd ' '
)

for file in a b:10 c d:200; do
	printf '#!/bin/bash\n# takes: %s\n' "${file#*:}" >"$work/${file%:*}.sh"
done
is order__the_longest_first "$(order "$work"/*.sh)" "d.sh b.sh a.sh c.sh"
finish
