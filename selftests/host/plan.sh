#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 900
#
# torcoll-plan: dumps, the checker against dumps with a planted mistake, cost, exit codes.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit

plan=build/bin/torcoll-plan
tmp=$(mktemp -d)
last=\$ # line, to sed
cleanup rm -rf "$tmp"

# exits CODE COMMAND...
exits()
{
	local want=$1 code

	shift
	"$@" >"$tmp/out" 2>"$tmp/err"
	code=$?
	[[ $code == "$want" ]] || { echo "exit code $code, not $want: $*"; cat "$tmp/err"; false; }
}

# A refusal says why, in one line.
refuses()
{
	exits 3 "$@" && [[ $(wc -l <"$tmp/err") == 1 && ! -s $tmp/out ]]
}

allreduce=(--dims 4x4 --collective allreduce --algorithm swing-bw --count 768)

# planted NAME [COLLECTIVE] SED-SCRIPT: a dump that sed has changed is found wrong.
planted()
{
	local name=planted__$1 coll=allreduce

	(($# == 2)) || coll=$2
	"$plan" "${allreduce[@]}" --collective "$coll" >"$tmp/good"
	sed -E "${@: -1}" "$tmp/good" >"$tmp/bad"
	if cmp -s "$tmp/good" "$tmp/bad"; then
		not_ok "$name"
		diag <<<"nothing was changed"
		return
	fi
	check "$name" exits 1 "$plan" --check - <"$tmp/bad"
}

ktap_header

# Every algorithm and collective on a few shapes: right, or refused. One for each way in which a plan is made: alone, a single
# cable, odd, even, powers of two or not, equal lengths or not, full meshes, lines, both, chords.
shapes=(1 2 7 4x4 6x4x3 3:meshx3:mesh 3:line 4:meshx3:line 16+4)
while read -r alg colls; do
	for coll in $colls; do
		for dims in "${shapes[@]}"; do
			"$plan" --dims "$dims" -c "$coll" -a "$alg" -n 1000 >"$tmp/dump" 2>/dev/null ||
				[[ $? == 3 ]] || continue
			[[ -s $tmp/dump ]] || continue
			check "check__${alg}_${coll}_$dims" exits 0 "$plan" --check - <"$tmp/dump"
		done
	done
done < <("$plan" --list)

# The first piece is of round 0, 0 < 1; the last one a copy of the last round.
planted missing_piece '2d'
planted missing_last_piece "${last}d"
planted piece_twice '2p'
planted copy_for_reduce '2s/"reduce"/"copy"/'
planted reduce_for_copy "$last"'s/"copy"/"reduce"/'
planted wrong_source '2s/"src":1,/"src":2,/'
planted wrong_destination '2s/"dst":0,/"dst":5,/'
planted wrong_source_offset '2s/"soff":0,/"soff":1,/'
planted wrong_place '2s/"doff":0,/"doff":96,/'
planted too_short '2s/"n":96,/"n":95,/'
planted too_long '2s/"n":96,/"n":193,/'
planted outside '2s/"n":96,/"n":769,/'
planted outside_by_overflow '2s/"soff":0,/"soff":9223372036854775807,/'
planted empty_piece '2s/"n":96,/"n":0,/'
planted other_channel '2s/"ch":0,/"ch":1,/'
planted no_such_channel '2s/"ch":0,/"ch":4,/'
planted no_such_rank '2s/"src":1,/"src":16,/'
planted too_late '2s/"t":0,/"t":1,/'
planted too_early "$last"'s/"t":[0-9]+,/"t":0,/'
planted unknown_op '2s/"reduce"/"add"/'
planted empty_buffer '2s/"sbuf":"data"/"sbuf":"tmp1"/'
planted lost_in_buffer '2s/"dbuf":"data"/"dbuf":"tmp1"/'
planted two_copies "${last}p"
planted own_channel_reads '2s/"soff":0,/"soff":192,/'
planted negative '2s/"n":96,/"n":-96,/'
planted no_number '2s/"n":96,/"n":"96",/'
planted no_offset '2s/"soff":0,//'
planted no_json '2s/^.//'
planted other_format '1s/plan.1/plan\/2/'
planted other_dims '1s/\[4,4\]/[4,5]/'
planted more_elements '1s/768/769/'
planted more_channels '1s/"channels":4/"channels":3/'
planted no_header '1d'
planted other_collective reduce-scatter '1s/reduce-scatter/allreduce/'
planted gather_for_reduce allgather '1s/allgather/allreduce/'
planted block_missing allgather '2d'
planted own_block_missing reduce-scatter "${last}d"
planted block_of_another allgather '1s/"params":\{\}/"params":{},"counts":[47,49,48,48,48,48,48,48,48,48,48,48,48,48,48,48]/'
planted counts_too_few allgather '1s/"params":\{\}/"params":{},"counts":[768]/'

# What a dump may do, though ours do not.
wide='{"format":"torcoll-plan/1","dims":[2],"nodes":2,"collective":"allreduce","algorithm":"x","root":0,'
wide+='"count":4000000000000,"channels":1,"params":{}}'
piece='"n":4000000000000,"op"'
swap="{\"t\":0,\"ch\":0,\"src\":0,\"dst\":1,\"sbuf\":\"data\",\"soff\":0,\"dbuf\":\"t\",\"doff\":0,$piece:\"copy\"}
{\"t\":0,\"ch\":0,\"src\":1,\"dst\":0,\"sbuf\":\"data\",\"soff\":0,\"dbuf\":\"t\",\"doff\":0,$piece:\"copy\"}
{\"t\":1,\"ch\":0,\"src\":0,\"dst\":0,\"sbuf\":\"t\",\"soff\":0,\"dbuf\":\"data\",\"doff\":0,$piece:\"reduce\"}
{\"t\":1,\"ch\":0,\"src\":1,\"dst\":1,\"sbuf\":\"t\",\"soff\":0,\"dbuf\":\"data\",\"doff\":0,$piece:\"reduce\"}"
printf '%s\n%s\n' "$wide" "$swap" >"$tmp/dump"
check foreign__checked exits 0 "$plan" --check - <"$tmp/dump"
check foreign__local_step_is_no_round grep -q '"rounds":1,"hops":1' <("$plan" --cost -j - <"$tmp/dump")
tac <<<"$swap" | cat <(echo "$wide") - >"$tmp/dump"
check foreign__any_order_of_lines exits 0 "$plan" --check - <"$tmp/dump"

# Neighbours of a halo are those in the block that the nodes fill, from any corner and in any direction; of others, in a ring.
for nodes in 0,1,4,5 5,6,7,9,10,11 3,0,1,7,4,5 10,6,2,9,5,1 0,4,8,12,1,5,9,13 0,5,10 6 2,3; do
	check "check__halo_$nodes" exits 0 "$plan" --dims 4x4 --nodes "$nodes" -c halo -a direct -n 16 --check
done

check check__as_many_buffers_as_ranks exits 0 "$plan" --dims 700 -a direct -c reduce-scatter -n 700 --check

"$plan" "${allreduce[@]}" >"$tmp/dump"
check cost__same_from_dump diff <("$plan" --cost -j "${allreduce[@]}") \
	<("$plan" --cost -j - <"$tmp/dump")
check cost__json_alone diff <("$plan" --cost -j "${allreduce[@]}") <("$plan" -j "${allreduce[@]}")
check cost__swing_8x8 grep -q '^factor  *1.078' <("$plan" --dims 8x8 -a swing-bw --cost)
# a HyperX: all messages of a latency form go one hop
check cost__hyperx_4x4 grep -q '"rounds":4,"hops":4,' <("$plan" --dims 4:meshx4:mesh -a recdoub-lat --cost -j)
check cost__one_cable grep -q '"factor":1,' <("$plan" --dims 2 --cables 1 -a bibucket --cost -j)

"$plan" --dims 4x4 -a bibucket --draw >"$tmp/svg"
check draw__is_xml python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' "$tmp/svg"
# Two rounds of each dimension and half have the same arrows, 64 of them; their ends at opposite edges have no head.
check draw__equal_rounds_share_a_picture test "$(grep -o '>rounds [0-9] to [0-9]' "$tmp/svg" | paste -sd' ')" = \
	'>rounds 0 to 1 >rounds 2 to 3 >rounds 4 to 5 >rounds 6 to 7'
check draw__an_arrow_per_message test "$(grep '<title>channel' "$tmp/svg" | grep -vc ' o">')" = 256
check draw__solid_and_dashed test "$(grep '<title>channel' "$tmp/svg" | grep -v ' o">' | grep -c 'class="c[0-9]* s"')" = 128
check draw__has_a_legend grep -q '>stored by the receiver<' "$tmp/svg"
# In round 0 of a ring of 4 each rank sends the block that ends up at the rank before it: its colour is that of that node.
"$plan" --dims 4 -a ring -c reduce-scatter -p channels=1 --draw >"$tmp/svg"
check draw__the_colour_of_the_block diff <(echo 18 0 6 12) \
	<(grep -o 'class="c[0-9]*"><title>channel 0: [0-9] to' "$tmp/svg" | sed -E 's/class="c([0-9]*)".*: ([0-9]) to/\2 \1/' |
		sort | uniq | cut -d' ' -f2 | paste -sd' ')
"$plan" --dims 5x3x2 -a bucket --draw >"$tmp/svg"
check draw__three_dimensions python3 -c 'import sys, xml.dom.minidom as m
n = [c for c in m.parse(sys.argv[1]).getElementsByTagName("circle")]
assert len({(c.getAttribute("cx"), c.getAttribute("cy")) for c in n}) == 30' "$tmp/svg"
"$plan" --dims 16x16 -a bibucket --animate >"$tmp/svg"
check animate__is_xml python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' "$tmp/svg"
check animate__a_group_per_round test "$(grep -c '<g class="r' "$tmp/svg")" = 32
check animate__an_arrow_per_message test "$(grep -o '<use ' "$tmp/svg" | wc -l)" = $((32 * 256 * 4))
check animate__below_a_megabyte test "$(stat -c %s "$tmp/svg")" -lt 1000000
# Whatever auto chooses: small vectors in few rounds, large ones with few bytes; and it is what the module would execute.
chosen()
{
	"$plan" --dims 8x8 -a auto -n "$1" --cost -j | jq -e "$2" >/dev/null && "$plan" --dims 8x8 -a auto -n "$1" --check
}
check auto__small chosen 64 '.rounds <= 12'
check auto__large chosen 100000000 '.factor < 1.2'
check auto__without_tables exits 0 "$plan" --dims 3x3 -a auto -c alltoall --check
check auto__refused refuses "$plan" --dims 3x3 -a auto -c alltoall -n 10

check exit__list exits 0 "$plan" --list
while read -r alg _; do
	check "list__about_$alg" grep -q '^rounds  *[0-9a-zA-Z]' <("$plan" --list -a "$alg")
done < <("$plan" --list)
check list__on_a_torus grep -qE '^swing-bw +allreduce +8 +4 +0 +agree$' <("$plan" --list --dims 4x4)
check list__a_reason grep -qE '^bruck-lat +allreduce +bruck-lat requires' <("$plan" --list --dims 4x4)
check list__sequential grep -qE '^flood +allreduce +4 +1 +16 +sequential$' <("$plan" --list --dims 4x4)
check exit__version exits 0 "$plan" -V
check exit__usage exits 2 "$plan" --no-such-option
check exit__no_dims exits 2 "$plan" -a swing-bw
check exit__bad_dims exits 2 "$plan" --dims 4x0 -a swing-bw
check exit__no_algorithm exits 2 "$plan" --dims 4
check exit__unknown_algorithm exits 2 "$plan" --dims 4 -a swingbw
check exit__unknown_param exits 2 "$plan" --dims 4 -a swing-bw --param colour=1
check exit__empty_dump exits 1 "$plan" --check - </dev/null
check refused__root refuses "$plan" --dims 4 -a bibucket --root 4
check refused__reserved refuses "$plan" --dims 4 -a bine
check refused__collective refuses "$plan" --dims 4 -a bibucket -c broadcast
check refused__counts refuses "$plan" --dims 4 -a bibucket -c allgather --counts 1,2,3,4 -n 9
check refused__channels refuses "$plan" --dims 4 -a bibucket -p channels=2
check refused__no_torus refuses "$plan" --dims 4x4 --nodes 0,5,10 -a bibucket
finish
