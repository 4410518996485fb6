#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Completion of torcollctl's command lines in bash, and in zsh.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit
PATH=$PWD/build/bin:$PATH

# shellcheck source=tools/bash-completion/torcollctl
. tools/bash-completion/torcollctl
# shellcheck source=tools/bash-completion/torcollrun
. tools/bash-completion/torcollrun

# Only works while bash completes.
compopt()
{
	options+=("$*")
}

# completes NAME LINE WORDS: what is offered at the end of the line, sorted.
completes()
{
	local name=$1 line=$2 words=$3 previous

	options=()
	read -ra COMP_WORDS <<<"$line"
	[[ $line != *" " ]] || COMP_WORDS+=("")
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	previous=${COMP_WORDS[COMP_CWORD - 1]}
	_torcollctl torcollctl "${COMP_WORDS[COMP_CWORD]}" "$previous"
	is "$name" "$(printf '%s\n' "${COMPREPLY[@]}" | sort -u | paste -sd' ')" "$words"
}

# zsh_completes NAME LINE WORDS: the same in zsh, which leaves it to compadd what of it fits.
zsh_completes()
{
	local name=$1 line=$2 words=$3

	is "zsh_$name" "$(zsh -f -c '
		compadd() { shift; printf "%s\n" ${(M)@:#${words[CURRENT]}*} | grep . }
		_files() { print -r -- FILES }
		_command_names() { print -r -- COMMANDS }
		words=(${=1}) CURRENT=$#words
		[[ $1 != *" " ]] || words+=("") CURRENT=$#words
		source tools/zsh-completion/_torcollctl' zsh "$line" 2>&1 | sort -u | paste -sd' ')" "$words"
}

has_option()
{
	completes options__all "torcollctl --" "--all --batch --force --help --json --pretty --version"
}

# run_completes NAME LINE WORDS: the same of torcollrun.
run_completes()
{
	local name=$1 line=$2 words=$3

	options=()
	read -ra COMP_WORDS <<<"$line"
	[[ $line != *" " ]] || COMP_WORDS+=("")
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	_torcollrun torcollrun "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
	is "$name" "$(printf '%s\n' "${COMPREPLY[@]}" | sort -u | paste -sd' ')" "$words"
}

# A device whose name looks like a command, the only one of a namespace: what is offered behind "dev".
hostile_device()
{
	# shellcheck disable=SC2016
	unshare -rnm bash -c '
		mount -t sysfs none /sys && ip link set lo name "\$(executed)" || exit
		. tools/bash-completion/torcollctl
		COMP_WORDS=(torcollctl port del dev "") COMP_CWORD=4
		_torcollctl torcollctl "" dev
		echo "offered: ${COMPREPLY[*]}"' 2>&1
	[[ ! -e $work/was_executed ]] || echo executed
}

work=$(mktemp -d)
ktap_header
cleanup rm -rf "$work"
# a command that tells when it is executed, for names that look like it
printf '#!/bin/sh\n: >"%s/was_executed"\n' "$work" >"$work/executed"
chmod +x "$work/executed"
PATH=$PATH:$work
completes objects__by_letter "torcollctl fa" "fabric"
completes objects__behind_options "torcollctl -j po" "port"
has_option
completes batch__file "torcollctl -b " ""
is batch__by_readline "${options[*]}" "-o default"
completes commands__of_fabric "torcollctl fabric " "add check del help show"
completes check__words "torcollctl fabric check " "from"
completes ip__behind_key "torcollctl fabric 1 " "ip"
completes ip__commands "torcollctl fabric 1 ip " "off on show"
completes ip__words "torcollctl fabric 1 ip on " "name prefix prefix6"
completes ip__once "torcollctl fabric 1 ip on prefix 10.7.0.0/24 " "name prefix6"
completes ip__value "torcollctl fabric 1 ip on name " ""
completes hosts__words "torcollctl hosts lab.conf " "remove write"
completes hosts__file "torcollctl hosts lab.conf write " ""
is hosts__file_by_readline "${options[*]}" "-o default"
completes commands__by_letter "torcollctl netns r" "run"
completes monitor__objects "torcollctl monitor fabric " "comm help port"
completes top__words "torcollctl top once " "colour from help interval"
completes keywords__behind_key "torcollctl port add 1 d" "dev dim dir"
completes keywords__once "torcollctl port add 1 dim 0 d" "dev dir"
completes values__of_dir "torcollctl port add 1 dim 0 dir " "minus plus"
completes values__of_cables "torcollctl fabric add 1 dims 2x2 node 0 cables " "1 2"
completes values__of_checksum "torcollctl fabric add 1 dims 2x2 node 0 checksum f" "full"
completes values__are_free "torcollctl fabric add 1 dims " ""
completes values__devices "torcollctl port del dev l" "lo"
if unshare -rnm mount -t sysfs none /sys 2>/dev/null; then
	is values__device_is_not_executed "$(hostile_device)" "offered: "
else
	skip values__device_is_not_executed "no namespaces"
fi
completes words__of_netns_up "torcollctl netns up 4x4 --" "--no-fabric"
completes commands__to_run "torcollctl netns exec 3 torcoll-per" "torcoll-perf"
completes explain__collectives "torcollctl explain re" "reduce reduce-scatter"
completes explain__bits "torcollctl explain allreduce 16K b" "bits"
completes explain__levels "torcollctl explain allreduce 16K bits r" "relaxed"
completes limit__commands "torcollctl limit " "help set show"
completes limit__limits "torcollctl limit set k" "kernel"
completes log__commands "torcollctl log " "help show"
completes stats__prometheus "torcollctl stats --" "--prometheus"
completes tune__commands "torcollctl tune " "default help load run save set show"
completes tune__rates "torcollctl tune set 1 m" "message"
completes survey__words "torcollctl survey show " "from test"
completes apply__begins "torcollctl apply " "--device help"
is apply__file_by_readline "${options[*]}" "-o default"
completes apply__words "torcollctl apply lab.conf " "--dry-run as force remove"
completes apply__once "torcollctl apply lab.conf force " "--dry-run as remove"
completes apply__device "torcollctl apply --device l" "lo"
completes qualify__words "torcollctl qualify " "all dev help seconds window"
completes qualify__all "torcollctl qualify all " "from"
completes discover__words "torcollctl discover " "dims from help key show write"
completes discover__further_words "torcollctl discover dims 4x4 " "from key write"
completes advise__further_words "torcollctl advise 16 4 " "dims list"
completes discover__value "torcollctl discover dims " ""
completes discover__file "torcollctl discover write " ""
is discover__file_by_readline "${options[*]}" "-o default"
completes nothing__of_unknown "torcollctl nonsense " "help"
run_completes run__options "torcollrun --ho" "--host --hostfile"
run_completes run__program "torcollrun -n 2 torcoll-per" "torcoll-perf"
run_completes run__program_behind_equals "torcollrun --ppn = 2 torcoll-per" "torcoll-perf"
run_completes run__arguments_are_files "torcollrun -v torcoll-perf --h" ""
is run__arguments_by_readline "${options[*]}" "-o default"
export TORCOLL_FRUIT=1
run_completes run__variables "torcollrun -x TORCOLL_FRU" "TORCOLL_FRUIT"
# shellcheck disable=SC2016 # a name
printf '%s\n' '10.0.0.1 $(executed) host-b' '10.0.0.2 host-c' >"$work/hosts"
HOSTFILE=$work/hosts run_completes run__hosts "torcollrun -H host" "host-b host-c"
check run__hosts_are_not_executed test ! -e "$work/was_executed"
run_completes run__numbers_are_free "torcollrun --ppn " ""
check zsh_run__syntax zsh -n tools/zsh-completion/_torcollrun
zsh_completes objects__by_letter "torcollctl fa" "fabric"
zsh_completes objects__behind_options "torcollctl -j po" "port"
zsh_completes options__all "torcollctl --" "--all --batch --force --help --json --pretty --version"
zsh_completes batch__file "torcollctl -b " "FILES"
zsh_completes commands__of_fabric "torcollctl fabric " "add check del help show"
zsh_completes ip__behind_key "torcollctl fabric 1 " "ip"
zsh_completes ip__commands "torcollctl fabric 1 ip " "off on show"
zsh_completes ip__words "torcollctl fabric 1 ip on " "name prefix prefix6"
zsh_completes hosts__words "torcollctl hosts lab.conf " "remove write"
zsh_completes hosts__file "torcollctl hosts lab.conf write " "FILES"
zsh_completes monitor__objects "torcollctl monitor fabric " "comm help port"
zsh_completes top__words "torcollctl top once " "colour from help interval"
zsh_completes keywords__once "torcollctl port add 1 dim 0 d" "dev dir"
zsh_completes values__of_dir "torcollctl port add 1 dim 0 dir " "minus plus"
zsh_completes values__of_cables "torcollctl fabric add 1 dims 2x2 node 0 cables " "1 2"
zsh_completes values__are_free "torcollctl fabric add 1 dims " ""
zsh_completes values__devices "torcollctl port del dev l" "lo"
zsh_completes commands__to_run "torcollctl netns exec 3 torcoll-per" "COMMANDS"
zsh_completes explain__collectives "torcollctl explain re" "reduce reduce-scatter"
zsh_completes explain__levels "torcollctl explain allreduce 16K bits r" "relaxed"
zsh_completes stats__prometheus "torcollctl stats --" "--prometheus"
zsh_completes limit__limits "torcollctl limit set k" "kernel"
zsh_completes survey__words "torcollctl survey show " "from test"
zsh_completes apply__begins "torcollctl apply " "--device FILES help"
zsh_completes apply__words "torcollctl apply lab.conf " "--dry-run as force remove"
zsh_completes apply__device "torcollctl apply --device l" "lo"
zsh_completes qualify__words "torcollctl qualify " "all dev help seconds window"
zsh_completes qualify__all "torcollctl qualify all " "from"
zsh_completes discover__further_words "torcollctl discover dims 4x4 " "from key write"
zsh_completes discover__file "torcollctl discover write " "FILES"
zsh_completes nothing__of_unknown "torcollctl nonsense " "help"
finish
