# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# What net/mpi.sh and net/mpich.sh share; sourced after mpi.sh. $launch starts ranks: mpi_run or mpich_run.

# shellcheck disable=SC2034 # the sourcing script uses it
programs=$TORCOLL_TOP/build/mpi
: "${launch:=mpi_run}" "${work:=}"

# is_over FILE RANKS: rank 0 has said that nothing is wrong, and all ranks that they have come to MPICH's MPI_Finalize.
is_over()
{
	(($(grep -c 'torcoll: .* communicators; ' "$work/$1") == $2)) && grep -q ', 0 wrong' "$work/$1" &&
		! grep -q ', 1 wrong' "$work/$1"
}

# Debian's MPICH 4.0 may not come back from MPI_Finalize, without the library as well: a rank still closes a connection, and its
# peer waits for mpirun without looking at it. Ends the job $1 then, of $3 ranks that write to the file $2, and returns 1.
end_what_is_over()
{
	local since=""

	while kill -0 "$1" 2>/dev/null; do
		sleep 0.2
		[[ -n $since ]] || ! is_over "$2" "$3" || since=$EPOCHSECONDS
		if [[ -n $since ]] && ((EPOCHSECONDS - since > 20)); then
			kill "$1"
			return 1
		fi
	done
}

# run FILE SECONDS RANKS [ARGUMENT]...: what it prints goes to the file. What hangs is ended: mpirun alone takes most of a minute
# where the guest has a fraction of a processor.
run()
{
	local code job ended=""

	# shellcheck disable=SC2016 # expanded by the inner shell
	timeout -k 10 "$2" bash -c '. "$0/../lib.sh"; . "$0/mpi.sh"; "$@"' "$TORCOLL_TOP/selftests/mpi" \
		"$launch" "$3" 4 "${@:4}" >"$work/$1" 2>&1 &
	job=$!
	[[ $launch != mpich_run ]] || end_what_is_over "$job" "$1" "$3" || ended=1
	wait "$job"
	code=$?
	if [[ -n $ended ]]; then
		echo "ended in MPI_Finalize, where MPICH did not come back"
		return 0
	fi
	((code == 0)) || tail -n 20 "$work/$1"
	return "$code"
}

# The share of calls of all ranks that ran in the kernel, in per cent.
share()
{
	sed -n 's/.*communicators; \([0-9]*\) calls in the kernel, \([0-9]*\) by .*/\1 \2/p' "$work/$1" |
		awk '{ kernel += $1; other += $2 } END { print kernel, other, int(100 * kernel / (kernel + other)) }'
}

mostly_in_kernel()
{
	local kernel other percent

	read -r kernel other percent < <(share "$1")
	echo "$kernel calls in the kernel, $other by others: $percent %"
	((percent >= $2))
}

# says FILE WORDS: a rank has said so.
says()
{
	grep 'torcoll: ' "$work/$1"
	grep -q "$2" "$work/$1"
}

# all_taken FILE RANKS COMMUNICATORS: each rank has had so many in the kernel.
all_taken()
{
	says "$1" "torcoll: $3 communicators; " && (($(grep -c "torcoll: $3 communicators; " "$work/$1") == $2))
}

# own_reasons FILE: of two communicators whose calls fail, each has the sentence of its own call.
own_reasons()
{
	says "$1" ' on first: allreduce' && says "$1" ' on second: broadcast' &&
		! grep -Eq ' on first: broadcast| on second: allreduce' "$work/$1"
}

# orders NAME PROGRAM CASE...: all in one start of the program, of 5 ranks, which takes the most of its time: where one hangs,
# those after it fail as well.
orders()
{
	local case

	check "$1" run "$1" 600 5 "${@:2}"
	for case in "${@:3}"; do
		check "order__$case" grep -x "$case, 0 wrong" "$work/$1"
	done
}

# Of what one rank lacks the others hear: no join fails by its timeout.
told_before_joining()
{
	says troubles 'is not taken.*: no eventfd can be made for its join: Too many open files' &&
		says troubles 'is not taken.*: no thread can be started for its join: ' &&
		! grep 'ETIMEDOUT\|is missing' "$work/troubles"
}

# Memory for another request may be there.
still_persistent()
{
	! grep 'persistent calls made from now on are left' "$work/troubles"
}

# troubles COMMUNICATORS LAUNCHER'S ARGUMENT... PROGRAM CASE...: all in one start of the program, of 5 ranks, which takes the most
# of its time. The launcher is told of a shorter timeout than the late rank needs.
troubles()
{
	local taken=$1 case

	shift
	check troubles run troubles 400 5 "$@"
	for case in late sleeps reasons freed forbidden pack windows hold memory no_request no_grequest no_persistent no_thread \
		attribute requests; do
		[[ " $* " != *" $case "* ]] || check "trouble__$case" grep -x "$case, 0 wrong" "$work/troubles"
	done
	check trouble__reasons_of_their_own own_reasons troubles
	check trouble__pack_is_told says troubles ' on packed: the MPI cannot pack the data'
	check trouble__memory_is_told says troubles 'is not taken.*: out of memory'
	check trouble__no_request_is_told says troubles ' on requested: out of memory'
	check trouble__no_thread_is_told told_before_joining
	check trouble__no_persistent_is_of_one_request still_persistent
	check trouble__all_are_taken all_taken troubles 5 "$taken"
}

# few_comms LAUNCHER'S ARGUMENT... PROGRAM: its ranks, of a user that has limits, may have 13 comms together: two for each of five,
# and for a part of them one more. The launcher is told of a timeout that is not short.
few_comms()
{
	local arguments=("${@:1:$#-1}") program=${*: -1} code

	torcollctl limit set comms 13
	run comms 200 5 "${arguments[@]}" setpriv --inh-caps=-sys_resource --bounding-set=-sys_resource "$program" comms
	code=$?
	torcollctl limit set comms 1024
	return "$code"
}

comms_are_few()
{
	check comms__are_few few_comms "$@"
	check comms__one_call_waits grep -x "comms, 0 wrong" "$work/comms"
	check comms__few_are_told says comms 'gets no comm, .* (torcollctl limit)'
	check comms__that_are_freed_leave_room all_taken comms 5 5
}

# rank_killed PROGRAM: one of the ranks is killed in the midst of steps: the others get an error, at once and all.
rank_killed()
{
	local job start

	# shellcheck disable=SC2016 # expanded by the inner shell
	setsid bash -c '. "$0/../lib.sh"; . "$0/mpi.sh"; "$@"' "$TORCOLL_TOP/selftests/mpi" "$launch" 4 4 \
		"$1" steps 600 >"$work/killed" 2>&1 &
	job=$!
	if wait_for 240 grep -qx steps "$work/killed"; then
		start=$EPOCHSECONDS
		kill -KILL "$(pgrep -f "^$1 steps" | tail -n 1)"
		wait_for 60 others_ended && echo "all have ended after $((EPOCHSECONDS - start)) s"
	fi
	kill -- "-$job"
	wait "$job"
	cat "$work/killed"
	others_ended
}

# Some launchers end a job when a rank is gone, and may be faster than a rank that is about to say so.
others_ended()
{
	(($(grep -c 'rank [0-3]: step \|An error occurred in Socket closed' "$work/killed") == 3)) &&
		grep 'rank [0-3]: step ' "$work/killed" && grep 'ECONNABORTED' "$work/killed"
}

# cable_cut PROGRAM: a cable is cut while steps go on.
cable_cut()
{
	local job

	run cut 240 4 "$1" steps 6 &
	job=$!
	wait_for 200 grep -qx steps "$work/cut" || return
	node 0 ip link set d0p down || return
	kill -0 "$job" || { echo "nothing ran any more when the cable was cut"; return 1; }
	wait "$job"
}
