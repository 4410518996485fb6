#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# processors: 2
#
# Making a comm on 16 nodes costs little more than calls on one: whichever rank is the last, nobody waits for a
# repetition; and what the first comm had to find out about plans the others know.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

torus_up 4x4 "${patient[@]}"
read -r comm first call < <(torcollctl netns run --no-prefix create 32 |
	sed -n 's/^create \([0-9]*\), the first call \([0-9]*\), a call \([0-9]*\)$/\1 \2 \3/p')
[[ -n ${call-} ]] || bail "no times"
diag "a comm takes $comm ns, the first call on it $first ns, another one $call ns"
check create__a_comm_costs_some_calls test "$comm" -lt $((10 * call))
check create__so_does_the_first_call test "$first" -lt $((5 * call))
finish
