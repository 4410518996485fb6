#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# Two neighbours who take whatever there is to take slow down a third one's allreduce by no more than they would
# if all three had an equal part of the processors, give or take a half: one who keeps the wires busy, and
# one who makes comms, ops and regions until he is refused.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

group=4242 bytes=16K

# as UID COMMAND...: on all nodes, members of the group.
as()
{
	local uid=$1

	shift
	torcollctl netns run --no-prefix setpriv --reuid "$uid" --regid "$group" --clear-groups "$@"
}

# Median of five: us per allreduce, 200 in a row.
us_of_an_op()
{
	local i

	for i in 1 2 3 4 5; do
		as 1002 torcoll-perf allreduce -b "$bytes" -e "$bytes" -n 200 -w 20 --out-of-place --format json
	done | jq -R 'fromjson? | select(.wrong == 0) | .time_us' | sort -n | sed -n 3p
}

ops_done()
{
	(($(counters ops 4) > $1))
}

hogged()
{
	grep -q '^hogged' "$work/hog"
}

# no_slower WHAT US TIMES: and right, or there were no time.
no_slower()
{
	echo "alone $alone us; beside $1 $2 us" >>"$work/figures"
	awk -v alone="$alone" -v us="$2" -v times="$3" 'BEGIN { exit !(us > 0 && us <= 1.5 * times * alone) }'
}

work=$(mktemp -d)
cleanup rm -rf "$work"
ulimit -l unlimited
torus_up 2x2 "${patient[@]}"
chgrp "$group" /dev/torcoll
torcollctl limit set comms 12 ops 512 pinned 64M kernel 128M
alone=$(us_of_an_op)
done=$(counters ops 4)
torcollctl netns run setpriv --reuid 1004 --regid "$group" --clear-groups \
	torcoll-perf allreduce -b "$bytes" -e "$bytes" -n 100000000 -w 0 >"$work/flood" 2>&1 &
flood=$!
check flood__runs wait_for 30 ops_done $((done + 100))
check flood__takes_no_more_than_its_part no_slower "one that calls all the time" "$(us_of_an_op)" 2
torcollctl netns exec 0 setpriv --reuid 1001 --regid "$group" --clear-groups limits hog >"$work/hog" 2>&1 &
hog=$!
check hog__has_all wait_for 60 hogged
check hog__takes_no_more_than_its_part no_slower "that and a hog" "$(us_of_an_op)" 3
check flood__still_runs kill -0 "$flood"
check hog__still_runs kill -0 "$hog"
diag <"$work/figures"
kill "$hog" "$flood"
wait "$hog" "$flood"
eventually users__leave_nothing 20 nothing_charged
finish
