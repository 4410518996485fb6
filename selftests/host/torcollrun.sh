#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# torcollrun over a fake of ssh, which runs the command here: hosts and ranks, what the ranks find, what is
# printed of them, and that all end: when one fails, when a connection is lost, by signals, with torcollrun.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit

work=$(mktemp -d)
cleanup rm -rf "$work"
export RUN_WORK=$work

# As ssh does: the command is the words behind the host, joined for a shell. Dies alone if it is killed.
cat >"$work/ssh" <<'SSH'
#!/bin/bash
host=$1
shift
echo "$$ $host" >>"$RUN_WORK/pids"
bash -c "$*" <&0 &
wait
SSH
cat >"$work/noisy" <<'SSH'
#!/bin/bash
echo "Welcome to $1"
echo "a warning" >&2
shift
exec bash -c "$*"
SSH
cat >"$work/refused" <<'SSH'
#!/bin/bash
[[ $1 != b ]] || { echo "b: Connection refused" >&2; exit 255; }
shift
exec bash -c "$*"
SSH
cat >"$work/stuck" <<'SSH'
#!/bin/bash
[[ $1 != a ]] || exec sleep 100
shift
exec bash -c "$*"
SSH
# What is left when a host is cut off: the agent's input stays open, behind an end that does not come through.
cat >"$work/cut" <<'SSH'
#!/bin/bash
shift
{ cat; exec sleep 100; } | bash -c "$*" 2>>"$RUN_WORK/agents"
SSH
# As sshd: what comes is passed on by a process of its own.
cat >"$work/relay" <<'SSH'
#!/bin/bash
shift
{ echo $BASHPID >"$RUN_WORK/relay.pid"; exec cat; } | { echo $BASHPID >"$RUN_WORK/agent.pid"; exec bash -c "$*"; }
SSH
# An agent that says what it is told, and that its ranks have ended.
cat >"$work/told" <<'SSH'
#!/bin/bash
sed -zn '/^go$/q; p' | tr '\0' '\n' >"$RUN_WORK/told.$1"
read -r _ first < <(grep -a '^first ' "$RUN_WORK/told.$1")
read -r _ ranks < <(grep -a '^ranks ' "$RUN_WORK/told.$1")
seq -f $'\1x%.0f 0' "$first" $((first + ranks - 1))
SSH
chmod +x "$work/relay" "$work/told" "$work/ssh" "$work/noisy" "$work/refused" "$work/stuck" "$work/cut"

# In the background it is to be started by these words: its process is the one that gets signals then.
torcollrun=(build/bin/torcollrun --ssh "$work/ssh" -H "a,b,c")

run()
{
	"${torcollrun[@]}" "$@"
}

# Sorted lines of stdout, joined.
lines()
{
	"$@" 2>/dev/null | sort | paste -sd' '
}

cat >"$work/lab.conf" <<'CONF'
# the lab
[fabric]
key = 0x11	# of the lab
dims = 2x2

[node  west]
index = 1
port 0- = enp1s0

[node east]
index=0

[node 10.0.0.3]
index = 3
[node north]
index = 2
CONF

# conf NAME LINE...: a file of these lines.
conf()
{
	local name=$1

	shift
	printf '%s\n' "$@" >"$work/$name"
}

conf no-key '[fabric]' 'dims = 2' '[node a]' 'index = 0'
conf no-node '[fabric]' 'key = 1' 'dims = 2'
conf twice '[fabric]' 'key = 1' 'dims = 2' '[node a]' 'index = 0' '[node b]' 'index = 0'
conf bad-index '[fabric]' 'key = 1' 'dims = 2' '[node a]' 'index = first'
conf bad-name '[fabric]' 'key = 1' 'dims = 2' '[node -oProxyCommand=x]' 'index = 0'
conf bad-section '[fabric' 'key = 1'
: >"$work/empty"
conf no-hosts '# none' ' '
conf hosts '# two' 'a' '' '  b # second'

by_file()
{
	build/bin/torcollrun --ssh "$work/ssh" --fabric "$work/lab.conf" "$@"
}

# The secret is random, and no process shows it: neither ssh, nor an agent, nor a rank.
secret_is_secret()
{
	local pid secret found=1

	# shellcheck disable=SC2016
	"${torcollrun[@]}" -n 1 --no-prefix sh -c 'echo $TORCOLL_SECRET; exec sleep 100' >"$work/secret" 2>/dev/null &
	pid=$!
	wait_for 30 test -s "$work/secret" || return 1
	secret=$(<"$work/secret")
	grep -lqs -- "$secret" /proc/[0-9]*/cmdline && found=0
	kill "$pid"
	wait "$pid"
	((${#secret} == 32 && found))
}

fresh_each_time()
{
	# shellcheck disable=SC2016
	[[ $(run -n 1 sh -c 'echo $TORCOLL_COMM') != $(run -n 1 sh -c 'echo $TORCOLL_COMM') &&
	   $(run -n 1 sh -c 'echo $TORCOLL_SECRET') != $(run -n 1 sh -c 'echo $TORCOLL_SECRET') ]]
}

# Whole lines, each with the rank that wrote it, of any length.
lines_are_whole()
{
	# shellcheck disable=SC2016
	local body='for i in {1..200}; do echo $TORCOLL_RANK; printf "%s" $TORCOLL_RANK; echo; done; echo >&2'

	run bash -c "$body" 2>"$work/err" >"$work/out" &&
		awk '{ r = substr($1, 2) } r != $3 || NF != 3 { bad = 1 } END { exit bad || NR != 1200 }' "$work/out" &&
		[[ $(sort "$work/err") == $'[0 a] \n[1 b] \n[2 c] ' ]]
}

long_line()
{
	run -n 1 --no-prefix sh -c 'head -c 300000 /dev/zero | tr "\0" x; echo; echo end' >"$work/out" &&
		(($(tr -d '\n' <"$work/out" | wc -c) == 300003)) && [[ $(tail -n 1 "$work/out") == end ]]
}

nobody_left()
{
	! pgrep -f "sleep 300$marker" >/dev/null
}

# begin BODY: ranks of a shell and its child, neither of which may be left; they run.
begin()
{
	marker=$RANDOM$RANDOM
	: >"$work/pids"
	# here, not by the process in the background: what the last case left would count
	: >"$work/out"
	"${torcollrun[@]}" bash -c "$1 sleep 300$marker & echo ready; wait" >"$work/out" 2>"$work/err" &
	pid=$!
	wait_for 30 eval "((\$(grep -c ready $work/out) == 3))"
}

ended_with()
{
	wait_for 20 eval "! kill -0 $pid" || return
	wait "$pid"
	(($? == $1)) && wait_for 10 nobody_left
}

by_signal()
{
	begin "" && kill "-$1" "$pid" && ended_with $((128 + $(kill -l "$1")))
}

# Ranks that ignore what asks them to end are killed by a second signal, long before the grace time is over; by a third one, if two
# are one because nobody took the first in time.
second_int_kills()
{
	begin 'trap "" INT TERM;' || return
	start=$EPOCHREALTIME
	kill -INT "$pid"
	sleep 0.2
	kill -INT "$pid"
	wait_for 1 eval "! kill -0 $pid" || kill -INT "$pid" 2>/dev/null
	ended_with 130
	code=$?
	took second_int
	return "$code"
}

killed_after_grace()
{
	begin 'trap "" TERM;' || return
	start=$EPOCHREALTIME
	kill "$pid"
	ended_with 143
	code=$?
	took grace
	return "$code"
}

# took NAME: since $start, for a comparison.
took()
{
	awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }' >"$work/took.$1"
}

sooner_than_grace()
{
	awk '{ t[FILENAME] = $1; print } END { exit !(t[ARGV[1]] > 0 && 2 * t[ARGV[1]] < t[ARGV[2]]) }' "$work/took.second_int" "$work/took.grace"
}

# ssh to b dies alone.
connection_lost()
{
	begin "" && kill -KILL "$(awk '$2 == "b" { print $1 }' "$work/pids")" && ended_with 255 &&
		grep -qx 'torcollrun: rank 1 on b (node 1): the connection ended with SIGKILL before all ranks did; the other ranks are ended' \
			"$work/err"
}

# Output that nobody reads ends all, as SIGPIPE does.
no_reader()
{
	local codes

	marker=$RANDOM$RANDOM
	timeout 60 build/bin/torcollrun --ssh "$work/ssh" -H a,b bash -c "sleep 300$marker & yes" | head -n 1 >"$work/out"
	codes=("${PIPESTATUS[@]}")
	[[ ${codes[0]} == 141 && $(<"$work/out") == "["?" "?"] y" ]] && wait_for 10 nobody_left
}

# Reads 200 kB/s, to the end: less than what ranks write.
slow_reader()
{
	until [[ $(head -c 20000 | wc -c) == 0 ]]; do
		sleep 0.1
	done
}

# slowly COMMAND...: of rank 0, for such a reader; its torcollrun is pid.
slowly()
{
	marker=none
	rm -f "$work/pipe" && mkfifo "$work/pipe" || return
	slow_reader <"$work/pipe" &
	build/bin/torcollrun --ssh "$work/ssh" -H a "$@" >"$work/pipe" 2>"$work/err" &
	pid=$!
}

# Ends with $1 without waiting for whoever writes for ever.
slow_reader_ends()
{
	ended_with "$1" && return
	kill -KILL "$pid"
	return 1
}

slow_reader_and_term()
{
	slowly yes 0123456789abcdef || return
	sleep 1
	kill "$pid" && slow_reader_ends 143
}

# What writes is a child of the rank, which has ended.
slow_reader_and_child()
{
	slowly sh -c 'yes 0123456789abcdef & sleep 1; exit 3' && slow_reader_ends 3
}

# unread OPTION...: what rank 0 writes without end nobody reads, nor closes; its torcollrun is pid.
unread()
{
	marker=none
	rm -f "$work/pipe" && mkfifo "$work/pipe" || return
	(exec 9<"$work/pipe" && exec sleep 100) &
	reader=$!
	build/bin/torcollrun --ssh "$work/ssh" -H a "$@" yes >"$work/pipe" 2>"$work/err" &
	pid=$!
}

unread_ends()
{
	slow_reader_ends "$1"
	code=$?
	kill "$reader"
	return "$code"
}

unread_and_term()
{
	unread || return
	sleep 1
	kill "$pid" && unread_ends 143
}

unread_and_timeout()
{
	unread --timeout 1 && unread_ends 124 && grep -q 'had not ended after 1 s' "$work/err"
}

late_reader()
{
	(($(run --no-prefix seq 100000 2>&1 | (sleep 1; sort | uniq -c | awk '$1 == 3' | wc -l)) == 100000))
}

# A terminal that is not read has room for less than what poll() promises.
frozen_terminal()
{
	timeout -s KILL 14 python3 - "${torcollrun[@]}" --timeout 1 yes <<-'PYTHON'
		import os, pty, subprocess, sys
		master, slave = pty.openpty()
		run = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=slave, stderr=subprocess.DEVNULL)
		try:
		    sys.exit(run.wait(12) != 124)
		except subprocess.TimeoutExpired:
		    run.kill()
		    sys.exit(1)
	PYTHON
}

# read_later SECONDS: what comes on stdin.
read_later()
{
	sleep "$1"
	cat
}

# The last words of a rank that is ended as another failed, for a reader that pauses for longer than ranks are given.
last_words()
{
	rm -f "$work/trapped"
	# shellcheck disable=SC2016
	run --no-prefix bash -c '
		if ((TORCOLL_RANK == 1)); then until [[ -e $RUN_WORK/trapped ]]; do sleep 0.1; done; exit 3; fi
		((TORCOLL_RANK)) || { trap "seq -f \"last %.0f\" 100000; exit 0" TERM; : >"$RUN_WORK/trapped"; }
		sleep 100 & wait' 2>"$work/err" | read_later 8 >"$work/out"
	((PIPESTATUS[0] == 3)) && (($(grep -c '^last ' "$work/out") == 100000))
}

# Who reads is given a second from when there is something to be read, which others' output has no room for.
late_output()
{
	marker=none
	rm -f "$work/pipe" "$work/trapped" "$work/killed" && mkfifo "$work/pipe" || return
	(exec 9<"$work/pipe" && wait_for 60 test -e "$work/killed" && sleep 0.5 && exec cat <&9) >"$work/out" &
	reader=$!
	# shellcheck disable=SC2016
	build/bin/torcollrun --ssh "$work/ssh" -H a \
		bash -c 'trap "echo last words; exit 0" TERM; : >"$RUN_WORK/trapped"; sleep 100 & wait' >"$work/pipe" 2>"$work/err" &
	pid=$!
	head -c 65536 /dev/zero >"$work/pipe"
	wait_for 30 test -e "$work/trapped"
	kill "$pid" && : >"$work/killed" && ended_with 143 && wait "$reader" && grep -qa 'last words$' "$work/out"
}

cat >"$work/lingers" <<'SSH'
#!/bin/bash
shift
bash -c "$*" <&0
sleep 8
SSH
chmod +x "$work/lingers"

connection_lingers()
{
	build/bin/torcollrun --ssh "$work/lingers" -H a --timeout 3 echo hello
}

# All has ended when the time is over, but for what is to be read.
unread_words()
{
	marker=none
	rm -f "$work/pipe" && mkfifo "$work/pipe" || return
	(exec 9<"$work/pipe" && exec sleep 100) &
	reader=$!
	# more than a pipe holds, of which the agent wrote less
	build/bin/torcollrun --ssh "$work/ssh" -H a --timeout 5 seq 7000 >"$work/pipe" 2>"$work/err" &
	pid=$!
	unread_ends 124 && grep -qx 'torcollrun: what the ranks wrote was not read after 5 s' "$work/err"
}

# Nobody reads stdout any more, and who has stderr does not read the last words either.
unread_stderr()
{
	marker=none
	rm -f "$work/pipe" && mkfifo "$work/pipe" || return
	(exec 9<"$work/pipe" && exec sleep 100) &
	reader=$!
	timeout -s KILL 15 build/bin/torcollrun --ssh "$work/ssh" -H a \
		bash -c 'trap "exec yes error >&2" TERM; yes & wait' 2>"$work/pipe" | head -n 1 >"$work/out"
	code=${PIPESTATUS[0]}
	kill "$reader"
	((code == 141))
}

# As under nohup.
hup_ignored()
{
	trap '' HUP
	begin ""
	trap - HUP
	kill -HUP "$pid"
	! wait_for 1 nobody_left && kill "$pid" && ended_with 143
}

torcollrun_killed()
{
	begin "" && kill -KILL "$pid" && wait_for 10 nobody_left
}

# cut_off SECONDS: ranks that would go on, of hosts that hear nothing for that time; their torcollrun is pid.
cut_off()
{
	marker=$RANDOM$RANDOM
	: >"$work/out"
	build/bin/torcollrun --silence "$1" --ssh "$work/cut" -H a,b bash -c "sleep 300$marker & echo ready; wait" \
		>"$work/out" 2>"$work/err" &
	pid=$!
	wait_for 30 eval "((\$(grep -c ready $work/out) == 2))"
}

dies_silently()
{
	: >"$work/agents"
	cut_off 2 && kill -KILL "$pid" && wait_for 30 nobody_left &&
		wait_for 10 eval "((\$(grep -cx 'torcollrun: this host has heard nothing of torcollrun for 2 s: its ranks are ended' $work/agents) == 2))"
}

# The host's processes had no turn for longer than is allowed without a word, and the agent is the first that has one.
starved()
{
	rm -f "$work/go"
	: >"$work/out"
	# shellcheck disable=SC2016
	build/bin/torcollrun --silence 4 --ssh "$work/relay" -H a sh -c 'echo ready; until [ -e "$RUN_WORK/go" ]; do sleep 0.2; done' \
		>"$work/out" 2>"$work/err" &
	pid=$!
	marker=none
	wait_for 30 grep -q ready "$work/out" || { kill -KILL "$pid"; return 1; }
	kill -STOP "$(<"$work/agent.pid")" "$(<"$work/relay.pid")"
	sleep 5
	kill -CONT "$(<"$work/agent.pid")"
	sleep 0.5
	kill -CONT "$(<"$work/relay.pid")"
	: >"$work/go"
	ended_with 0
	code=$?
	cat "$work/err"
	return "$code"
}

# stopped COMMAND...: while it runs; by a shell that would continue it, or the kernel stops nobody.
stopped()
{
	local code

	set -m
	cut_off 2 || { set +m; return 1; }
	set +m
	kill -TSTP "$pid" && wait_for 10 grep -q '^State:.*stopped' "/proc/$pid/status" && "$@"
	code=$?
	kill -CONT "$pid"
	return "$code"
}

# Four times as long as is allowed without a word.
stopped_by_the_terminal()
{
	stopped sleep 8 && ! wait_for 3 eval "((\$(pgrep -cfx 'sleep 300$marker') != 2))" && kill "$pid" && ended_with 143 && return
	kill -KILL "$pid"
	return 1
}

# One that may not write to its terminal in the background stops as by ^Z, and says so: its ranks go on.
stopped_in_the_background()
{
	rm -f "$work/go"
	# shellcheck disable=SC2016
	timeout -s KILL 100 python3 - build/bin/torcollrun --silence 2 --ssh "$work/ssh" -H a --no-prefix \
		sh -c 'echo word; until [ -e "$RUN_WORK/go" ]; do sleep 0.2; done' <<-'PYTHON'
		import os, pty, signal, sys, termios, time
		leader, master = pty.fork()
		if not leader:
		    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
		    modes = termios.tcgetattr(0)
		    modes[3] |= termios.TOSTOP
		    termios.tcsetattr(0, termios.TCSANOW, modes)
		    pid = os.fork()
		    if not pid:
		        os.setpgid(0, 0)
		        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
		        os.execv(sys.argv[1], sys.argv[1:])
		    if not os.WIFSTOPPED(os.waitpid(pid, os.WUNTRACED)[1]):
		        os._exit(3)
		    time.sleep(8)
		    os.tcsetpgrp(0, pid)
		    open(os.environ["RUN_WORK"] + "/go", "w").close()
		    os.kill(pid, signal.SIGCONT)
		    os._exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) & 0xff)
		text = b""
		try:
		    while more := os.read(master, 4096):
		        text += more
		except OSError:
		    pass
		code = os.waitstatus_to_exitcode(os.waitpid(leader, 0)[1])
		print(code, text)
		sys.exit(code != 0 or text != b"word\r\n")
	PYTHON
}

# told OPTION...: the nodes of all ranks, as each host is told them, and its ranks.
told()
{
	rm -f "$work"/told.*
	timeout 60 build/bin/torcollrun --ssh "$work/told" "$@" true || return
	grep -haE '^(env TORCOLL_MEMBERS|first|ranks)\>' "$work"/told.* | sed 's/.*=//' | paste -sd' '
}

# Nodes that no variable has room for: every second one of many.
no_room_for_all()
{
	seq -f 'h%.0f' 32000 >"$work/crowd"
	timeout 60 build/bin/torcollrun --ssh "$work/told" --hostfile "$work/crowd" --nodes "$(seq -s, 0 2 31999)" --ppn 60 true
}

# A rank that ends by itself ends the others, and their children: not after 120 s.
ends_others()
{
	local code=$1 words=$2

	marker=$RANDOM$RANDOM
	# shellcheck disable=SC2016
	run bash -c '[ $TORCOLL_RANK != 1 ] || '"$3"'; sleep 300'"$marker & wait" 2>"$work/err" >/dev/null
	(($? == code)) && [[ $(<"$work/err") == "torcollrun: rank 1 on b (node 1) $words; the other ranks are ended" ]] &&
		wait_for 20 nobody_left
}

# Orders that are longer than a pipe, for a host whose connection does not read them: others get theirs, and INT ends all.
stuck_connection()
{
	: >"$work/out"
	BIG=$(printf '%0100000d' 0) build/bin/torcollrun --ssh "$work/stuck" -H a,b -x BIG sh -c 'echo ran; exec sleep 100' \
		>"$work/out" 2>&1 &
	pid=$!
	marker=none
	wait_for 30 grep -q '^\[1 b\] ran' "$work/out" || { kill -KILL "$pid"; return 1; }
	kill -INT "$pid" && ended_with 130
}

# Descriptors for two of three connections.
few_descriptors()
{
	(ulimit -n 12 && exec timeout 60 "${torcollrun[@]}" true)
}

# Their numbers are not taken by what this program opens.
standard_closed()
{
	rm -f "$work/ran"
	# shellcheck disable=SC2016
	RAN=$work/ran timeout 60 "${torcollrun[@]}" -x RAN sh -c 'echo out; echo error >&2; echo >>"$RAN"' &&
		(($(wc -l <"$work/ran") == 3))
}

# what no end comes of
endless_word()
{
	head -c 4M /dev/zero | tr '\0' x | build/bin/torcollrun --remote
}

endless_words()
{
	(printf 'torcollrun 2\0' && yes "env A=$(printf '%0100000d' 0)" | tr '\n' '\0' | head -c 9M) | build/bin/torcollrun --remote
}

ktap_header

# ---- the command line ----

check version__is_told build/bin/torcollrun -V
fails program__missing 2 'which program' run
fails hosts__no_file 2 'no fabric is described|torcoll.*conf' build/bin/torcollrun --fabric nowhere true
fails hosts__two_ways 2 'exclude each other' run --netns true
fails hosts__bad_name 2 '"-b" is no name' build/bin/torcollrun -H a,-b true
fails hosts__shell_in_a_name 2 'is no name' build/bin/torcollrun -H 'a;b' true
fails hosts__no_namespaces 2 'no virtual torus' build/bin/torcollrun --netns --prefix nobodys true
fails hosts__key_is_a_number 2 'whole number, not "lab"' run --fabric lab true
fails ranks__too_many 2 '4 ranks are too many for 3 nodes with --ppn 1' run -n 4 true
fails silence__none 2 '"0" is not a number from 1' run --silence 0 true
fails ranks__none 2 '"0" is not a number from 1' run -n 0 true
fails nodes__not_there 2 '1 of the nodes 2 to 3 do not exist' run --nodes 2-3 true
fails nodes__twice 2 'named twice' run --nodes 1,0-1 true
fails nodes__no_list 2 'no list of nodes' run --nodes 1, true
fails env__not_set 2 'NO_SUCH_THING is not set' run -x NO_SUCH_THING true
fails file__no_key 2 'no-key:1: \[fabric\] has no key' build/bin/torcollrun --fabric "$work/no-key" true
fails file__no_node 2 'no section \[node NAME\]' build/bin/torcollrun --fabric "$work/no-node" true
fails file__index_twice 2 'twice:6: \[node b\]: index 0 is that of \[node a\]' build/bin/torcollrun --fabric "$work/twice" true
fails file__bad_index 2 'bad-index:5: index: "first"' build/bin/torcollrun --fabric "$work/bad-index" true
fails file__option_as_name 2 'bad-name:4: "-oProxyCommand=x" is no host name' build/bin/torcollrun --fabric "$work/bad-name" true
fails file__bad_section 2 'bad-section:1: "\[fabric" does not end with \]' build/bin/torcollrun --fabric "$work/bad-section" true
fails hostfile__empty 2 'empty: no line names a host' build/bin/torcollrun --hostfile "$work/empty" true
fails hostfile__comments_only 2 'no-hosts: no line names a host' build/bin/torcollrun --hostfile "$work/no-hosts" true
fails hostfile__folder 2 'Is a directory' build/bin/torcollrun --hostfile "$work" true
fails file__folder 2 'Is a directory' build/bin/torcollrun --fabric "$work" true
fails remote__word_without_end 2 'a variable is longer than [0-9]+ bytes' endless_word
fails remote__words_without_end 2 'variables are longer than [0-9]+ bytes' endless_words
fails remote__by_hand 2 'started by hand' build/bin/torcollrun --remote </dev/null

# ---- what ranks find ----

# shellcheck disable=SC2016 # each rank's own, in all cases of this part
{
is rank__and_size "$(lines run --no-prefix sh -c 'echo $TORCOLL_RANK/$TORCOLL_SIZE:$TORCOLL_LOCAL_RANK')" "0/3:0 1/3:0 2/3:0"
is rank__several_on_a_node "$(lines run --ppn 2 -n 5 sh -c 'echo $TORCOLL_MEMBERS:$TORCOLL_LOCAL_RANK')" \
	"[0 a] 0,0,1,1,2:0 [1 a] 0,0,1,1,2:1 [2 b] 0,0,1,1,2:0 [3 b] 0,0,1,1,2:1 [4 c] 0,0,1,1,2:0"
is nodes__some "$(lines run --nodes 2,0 sh -c 'echo $TORCOLL_MEMBERS')" "[0 c] 2,0 [1 a] 2,0"
is members__are_listed "$(told -H a,b --ppn 2 -n 3)" "first 0 ranks 2 0,0,1 first 2 ranks 1 0,0,1"
is members__are_listed_while_there_is_room "$(told -H a,b --ppn 16000 | tr -d ,01)" "first  ranks 6  first 6 ranks 6 "
is members__of_very_many "$(told -H a,b,c --ppn 30000 -n 80000)" \
	"first 0 ranks 30000 0-1*30000,2*20000 first 30000 ranks 30000 0-1*30000,2*20000 first 60000 ranks 20000 0-1*30000,2*20000"
fails members__no_variable_is_so_long 2 'the nodes of 960000 ranks' no_room_for_all
is fabric__its_key "$(lines run -n 1 --fabric 0x10 sh -c 'echo $TORCOLL_FABRIC')" "[0 a] 16"
is fabric__left_to_the_host "$(TORCOLL_FABRIC=5 lines run -n 1 sh -c 'echo "<$TORCOLL_FABRIC>"')" "[0 a] <>"
is file__hosts_by_index "$(lines by_file sh -c 'echo $TORCOLL_FABRIC')" "[0 east] 17 [1 west] 17 [2 north] 17 [3 10.0.0.3] 17"
is hostfile__in_its_order "$(lines build/bin/torcollrun --ssh "$work/ssh" --hostfile "$work/hosts" echo x)" "[0 a] x [1 b] x"
is env__passed_on "$(FRUIT=apple lines run -n 1 -x FRUIT -x 'TWO=a  b
c' sh -c 'echo "$FRUIT,$TWO"')" "[0 a] apple,a  b [0 a] c"
is env__torcolls_passed_on "$(TORCOLL_ALGO=ring TORCOLL_RANK=9 lines run -n 1 sh -c 'echo $TORCOLL_ALGO $TORCOLL_RANK')" "[0 a] ring 0"
is wdir__this_one "$(lines run -n 1 pwd)" "[0 a] $PWD"
is wdir__another "$(lines run -n 1 --wdir / pwd)" "[0 a] /"
is arguments__unchanged "$(lines run -n 1 printf '<%s>' 'a  b' '$x' "it's" '')" "[0 a] <a  b><\$x><it's><>"
}
fails wdir__missing 255 'torcollrun: /no/such: No such file' run --wdir /no/such true
check comm__fresh_each_time fresh_each_time
check secret__is_secret secret_is_secret
check stdin__is_empty run -n 1 sh -c '! read line'

# ---- what is printed ----

check lines__are_whole lines_are_whole
check lines__are_long long_line
is lines__without_end "$(run -n 1 printf a)" "[0 a] a"
is lines__of_a_login_script "$(build/bin/torcollrun --ssh "$work/noisy" -H a echo x 2>&1 | sort | paste -sd' ')" \
	"[0 a] x [a] Welcome to a [a] a warning"
fails verbose__names_commands 0 "torcollrun: ranks 2-3 on b \(node 1\): $work/ssh b exec '.*/torcollrun' --remote" run -v --ppn 2 true

# ---- the end ----

check exit__all_right run true
check fails__exit_status ends_others 3 'ended with exit status 3' 'exit 3'
check fails__signal ends_others 139 'was killed by SIGSEGV' 'kill -SEGV $$'
check fails__real_time_signal ends_others 165 'was killed by signal 37' 'kill -37 $$'
fails fails__no_such_program 127 'nothing: No such file' run "$work/nothing"
fails fails__not_executable 126 'denied' run "$work/hosts"
fails connection__refused 255 'rank 1 on b \(node 1\): the connection ended with exit status 255 before any ranks began' \
	build/bin/torcollrun --ssh "$work/refused" -H a,b,c sleep 100
check connection__lost connection_lost
fails connection__no_descriptors 2 '^torcollrun: starting the connection to [abc]: Too many open files$' few_descriptors
is connection__no_descriptors__says_so_once "$(few_descriptors 2>&1 | wc -l)" 1
check connection__dies_silently dies_silently
check silence__is_not_of_who_lives run --silence 2 sleep 7
check silence__not_of_a_host_that_was_starved starved
check silence__not_while_the_terminal_stops_it stopped_by_the_terminal
check silence__nor_for_its_output stopped_in_the_background
check connection__does_not_read stuck_connection
check standard__no_stdout eval 'standard_closed >&-'
check standard__none eval 'standard_closed <&- >&- 2>&-'
fails timeout__ends_all 124 '3 of 3 ranks had not ended after 3 s' run --timeout 3 sleep 100
check signal__int by_signal INT
check signal__term by_signal TERM
check signal__hup by_signal HUP
check signal__hup_ignored hup_ignored
check signal__pipe no_reader
check signal__reader_is_slow slow_reader_and_term
check exit__reader_is_slow slow_reader_and_child
check exit__reader_is_late late_reader
check signal__nobody_reads unread_and_term
check timeout__nobody_reads unread_and_timeout
check timeout__terminal_is_frozen frozen_terminal
check timeout__words_are_unread unread_words
fails timeout__connection_lingers 124 'all ranks have ended, but 1 connection had not after 3 s' connection_lingers
check fails__last_words_are_read_late last_words
check signal__output_begins_late late_output
check signal__pipe_and_unread_stderr unread_stderr
check signal__second_int_kills second_int_kills
check signal__kill_after_a_time killed_after_grace
check signal__second_int_kills_sooner sooner_than_grace
check signal__torcollrun_is_killed torcollrun_killed
finish
