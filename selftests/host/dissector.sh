#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The Wireshark dissector, over frames as core encodes them: every field of the good ones, the right note
# at each bad one.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit

tmp=$(mktemp -d)
cleanup rm -rf "$tmp"

dissect()
{
	# it warns of root, who may not have the rights of a user
	tshark -X lua_script:tools/wireshark/torcoll.lua -r "$tmp/frames.pcap" "$@" 2>"$tmp/err"
}

# fields NUMBER FIELD...: of that frame, with the occurrences of one joined by commas.
fields()
{
	local number=$1

	shift
	# later versions say True and False
	jq -r --argjson n "$((number - 1))" '
		.[$n] as $frame | [$ARGS.positional[] as $name |
			[$frame | .. | objects | .[$name]? // empty | strings, arrays[]] | join(",")] |
		join(" ") | gsub("True"; "1") | gsub("False"; "0")' "$tmp/all" --args "$@"
}

# has NUMBER NAME VALUES FIELD...
has()
{
	local number=$1 name=$2 values=$3

	shift 3
	is "$name" "$(fields "$number" "${@/#/torcoll.}")" "$values"
}

# noted NUMBER NAME NOTES
noted()
{
	local notes

	notes=$(fields "$1" _ws.expert.message)
	is "$2" "${notes%%: should be*}" "$3"
}

every_field()
{
	local f missing=0

	while read -r f; do
		grep -q "\"$f\":" "$tmp/all" || { echo "$f is in no frame"; missing=1; }
	done < <(sed -nE 's/.*ProtoField\.[a-z0-9]+\("(torcoll\.[a-z_.]+)".*/\1/p' tools/wireshark/torcoll.lua)
	((!missing))
}

loads()
{
	dissect -T json --no-duplicate-keys >"$tmp/all"
	! grep -i lua "$tmp/err"
}

# Whatever comes: no error of the script, and as many frames as there are.
damaged()
{
	build/bin/dissector_frames 5000 >"$tmp/frames.pcap" || return
	dissect -V >"$tmp/all"
	! grep -im3 'lua error' "$tmp/all" "$tmp/err" &&
		[[ $(grep -c -E '^torcoll (collectives|survey)' "$tmp/all") == 5000 ]]
}

another_ethertype()
{
	local n

	# 0x88b5 at byte 12 of the first frame, behind the file's and the record's head
	printf '\x88\xb7' | dd of="$tmp/frames.pcap" bs=1 seek=$((24 + 16 + 12)) conv=notrunc status=none
	n=$(dissect -o torcoll.ethertype:34999 -Y torcoll | wc -l)
	((n == 1))
}

ktap_header
check frames__compile make --no-print-directory build/bin/dissector_frames
build/bin/dissector_frames >"$tmp/frames.pcap" || bail "no frames"
check lua__loads loads

common=(version type hop_limit acks fabric src dst src_epoch dst_epoch)
has 1 hello__header "2 1 1 0 0xfab00001 5 4294967295 0xe0000005 0x00000000" "${common[@]}"
has 1 hello__body "1.2.3 1 1 2 1 4,262152,0,0,0,0 9000 1500 9 0xe0000009 200 77 2" \
	hello.version hello.dim hello.dir hello.ndim hello.hears hello.side hello.frame_size \
	hello.fabric_frame hello.heard_node hello.heard_epoch hello.interval_ms hello.view \
	hello.records
has 1 hello__records "3,12 0xe0000003,0xe000000c 7,1 0x0002,0x000f 9000,0" record.node record.epoch \
	record.seq record.dead record.frame
has 1 hello__more "host5 0x0004a7e5 4000000001 2" hello.name hello.rates hello.sent hello.cables
has 2 data__header "2 2 255 0 0xfab00001 5 9 0xe0000005 0xe0000009" "${common[@]}"
has 2 data__transfer "0xc0ffee00 12 0x00d16e57 3 0x0b 1 1 0 1 0 0 0 300 4294967552 256 4000000000" comm op \
	digest channel flags flags.ack flags.retransmit flags.probe flags.whole flags.reply flags.big_endian flags.unsummed round \
	offset length stamp
has 2 data__checksums "0x063b3844 0xc6c9d677" payload_crc header_crc
has 3 acks__header "2 2 255 2 0xfab00001 5 9 0xe0000005 0xe0000009" "${common[@]}"
has 3 acks__body "0xc0ffee00,0xc0ffee00 12,13 2,1 0,1 3,0 40,0 0x8000000000000001,0x0000000000000000 123456,123457" \
	ack.comm ack.op ack.channel ack.state ack.round ack.base ack.mask ack.stamp
has 4 ack__done "1 2" acks ack.state
has 5 abort__body "71 3 7 12 0x0000aaaa,0x0000bbbb" abort.error abort.rank abort.node abort.op \
	abort.digest
has 5 abort__calls "100,0 2,3 1,0 5,0 11,0 1,0 3,0 17,0" call.count call.rank call.root call.collective \
	call.type call.redop call.bits call.algorithm
has 6 comm__ready "3 0 0x0000000000001111 0x0000000000002222 0x0000000000003333 0x00004444 2 3 4294967295 0x00005555 6 8832 3 0x000000e1,0x000000e2,0x000000e3" \
	join.step join.error join.name join.proof join.members join.nonce join.rank join.ranks \
	join.missing join.tag join.generation join.frame_bytes join.epochs join.epoch
has 6 comm__terms "0x40 2 8834 0x00007777 1 12 1,2,3,4,5,6 host12" terms.flags terms.cause terms.payload \
	terms.refusal terms.rank terms.node terms.rate terms.name
has 7 comm__refuse "6 13" join.step join.error
has 8 forwarded__hop_limit "254" hop_limit
has 9 padded__padding "00:00:00:00:00:00" padding
check every_field__shown every_field
for n in 1 2 3 4 5 6 7 8 9; do
	noted $n "good_${n}__no_note" ""
done

noted 10 note__unchecked "No payload CRC: checksum header"
noted 11 note__version "Unknown version"
noted 12 note__type "Unknown type"
noted 13 note__acks "More acks than a frame may have"
noted 14 note__acks_short "Shorter than its header says"
noted 15 note__header_crc "Header CRC32C wrong"
noted 16 note__header_crc_in_acks "Header CRC32C wrong"
noted 17 note__payload_crc "Payload CRC32C wrong"
noted 18 note__length "Shorter than its header says"
noted 19 note__header_short "Shorter than its header says"
noted 20 note__hop_limit "Hop limit used up"
noted 21 note__data "A data frame without a digest,Unknown flags,A data frame without payload"
noted 22 note__hello_dst "A hello that is not for everyone, or a frame that is"
noted 23 note__hello_value "A value outside its range"
noted 24 note__hello_dead "Shorter than its header says"
noted 25 note__comm_step "A value outside its range"
noted 26 note__reserved "Reserved bytes are not zero"
noted 27 note__abort_short "Shorter than its header says"
ask=(type hop_limit flags survey round length host stamp crc_right)
is survey__ask "$(fields 29 "${ask[@]/#/torcoll_survey.}")" "1 254 1 0x1122334455667788 3 44 0xa1a2a3a4a5a6a7a8 0x0000000000000007 1"
end=(host mac device mtu fabric)
is survey__end "$(fields 29 "${end[@]/#/torcoll_survey.end.}")" "0xa1a2a3a4a5a6a7a8 02:00:00:00:00:05 enp1 9000 4011"
is survey__report "$(fields 30 torcoll_survey.{host.name,host.version,host.part,node.side,node.byte_order,end.device,port.dir,port.tested_ms,rest.nodes,rest.ports})" \
	"host5 1.2.3 1 4,8,0,0,0,0 1 enp1, 1 77 2 40"
is survey__damaged "$(fields 31 torcoll_survey.{crc_right,end.host})" "0 "
is survey__mark "$(fields 32 torcoll_survey.{type,train.train,train.frames})" "6 8 64"
has 28 echo__answer "6 41 0x10 1 13" type op flags flags.reply offset
check echo__damaged grep -q 'answer 41, damaged 12' <(dissect -Y frame.number==28)
noted 28 echo__no_note ""
has 33 packet__header "7 64 0 5 9 0 0xf10f10f1 46" type hop_limit acks src dst op digest length
is packet__inner "$(fields 33 eth.src ip.dst udp.dstport)" "02:00:00:00:00:05,02:74:01:00:00:05 10.7.0.10 49153"
noted 33 packet__no_note ""
has 34 packet_to_all__header "7 255 4294967295 7" type hop_limit dst op
is packet_to_all__inner "$(fields 34 arp.dst.proto_ipv4)" 10.7.0.99
noted 34 packet_to_all__no_note ""
check packet__columns grep -q 'packet 5 -> all, number 7: Who has 10.7.0.99' <(dissect -Y frame.number==34)
noted 35 note__packet_number "A value outside its range"
noted 36 note__packet_short "A value outside its range"
has 37 hello__unsummed "1 0x60 1 1" type flags flags.big_endian flags.unsummed
noted 37 hello__unsummed_no_note ""
is frames__all_seen "$(jq length "$tmp/all")" 37
check ethertype__preference another_ethertype
check damaged__frames_are_no_error damaged
finish
