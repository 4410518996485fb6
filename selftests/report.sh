# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# What became of a test: its cases are counted by what it printed, and added up in passed, failed and failures, which belong to
# selftests/run. Sourced by it.
passed=0 failed=0 failures=()

# The cases of a test, by its log $1 and exit code $2, as "passed failed skipped reason".
count_cmocka()
{
	awk -v code="$2" '
		# since 1.1.7 the group is named before the number
		function number() {
			sub(/^\[[^]]*\] ([^ ]+: )?(Running )?/, "")
			return $1
		}
		/^\[==========\] ([^ ]+: )?Running [0-9]+ test/	{ planned += number() }
		/^\[  PASSED  \] ([^ ]+: )?[0-9]+ test/		{ ok += number() }
		/^\[  FAILED  \] ([^ ]+: )?[0-9]+ test/		{ bad += number() }
		/^\[  SKIPPED \] ([^ ]+: )?[0-9]+ test/		{ skipped += number() }
		END {
			if (ok + bad + skipped < planned)
				why = "died, exit code " code
			else if (planned == 0)
				why = "ran no test, exit code " code
			else if (code != 0 && bad == 0)
				why = "exit code " code
			print ok + 0, bad + (why != ""), skipped + 0, why
		}' "$1"
}

count_ktap()
{
	awk -v code="$2" '
		/^ok .*# SKIP/	{ skipped++; next }
		/^ok( |$)/	{ ok++ }
		/^not ok( |$)/	{ bad++ }
		/^1\.\.[0-9]+/	{ plan = substr($1, 4) + 0; plans++ }
		/^1\.\.0 # SKIP/ { skipped++ }
		/^Bail out!/	{ bail = substr($0, 11) }
		END {
			if (bail != "")
				why = "bailed out:" bail
			else if (code == 124 || code == 137)
				why = "timeout"
			else if (plans != 1)
				why = "died without a plan, exit code " code
			else if (plan != ok + bad + (plan ? skipped : 0))
				why = "planned " plan " cases, ran " ok + bad + skipped
			else if (ok + bad + skipped == 0)
				why = "ran no case"
			else if (code != 0 && bad == 0)
				why = "exit code " code
			print ok + 0, bad + (why != ""), skipped + 0, why
		}' "$1"
}

# The failed cases of log $1, and of what each says its beginning and its end.
failures()
{
	awk '
		function show(	i) {
			for (i = 1; i <= n; i++)
				if (i <= 4 || i > n - 12)
					print line[i]
				else if (i == 5)
					print "..."
			n = 0
		}
		/^not ok|^\[  FAILED  \] [^0-9]|^\[ +LINE|ERROR: |runtime error:/ { show(); on = 1 }
		/^ok|^1\.\./ { show(); on = 0 }
		on { line[++n] = $0 }
		END { show() }' "$1" | head -n 60
}

# One line per test; of a failed one, what failed.
report()
{
	local name=$1 ok=$2 bad=$3 skipped=$4 seconds=$5 log=$6 why=$7 line

	line=$(printf '%-4s %-32s %4d passed' "$( ((bad)) && echo FAIL || echo ok)" "$name" "$ok")
	((bad == 0)) || line+=", $bad failed"
	((skipped == 0)) || line+=", $skipped skipped"
	printf '%s  (%d s)\n' "$line" "$seconds"
	((bad)) || return
	[[ -z $why ]] || echo "     $why"
	{
		failures "$log"
		[[ -z $why ]] || tail -n 15 "$log"
	} | sed 's/^/     | /'
	echo "     log: $log"
}

# Adds a test's cases, and names it at the end if any failed.
count()
{
	passed=$((passed + $2)) failed=$((failed + $3))
	(($3 == 0)) || failures+=("$1: $3 failed")
}

# end_programs MARK: all processes that have TORCOLL_TEST=MARK... in their environment, wherever they have gone; again, as one may
# have started another meanwhile.
end_programs()
{
	local file name found=1 i

	# what is in the kernel may not end
	for ((i = 0; found && i < 5; i++)); do
		found=0
		for file in /proc/[0-9]*/environ; do
			while IFS= read -r -d '' name; do
				[[ $name != "TORCOLL_TEST=$1"* ]] || { kill -KILL "${file//[^0-9]/}" && found=1; }
			done <"$file"
		done
	done 2>/dev/null
}

# run NAME FORMAT TIMEOUT COMMAND...: result in ok, bad, skipped, why, seconds. At its limit a test is told to end, with what it
# waits for, and cleans up; what then still runs is killed.
run()
{
	local name=$1 format=$2 limit=$3 log=$logs/$1.log begin=$SECONDS code

	shift 3
	mkdir -p "$(dirname "$log")"
	# bash would tell of the timeout that kills itself with the others
	{ TORCOLL_TEST=$$/$name/ timeout -k 10 "$limit" "$@" >"$log" 2>&1 </dev/null {running}>&-; } 2>/dev/null
	code=$?
	((code != 124 && code != 137)) || end_programs "$$/$name/"
	seconds=$((SECONDS - begin))
	read -r ok bad skipped why < <("count_$format" "$log" "$code")
	[[ ${skipped-} ]] || ok=0 bad=1 skipped=0 why="its cases could not be counted"
}

# settle NAME FOLDER: reports what lies in FOLDER/NAME.result as "passed failed skipped seconds reason", and counts it, unless
# again.sh is to.
settle()
{
	local ok bad skipped seconds why

	read -r ok bad skipped seconds why <"$2/$1.result"
	[[ ${seconds-} ]] || ok=0 bad=1 skipped=0 seconds=0 why="its result could not be written: is the disk full?"
	if [[ $why == "not begun"* ]]; then
		echo "--   $1: $why"
		return
	fi
	report "$1" "$ok" "$bad" "$skipped" "$seconds" "$2/$1.log" "$why"
	if ((bad)) && is_doubtful "$1" "$why"; then
		doubt "$1" "$ok" "$bad"
	else
		count "$1" "$ok" "$bad"
	fi
}

# leave_result NAME FOLDER PASSED FAILED SKIPPED SECONDS REASON: half a result is none.
leave_result()
{
	echo "${*:3}" >"$2/$1.result.new" && mv "$2/$1.result.new" "$2/$1.result"
}
