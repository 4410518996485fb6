#!/bin/bash
# SPDX-License-Identifier: MIT
#
# torcoll-sim --engine model: the numbers of the papers, what auto takes in their settings and in ours,
# formats, plots, refusals.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$TORCOLL_TOP" || exit

sim=build/bin/torcoll-sim
tmp=$(mktemp -d)
cleanup rm -rf "$tmp"

model()
{
	"$sim" --engine model --format csv "$@" | grep -v '^#' | tail -n +2
}

# column N of the fastest of the rows whose algorithm matches $2, of those of $3 bytes, in CSV from stdin
best()
{
	awk -F, -v col="$1" -v which="^($2)$" -v bytes="$3" '
		$4 ~ which && $6 == bytes && (least == "" || $10 < least) { least = $10; v = $col }
		END { print v }'
}

# near VALUE EXPECTED TOLERANCE (a share)
near()
{
	awk -v v="$1" -v e="$2" -v t="$3" \
		'BEGIN { d = v - e; if (d < 0) d = -d; exit !(v != "" && d <= t * e) }' ||
		{ echo "$1 instead of $2"; false; }
}

# exits CODE COMMAND...
exits()
{
	local want=$1 code

	shift
	"$@" >"$tmp/out" 2>"$tmp/err"
	code=$?
	[[ $code == "$want" ]] || { echo "exit code $code, not $want: $*"; cat "$tmp/err"; false; }
}

ktap_header

# --- Swing's setting ---

swing='swing-bw|swing-lat'
theirs=ring,bucket,recdoub-lat,recdoub-bw,swing-bw,swing-lat
model --profile swing --dims 64x64 --algorithm $theirs >"$tmp/64"
check swing__32_bytes near "$(best 10 "$swing" 32 <"$tmp/64")" 39600 0.005
check swing__2_mib near "$(best 10 "$swing" 2097152 <"$tmp/64")" 104000 0.005
check swing__512_mib near "$(best 10 "$swing" 536870912 <"$tmp/64")" 6437000 0.005
check swing__gain_at_2_mib near "$(best 15 "$swing" 2097152 <"$tmp/64")" 1.27 0.005
check swing__share_of_peak near "$(best 12 "$swing" 536870912 <"$tmp/64")" 0.834 0.001

# The first size at which bucket beats Swing.
bucket_wins()
{
	model --profile swing --dims "$1" --algorithm bucket,swing-bw,swing-lat | awk -F, '
		$4 == "bucket" { bucket[$6] = $10 }
		$4 ~ /^swing/ && (!($6 in swing) || $10 < swing[$6]) { swing[$6] = $10 }
		END { for (m = 32; m <= 536870912; m *= 4)
			if (bucket[m] < swing[m]) { print m; exit } }'
}
check swing__bucket_wins_8x8 test "$(bucket_wins 8x8)" = 33554432
check swing__bucket_wins_16x16 test "$(bucket_wins 16x16)" = 33554432
check swing__bucket_wins_32x32 test "$(bucket_wins 32x32)" = 134217728
check swing__bucket_wins_64x64 test "$(bucket_wins 64x64)" = 134217728
check swing__bucket_wins_128x128 test "$(bucket_wins 128x128)" = 536870912

# Rectangles: the largest gain, over baselines that do not wait for each other. The paper's are slower, and it has
# up to 3: see docs/choosing.md.
largest_gain()
{
	model --profile swing --dims "$1" --algorithm $theirs,hamiltonian | awk -F, '
		$4 ~ /^swing/ { if (!($6 in mine) || $10 < mine[$6]) mine[$6] = $10; next }
		$4 != "auto" && (!($6 in other) || $10 < other[$6]) { other[$6] = $10 }
		END {
			for (m in mine)
				if (other[m] / mine[m] > most)
					most = other[m] / mine[m]
			print most
		}'
}
check swing__largest_gain_128x8 near "$(largest_gain 128x8)" 2.18 0.005
check swing__largest_gain_256x4 near "$(largest_gain 256x4)" 2.03 0.005

# --- Trivance's setting ---

check trivance__ring_8 near \
	"$(model --profile trivance --dims 8 --sizes 2K --algorithm trivance-bw | best 10 trivance-bw 2048)" \
	8830 0.01
model --profile trivance --dims 27x27 --sizes 2M,32M,128M >"$tmp/27"
# over ALGORITHMS BYTES: their time over that of the best form of Trivance
over()
{
	awk -v a="$(best 10 "$1" "$2" <"$tmp/27")" \
		-v b="$(best 10 'trivance-(bw|lat)' "$2" <"$tmp/27")" 'BEGIN { print a / b }'
}
check trivance__over_bruck near "$(over 'bruck-(bw|lat)' 2097152)" 1.62 0.0185
check trivance__over_bucket_32_mib near "$(over bucket 33554432)" 1.52 0.0197
check trivance__behind_bucket_128_mib near "$(over bucket 134217728)" 0.98 0.0306

# --- auto ---

# Never more than 2 % behind the best single family, and so never behind a paper's own.
# not_behind NAME OPTION...: and prints its gains over the papers' own algorithms, least and most
not_behind()
{
	local name=$1 behind own

	shift
	model "$@" >"$tmp/all"
	behind=$(awk -F, '
		$4 == "auto" { auto[$6] = $10; next }
		!($6 in best) || $10 < best[$6] { best[$6] = $10 }
		END {
			for (m in best) {
				n++
				if (!(m in auto) || auto[m] > 1.02 * best[m])
					print m
			}
			if (n != 13)
				print "sizes: " n + 0
		}' "$tmp/all")
	is "auto__$name" "$behind" ""
	for own in swing trivance general; do
		awk -F, -v own=$own -v where="$name" '
			$4 == "auto" { auto[$6] = $10; next }
			index($4, own) == 1 && (!($6 in best) || $10 < best[$6]) { best[$6] = $10 }
			END {
				for (m in best) {
					g = 100 * (best[m] / auto[m] - 1)
					if (most == "" || g > most) most = g
					if (least == "" || g < least) least = g
				}
				if (most != "")
					printf "# auto over %s, %s: %.1f to %.1f %%\n", own, where,
					       least, most
			}' "$tmp/all"
	done
}

for profile in swing trivance torcoll; do
	for dims in 8x8 16x16 32x32 64x64 27x27 128x8 8x8x8; do
		not_behind ${profile}_$dims --profile $profile --dims $dims
	done
done
not_behind kolmakov_127 --profile kolmakov --dims 127 --topology switch

# seconds DIMS: of a processor, for all families, the least of three.
seconds()
{
	local TIMEFORMAT=%U

	for _ in 1 2 3; do
		{ time model --dims "$1" --sizes 1M >/dev/null; } 2>&1
	done | sort -n | head -n 1
}

# Four times the nodes take four times as long and not sixteen times.
grows_with_nodes()
{
	local few many

	few=$(seconds 64x64) many=$(seconds 128x128)
	echo "$few s for 4,096 nodes, $many s for 16,384"
	awk -v few="$few" -v many="$many" 'BEGIN { exit !(many > 0 && many < 9 * (few + 0.01)) }'
}
check speed__16384_nodes one_of 3 grows_with_nodes

# --- topologies ---

# On a switch nothing is in the way: the halving of Kolmakov and Zhang sends (p - 1) / p each way.
check switch__no_contention near \
	"$(model --dims 64 --topology switch --sizes 1M --algorithm general | best 9 general 1048576)" \
	0.984375 0.001
# A HyperX has a link for every peer in a row: a hop for each round, and no link has more than its share.
is hyperx__one_link "$(model --dims 8x8 --topology hyperx --sizes 1M --algorithm swing-bw | cut -d, -f7-9 | tail -1)" \
	12,12,0.984375
# On boards of 2x2 a ring of 8 has four traces, and four ways of 2 hops: those of 7 in a row that are longest, 4 times 11.
is hammingmesh__rings_do_not_wait \
	"$(model --dims 8x8 --topology hammingmesh --sizes 1M --algorithm bucket | cut -d, -f7,8 | tail -1)" 28,44
check hammingmesh__boards_near test \
	"$(model --dims 8x8 --topology hammingmesh --board 8 --sizes 1M --algorithm bucket | wc -l)" = 2

# --- section 5.4 of the Swing paper ---

# What docs/choosing.md says of a figure, from the plot's table: largest gain, that at 512 MiB, ours and the paper's.
paper_row()
{
	awk -F, '
		NR > 1 && $10 > most { most = $10; at = $1 }
		NR > 1 && $11 > theirs { theirs = $11; where = $1 }
		END {
			printf "| %d %% at %d MiB | %d %% at %d MiB | %d %% | %d %% |", most, at / 2 ^ 20, theirs,
			       where / 2 ^ 20, $10, $11
		}' "$1"
}

# In %, rounded up: mean and most by which values of at least 1 Gb/s differ from the paper's.
paper_differs()
{
	awk -F, '
		FNR > 1 {
			for (i = 2; i < 10; i += 2)
				if ($(i + 1) >= 1) {
					d = $i / $(i + 1) - 1
					d = d < 0 ? -d : d
					sum += d
					n++
					most = d > most ? d : most
				}
		}
		END { printf "%d values, %.0f %%, %.0f %%", n, 100 * sum / n, 100 * most }' "$@"
}

for figure in 12 13 14; do
	"$sim" plot swing-$figure "$tmp"
	check paper__documented_$figure grep -qF -- "$(paper_row "$tmp/swing-$figure.csv")" docs/choosing.md
done
is paper__differences "$(paper_differs "$tmp"/swing-1[234].csv)" "101 values, 3 %, 13 %"

# --- formats, plots, refusals ---

check csv__columns grep -q '^dims,nodes,collective,algorithm,params,bytes,rounds,hops,factor,time_ns,goodput_bps,peak_fraction,msgs_per_node,best_other,gain$' \
	<("$sim" --engine model --format csv --sizes 1K)
check csv__command_first test "$("$sim" --engine model --format csv --sizes 1K | head -1)" = \
	"# torcoll-sim --engine model --format csv --sizes 1K"
check json__is_json exits 0 jq -e . <("$sim" --engine model --format json --sizes 1K,1M)
check table__a_row_per_algorithm grep -q '^ *1024  bibucket ' <("$sim" --engine model --sizes 1K)
for name in $("$sim" plot list | cut -d' ' -f1); do
	check "plot__$name" exits 0 "$sim" plot "$name" "$tmp"
	check "plot__${name}_is_xml" python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' \
		"$tmp/$name.svg"
	check "plot__${name}_same_as_committed" diff -q "$tmp/$name.csv" "docs/results/$name.csv"
done
check refused__dims exits 2 "$sim" --engine model --dims 8x
check refused__size exits 2 "$sim" --engine model --sizes 1Q
check refused__algorithm exits 2 "$sim" --engine model --algorithm bine
check refused__board exits 2 "$sim" --engine model --topology hammingmesh --board 3 --dims 8x8
check refused__plot exits 2 "$sim" plot nothing
check refused__shape exits 3 "$sim" --engine model --dims 7x7 --algorithm bruck-lat
finish
