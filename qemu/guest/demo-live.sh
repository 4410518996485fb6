# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
#
# How demo.sh shows a training: line by line, with a map where something happens; or on a terminal by a screen that is
# drawn again and again. Sourced, never run, by what sets work (a folder) and steps, and has show_on_all().

# A sentence for the end, and for now.
happened()
{
	local map

	echo "$*" >>"$work/happened"
	[[ -z ${DEMO_LIVE-} ]] || return 0
	map=$(torcollctl netns show | sed '1,/^$/d; s/^./   &/')
	printf '\n  >> %s\n\n%s\n\n' "$*" "$map"
}

# The step that rank 0 has come to, with a bar.
progress_line()
{
	grep '^\[0\] step ' "$work/train" | tail -n 1 | sed 's/^\[0\] //' | awk -v steps="$steps" '
		END {
			for (i = 1; i <= 40; i++)
				bar = bar (i * steps <= $2 * 40 ? "#" : ".")
			printf "  [%s] %s\n", bar, NR ? $0 : "starting"
		}'
}

# The fabric as it is seen from node 0, in $work/picture: a survey of all nodes takes a while where 16 of them compute on two
# emulated processors.
take_pictures()
{
	: >"$work/picture"
	while [[ -e $work/live ]]; do
		torcollctl netns exec 0 torcollctl top once colour interval 1 2>&1 | grep -v 'q quit' | sed 's/^./  &/' \
			>"$work/picture.new"
		mv "$work/picture.new" "$work/picture"
	done
}

# What fits below each other: sentences are broken into lines.
screen()
{
	printf '\n'
	progress_line
	[[ ! -s $work/happened ]] || fold -s -w 92 "$work/happened" | sed 's/^/  /; s/ *$//'
	printf '\n'
	cat "$work/picture"
}

# In place of the screen before, whose height is in $drawn.
draw()
{
	local text

	text=$(screen)
	((drawn == 0)) || printf '\e[%dA\e[J' "$drawn"
	printf '%s\n' "$text"
	drawn=$(wc -l <<<"$text")
}

# train_shown ARGUMENT...: on all nodes, into $work/train and $work/train.err.
train_shown()
{
	local drawn=0 job pictures code

	: >"$work/train.err"
	if [[ -z ${DEMO_LIVE-} ]]; then
		show_on_all "$work/train" train "$@"
		return
	fi
	printf '\n  $ torcollctl netns run train %s\n' "$*"
	touch "$work/live"
	take_pictures &
	pictures=$!
	# what is drawn comes first: 16 programs leave it little of two emulated processors
	nice -n 19 torcollctl netns run train "$@" >"$work/train" 2>"$work/train.err" &
	job=$!
	while kill -0 "$job" 2>/dev/null; do
		draw
		sleep 0.5
	done
	wait "$job"
	code=$?
	rm "$work/live"
	wait "$pictures"
	draw
	return $code
}
