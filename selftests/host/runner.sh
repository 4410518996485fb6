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
