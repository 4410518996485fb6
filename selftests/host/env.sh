#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Variables: what torcollctl shows of them, and that it shows all that the library reads.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit

# env_of ASSIGNMENT... -- FILTER: the JSON of that environment, through jq.
env_of()
{
	local set=()

	while [[ $1 != -- ]]; do
		set+=("$1")
		shift
	done
	env -i "${set[@]}" build/bin/torcollctl -j env | jq -r "$2"
}

read_by_library()
{
	grep -ohE '(getenv|env_number)\("TORCOLL_[A-Z]+"' lib/*.c | grep -o 'TORCOLL_[A-Z]*' | sort -u
}

ktap_header
is variables__all_that_the_library_reads "$(env_of -- '.[].name' | sort)" "$(read_by_library)"
# what a user sets for the build must not reach the library, which would refuse it, or take it
is variables__none_of_the_build "$(grep -ohE '\$\{TORCOLL_[A-Z]+:-' scripts/* | grep -oE 'TORCOLL_[A-Z]+' |
	grep -xf <(read_by_library))" ""
is value__of_the_environment "$(env_of TORCOLL_TIMEOUT=7 -- '.[] | select(.name == "TORCOLL_TIMEOUT") | .value + " " + .origin')" \
	"7 environment"
is value__default "$(env_of -- '.[] | select(.name == "TORCOLL_TIMEOUT") | .value + " " + .origin')" "120 default"
is value__set_to_nothing "$(env_of TORCOLL_COMM= -- '.[] | select(.name == "TORCOLL_COMM") | .value + " " + .origin')" \
	"world default"
is value__of_openmpi "$(env_of OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=0 OMPI_COMM_WORLD_LOCAL_SIZE=1 \
	PMIX_NAMESPACE=77 -- '[.[] | select(.origin == "openmpi") | .value] | join(" ")')" "openmpi-77 2 4 as ranks tell"
is value__of_slurm "$(env_of SLURM_PROCID=2 SLURM_NTASKS=4 SLURM_LOCALID=0 SLURM_TASKS_PER_NODE='1(x4)' SLURM_JOB_ID=7 SLURM_STEP_ID=0 \
	TORCOLL_MEMBERS=3-6 -- '[.[] | select(.origin == "slurm") | .value] | join(" ")')" "slurm-7.0 2"
is value__of_mpich "$(env_of PMI_RANK=2 PMI_SIZE=4 MPI_LOCALRANKID=0 MPI_LOCALNRANKS=1 TORCOLL_COMM=mine -- \
	'[.[] | select(.origin == "mpich") | .value] | join(" ")')" "2 4 as ranks tell"
fails value__launcher_is_wrong 2 'PMI_RANK=x is not what MPICH sets' env PMI_RANK=x PMI_SIZE=4 MPI_LOCALNRANKS=1 build/bin/torcollctl env
is value__as_it_is_in_json "$(env_of 'TORCOLL_COMM=a\b' -- '.[] | select(.name == "TORCOLL_COMM") | .value')" 'a\b'
# a character in too many bytes, one of UTF-16's halves, one beyond the last; and one of each length that is none of these
not_utf8=$'\xc0\x80 \xe0\x9f\xbf \xed\xa0\x80 \xf0\x8f\xbf\xbf \xf4\x90\x80\x80'
for word in $not_utf8; do
	hex=$(printf %s "$word" | od -An -tx1)
	is "value__of_no_text_${hex// }" "$(env_of TORCOLL_COMM="$word" -- '.[] | select(.name == "TORCOLL_COMM") | .value')" "${hex// /\\x}"
done
is value__of_other_alphabets "$(env_of TORCOLL_COMM='zß水🂡' -- '.[] | select(.name == "TORCOLL_COMM") | .value')" 'zß水🂡'
check value__of_no_text eval "TORCOLL_COMM=\$'a\xffb' build/bin/torcollctl -j env | python3 -c 'import json; json.load(open(0, encoding=\"utf-8\"))'"
check value__shown_in_plain_text eval 'TORCOLL_COMM="a\b" build/bin/torcollctl env | grep -F "a\x5cb"'
is value__secret_hidden "$(env_of TORCOLL_SECRET=xyzzy -- '.' | grep -c xyzzy)" 0
is options__behind_the_command "$(build/bin/torcollctl env -p --json)" "$(build/bin/torcollctl -p -j env)"
is options__for_one_line_of_a_batch "$(printf 'env -j\nenv\n' | build/bin/torcollctl -b - | grep -c '^\[')" 1
fails options__not_of_other_programs 1 "no network namespace" build/bin/torcollctl netns exec 0 -j
check table__a_line_for_each test "$(build/bin/torcollctl env | wc -l)" = "$(env_of -- length)"
finish
