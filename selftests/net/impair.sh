#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# Frames are doubled, overtake each other and arrive damaged: results stay right, and a counter says what
# it was.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

nodes=4

# on_every_port COMMAND...: with DEV in its words replaced by the device. A node of a 2x2 torus has two.
on_every_port()
{
	local n dev

	for ((n = 0; n < nodes; n++)); do
		for dev in "d0$( ((n & 1)) && echo m || echo p)" "d1$( ((n & 2)) && echo m || echo p)"; do
			node "$n" "${@//DEV/$dev}" || return 1
		done
	done
}

impair()
{
	on_every_port tc qdisc add dev DEV root netem "$@"
}

repair()
{
	on_every_port tc qdisc del dev DEV root
}

# One frame of a hundred gets a byte of its payload inverted, on its way out. netem's own corruption
# hits only the linear part, which is our header.
flip_payload()
{
	on_every_port tc qdisc add dev DEV clsact &&
		on_every_port tc filter add dev DEV egress matchall \
			action gact ok random netrand pipe 100 action pedit munge offset 300 u8 invert
}

unflip_payload()
{
	on_every_port tc qdisc del dev DEV clsact
}

right()
{
	torcollctl netns run torcoll-perf allreduce -b 8 -e 1M -f 64 -n 5 -w 0 --in-place
}

# Frames that went through what impairs them, by tc; it does not count those that it let pass others.
impaired()
{
	on_every_port tc -s qdisc show dev DEV root | awk '/ Sent / { sum += $4 } END { print sum }'
}

# overtaken NAME: of one in a hundred frames, or more, some surely were.
overtaken()
{
	local frames

	frames=$(impaired)
	diag "$frames frames through netem"
	check "$1" test "$frames" -gt 2000
}

# moved NAME COUNTER BEFORE: the counter's sum over nodes is larger than it was.
moved()
{
	local now

	now=$(counters "$2" $nodes)
	diag "$2: $3 before, $now after"
	check "$1" test "$now" -gt "$3"
}

torus_up 2x2
before=$(counters rx_duplicates $nodes)
check duplication__one_percent impair duplicate 1%
check duplication__right right
moved duplication__counted rx_duplicates "$before"
check duplication__ends repair

check reordering__one_percent impair delay 2ms reorder 1%
check reordering__right right
overtaken reordering__happened
check reordering__ends repair
check reordering__a_quarter impair delay 3ms 2ms 25%
check reordering__a_quarter_right right
overtaken reordering__a_quarter_happened
check reordering__a_quarter_ends repair

before=$(counters drop_header_crc $nodes)
check header_corruption__one_percent impair corrupt 1%
check header_corruption__right right
moved header_corruption__counted drop_header_crc "$before"
check header_corruption__ends repair

before=$(counters drop_payload_crc $nodes)
check payload_corruption__one_percent on_one_cpu flip_payload
check payload_corruption__right right
moved payload_corruption__counted drop_payload_crc "$before"
check payload_corruption__ends on_one_cpu unflip_payload
finish
