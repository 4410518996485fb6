#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# Every plan family runs in the kernel and gives right results, on the shapes that it serves.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

# family SHAPE NAME TYPE: small, odd and larger than a frame
family()
{
	check "${1}_${2}_$3" torcollctl netns run torcoll-perf allreduce -n 1 -w 0 --in-place \
		--counts 1,17,1003,20011 -d "$3" --algorithm "$2"
}

torus_up 4x4
for name in swing-bw bibucket bucket ring hamiltonian tree flood recdoub-lat recdoub-bw \
	recdoub-bw-mirrored bruck-bw trivance-bw; do
	family 4x4 $name f32
done
for name in swing-lat trivance-lat moore window; do
	family 4x4 $name i32
done
fails shape__refused_with_a_reason any "powers of three" \
	torcollctl netns run torcoll-perf allreduce -b 8 -e 8 --algorithm bruck-lat
torcollctl netns down

torus_up 3x3
for name in bibucket bucket ring tree flood recdoub-lat recdoub-bw bruck-bw trivance-bw; do
	family 3x3 $name f32
done
for name in moore bruck-lat; do
	family 3x3 $name i32
done
fails bits__refused_with_a_reason any "same float bits" \
	torcollctl netns run torcoll-perf allreduce -b 8 -e 8 -d f32 --algorithm bruck-lat
torcollctl netns down

torus_up 8
for name in swing-bw ring tree recdoub-bw trivance-bw bruck-bw; do
	family 8 $name f32
done
torcollctl netns down
finish
