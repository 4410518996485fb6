#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# torcollctl discover: shapes and faults of surveys from files, the file that it writes, its exit status.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit

work=$(mktemp -d)
cleanup rm -rf "$work"
ctl=build/bin/torcollctl

# survey NAME: from lines HOST DEVICE HOST DEVICE, or HOST DEVICE - silent|dark; hosts are hexadecimal digits.
survey()
{
	jq -Rn 'def id: "000000000000000" + .;
		def mac(h; d): "02:00:00:00:0\(h):0\(d[1:])";
		[inputs | split(" ") | {h: .[0], d: .[1], oh: .[2], od: .[3]},
		 (select(.[2] != "-") | {h: .[2], d: .[3], oh: .[0], od: .[1]})] | group_by(.h) |
		{self: (.[0][0].h | id), hosts: map(.[0].h as $h | {id: ($h | id), name: $h, version: "0.1.0", nodes: [],
		 ports: map({device: .d, mac: mac($h; .d), mtu: 9000, speed: 10000, up: true,
			carrier: (.od != "dark"), many: false} + if .oh == "-" then {} else
			{peer: {host: (.oh | id), device: .od, mac: mac(.oh; .od), mtu: 9000, fabric: 0}} end)})}' \
		>"$work/$1"
}

discover()
{
	$ctl discover from "$work/$1" "${@:2}"
}

# prints NAME WORD...: what the golden text on stdin says.
prints()
{
	discover "$@" >"$work/text"
	diff - "$work/text"
}

# json NAME CODE FILTER: the exit status, and what the JSON passes.
json()
{
	local code

	$ctl -j discover from "$work/$1" >"$work/json"
	code=$?
	if ((code != $2)) || ! jq -e "$3" "$work/json" >/dev/null; then
		cat "$work/json"
		return 1
	fi
}

# says NAME LINE WORD...: among other lines; an exit status other than 0 is as good.
says()
{
	discover "$1" "${@:3}" >"$work/text"
	grep -xF -- "$2" "$work/text" || { cat "$work/text"; return 1; }
}

no_escape()
{
	local out

	out=$(discover escape)
	[[ -n $out && $out != *$'\033'* ]]
}

ktap_header

survey ring <<'END'
a e1 b e0
b e1 c e1
c e0 d e1
d e0 a e0
END
check ring__text prints ring <<'END'
4 hosts form a ring of 4: all 4 cables fit.
They form as well a 2x2 torus: "dims 2x2" chooses that.

NODE  AT  HOST  PORT  DEVICE  MAC                 MTU  MBIT/S  LEADS TO
   0   0  a     0+    e1      02:00:00:00:0a:01  9000   10000  b:e0
                0-    e0      02:00:00:00:0a:00  9000   10000  d:e0
   1   1  b     0+    e1      02:00:00:00:0b:01  9000   10000  c:e1
                0-    e0      02:00:00:00:0b:00  9000   10000  a:e1
   2   2  c     0+    e0      02:00:00:00:0c:00  9000   10000  d:e1
                0-    e1      02:00:00:00:0c:01  9000   10000  b:e1
   3   3  d     0+    e0      02:00:00:00:0d:00  9000   10000  a:e0
                0-    e1      02:00:00:00:0d:01  9000   10000  c:e0

  --- 0 --- 1 --- 2 --- 3 ---

Next: torcollctl discover write /etc/torcoll/1.conf
      copy this file to all hosts; on each: torcollctl apply FILE
END
check ring__exit_status discover ring
check ring__json json ring 0 '.ok and .shape == {kind: "ring", sides: [4], cables: 1, nodes: 4, fits: 4, open: [false],
	also: [[2, 2]], also_dims: ["2x2"]} and .problems == [] and .notes == [] and (.hosts[0] | .name == "a" and .node == 0 and
	.ports[1] == {device: "e1", mac: "02:00:00:00:0a:01", mtu: 9000, speed: 10000, use: "cable", dim: 0, dir: "plus",
	other: {host: "b", device: "e0"}})'
check ring__file discover ring key 7 write "$work"
check ring__file_is diff - "$work/7.conf" <<'END'
# found by torcollctl discover; the same on all hosts: see torcoll.conf(5)
[fabric]
key = 7
dims = 4
mtu = 9000

[node a]
index = 0
port 0+ = e1
port 0- = e0

[node b]
index = 1
port 0+ = e1
port 0- = e0

[node c]
index = 2
port 0+ = e0
port 0- = e1

[node d]
index = 3
port 0+ = e0
port 0- = e1
END
check dims__another_shape discover ring dims 2x2 write "$work/square"
check dims__another_file grep -qx 'dims = 2x2' "$work/square"
fails dims__too_few 1 "that has 3 nodes, but 4 hosts answered" $ctl discover from "$work/ring" dims 3
fails dims__too_many 1 "that has 16 nodes, but only 4 hosts answered" $ctl discover from "$work/ring" dims 4x4
fails dims__no_line 1 'is not 1 to 6 numbers' $ctl discover from "$work/ring" dims 4:star
fails write__nowhere 1 'No such file' $ctl discover from "$work/ring" write "$work/none/file"
fails words__unknown 1 '"rings" is not expected here' $ctl discover rings
fails from__no_file 1 'none' $ctl discover from "$work/none"

survey line <<'END'
a e1 b e0
b e1 c e1
c e0 d e1
d e0 - dark
a e0 - dark
END
fails line__text 3 '^4 hosts form a line: "dims 4:line" takes it as that.$' discover line
fails line__what_is_missing 3 "connect d:e0 \(no carrier\) and a:e0 \(no carrier\)" discover line
check line__json json line 3 '(.ok | not) and .shape.kind == "line" and .shape.open == [true] and
	.problems == [{kind: "missing", where: ["d:e0", "a:e0"], sentence: "no cable between d and a",
	advice: "connect d:e0 (no carrier) and a:e0 (no carrier)"}]'
fails line__is_written_as_a_ring 3 "Written: .*, as it will fit when that is put right" discover line write "$work/1.conf"
check line__file diff <(sed 's/= 7/= 1/' "$work/7.conf") "$work/1.conf"

check line__as_a_line discover line dims 4:line write "$work/line"
check line__as_a_line_file grep -qx 'dims = 4:line' "$work/line"
is line__as_a_line_ports "$(grep -c '^port' "$work/line")" 6

survey mesh <<'END'
a e0 b e0
a e1 c e0
a e2 d e0
b e1 c e1
b e2 d e1
c e2 d e2
END
check mesh__text says mesh "4 hosts form a full mesh of 4: all 6 cables fit."
check mesh__notes json mesh 0 '.ok and .shape.kind == "mesh" and .shape.kinds == ["mesh"] and .notes == []'

check mesh__written discover mesh write "$work/mesh"
is mesh__file "$(grep -E '^(dims|port)' "$work/mesh" | sed -n 1,4p | tr '\n' ' ')" \
	"dims = 4:mesh port 0+1 = e0 port 0+2 = e1 port 0+3 = e2 "

survey chords <<'END'
a e0 b e1
b e0 c e1
c e0 d e1
d e0 e e1
e e0 f e1
f e0 a e1
a e2 c e3
b e2 d e3
c e2 e e3
d e2 f e3
e e2 a e3
f e2 b e3
END
check chords__text says chords "6 hosts form a ring with chords, 6+2: all 12 cables fit."
check chords__json json chords 0 '.ok and .shape.kind == "chords" and .shape.sides == [6, 2] and .shape.kinds == ["ring", "chord"]'
# each host but the opposite one is next to each: the ring goes by other cables than it was drawn with
check chords__written discover chords write "$work/chords.conf"
is chords__file "$(grep -E '^(dims|port)' "$work/chords.conf" | sed -n 1,5p | tr '\n' ' ')" \
	"dims = 6+2 port 0+ = e0 port 0- = e2 port 1+ = e1 port 1- = e3 "
check chords__as_told discover chords dims 6+2
fails chords__no_such_step 1 'chords are up to 3 steps' $ctl discover from "$work/chords" dims 6+3

# nearly a 4x4 torus, and nearly 16+3: two cables are crossed, one is missing, a host does not answer
survey nearly <<'END'
1 d1 2 d2
1 d3 5 d4
2 d1 3 d2
2 d3 6 d4
3 d1 a d2
3 d3 7 d4
4 d1 1 d2
4 d3 8 d4
5 d1 6 d2
5 d3 9 d4
6 d3 a d4
7 d1 8 d2
7 d3 b d4
8 d1 5 d2
8 d3 c d4
9 d1 4 d2
9 d3 d d4
a d1 b d2
a d3 e d4
b d1 c d2
b d3 f d4
c d1 9 d2
c d3 - silent
d d1 e d2
d d3 1 d4
e d1 f d2
e d3 2 d4
f d1 - silent
f d3 3 d4
d d2 - silent
4 d4 - silent
6 d1 - dark
7 d2 - dark
END
check nearly__a_torus says nearly "15 of 16 hosts form a 4x4 torus, but for 3 problems:"

# two cables in each direction but one, whose only cable is at the wrong host: the second cable of another stays
survey bundles <<'END'
a e0 b e0
a e1 b e1
b e2 c e0
b e3 c e1
c e2 d e0
c e3 d e1
d e2 e e0
d e3 e e1
e e2 c e4
a e2 - dark
END
check bundles__second_cables_stay says bundles "            -> move the plug from c:e4 to a:e2" dims 5

survey star <<'END'
a e0 b e0
a e1 c e0
a e2 d e0
a e3 e e0
a e4 f e0
END
fails star__is_nothing 3 '^6 hosts form no ring, torus or full mesh. "dims AxB" says what is missing to be that one.$' discover star
fails star__no_file 3 'not written: the hosts form no ring, torus or full mesh' discover star write "$work/star.conf"
check star__json json star 3 '(.ok | not) and .shape == {kind: "none"} and (.hosts | length) == 6'

survey absent <<'END'
a e1 b e0
b e1 c e1
c e0 - silent
a e0 - silent
END
fails absent__text 3 "^3 of 4 hosts form a ring of 4, but for 1 problem:$" discover absent
fails absent__where 3 "the host at the other end of .*(c:e0 and a:e0|a:e0 and c:e0) does not answer" discover absent
fails absent__no_file 3 "not written: it needs the names of all hosts" discover absent write "$work/absent.conf"
check absent__no_file_at_all test ! -e "$work/absent.conf"

survey alone <<'END'
a e0 - dark
END
fails alone__is_nothing 3 '^1 host forms no ring, torus or full mesh' discover alone

# two hosts of an office
survey two <<'END'
a e0 b e1
a e2 - silent
b e2 - silent
END
check outside__is_no_host_without_the_module json two 0 '.ok and .shape.kind == "ring" and .shape.sides == [2] and
	.notes == [{kind: "outside", where: [], sentence: "no host answers at e2 of most hosts: taken for another network"}]'

# names are text from elsewhere
jq '.hosts[0].name = "a\u001b[31m]"' "$work/ring" >"$work/escape"
fails escape__is_named 3 'cannot be written into a file' discover escape
check escape__not_printed no_escape
# and so are names of devices
jq '.hosts[0].ports[0].device = "#0" | .hosts[1].ports[0].peer.device = "#0" |
	.hosts[0].ports[1].device = "e 1" | .hosts[3].ports[1].peer.device = "e 1" |
	.hosts[1].ports[0].device = "e\u00e40" | .hosts[0].ports[0].peer.device = "e\u00e40"' "$work/ring" >"$work/devices"
check devices__are_written discover devices write "$work/devices.conf"
is devices__by_address "$(grep '^port' "$work/devices.conf" | head -n 4 | tr '\n' ' ')" \
	"port 0+ = mac:02:00:00:00:0a:01 port 0- = mac:02:00:00:00:0a:00 port 0+ = e1 port 0- = mac:02:00:00:00:0b:00 "
# it is read, and has no addresses that could be printed
fails devices__file_is_good 1 'neither ip nor ip6' $ctl hosts "$work/devices.conf"
jq '.hosts[2].name = "A"' "$work/ring" >"$work/case"
fails case__is_named 3 '2 hosts are called "[aA]", but for upper and lower case' discover case write "$work/case.conf"
fails escape__no_file 3 'not written' discover escape write "$work/escape.conf"
finish
