# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
#
# How demo.sh shows a training: line by line, with a map where something happens; or on a terminal by a screen that is
# drawn again and again. Sourced, never run, by what sets work (a folder) and steps, and has show_on_all().

# A sentence for the end, and for now.
happened()
{
	echo "$*" >>"$work/happened"
	if [[ -z ${DEMO_LIVE-} ]]; then
		printf '\n  >> %s\n\n' "$*"
		return
	fi
	fold -s -w 92 "$work/happened" | sed 's/^/  /; s/ *$//' >"$work/happened.new"
	mv "$work/happened.new" "$work/happened.lines"
}

# The map after it, where none is drawn anyway.
show_map()
{
	[[ -z ${DEMO_LIVE-} ]] || return 0
	printf '%s\n\n' "$(torcollctl netns show | sed '1,/^$/d; s/^./   &/')"
}

# What is drawn twice a second starts no program, which takes long beside 16 that compute.

# The step that rank 0 has come to, with a bar.
progress_line()
{
	local line last="starting" step=0 bar rest

	while IFS= read -r line; do
		[[ $line != "[0] step "* ]] || last=${line#"[0] "}
	done <"$work/train"
	[[ $last != "step "* ]] || read -r _ step _ <<<"$last"
	printf -v bar '%*s' $((step * 40 / steps)) ""
	printf -v rest '%*s' $((40 - step * 40 / steps)) ""
	printf '  [%s%s] %s\n' "${bar// /#}" "${rest// /.}" "$last"
}

# The fabric as it is seen from node 0, in $work/picture: a survey of all nodes takes a while where 16 of them compute on two
# emulated processors.
take_pictures()
{
	while [[ -e $work/live ]]; do
		torcollctl netns exec 0 torcollctl top once colour interval 1 2>&1 | grep -v 'q quit' | sed 's/^./  &/' \
			>"$work/picture.new"
		mv "$work/picture.new" "$work/picture"
	done
}

# In place of the screen before, which had $drawn lines.
draw()
{
	local file line text

	printf -v text '\n%s\n' "$(progress_line)"
	for file in happened.lines picture; do
		[[ $file == happened.lines ]] || text+=$'\n'
		while IFS= read -r line; do
			text+=$line$'\n'
		done <"$work/$file"
	done
	((drawn == 0)) || printf '\e[%dA\e[J' "$drawn"
	printf '%s' "$text"
	text=${text//[!$'\n']/}
	drawn=${#text}
}

# train_shown ARGUMENT...: on all nodes, into $work/train and $work/train.err.
train_shown()
{
	local drawn=0 job pictures code never

	: >"$work/train.err"
	if [[ -z ${DEMO_LIVE-} ]]; then
		show_on_all "$work/train" train "$@"
		return
	fi
	printf '\n  $ torcollctl netns run train %s\n' "$*"
	touch "$work/live" "$work/train" "$work/happened.lines" "$work/picture"
	exec {never}<> <(:)
	take_pictures &
	pictures=$!
	# what is drawn comes first: 16 programs leave it little of two emulated processors
	nice -n 19 torcollctl netns run train "$@" >"$work/train" 2>"$work/train.err" &
	job=$!
	while kill -0 "$job" 2>/dev/null; do
		draw
		read -rt 0.5 -u "$never"
	done
	exec {never}>&-
	wait "$job"
	code=$?
	rm "$work/live"
	wait "$pictures"
	draw
	return $code
}
