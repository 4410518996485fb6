#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# What the fuzzers of the module found, or keep as their corpus, once more: see fuzz/kernel/run.

# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/../lib.sh"
ktap_header

inputs=$(mktemp -d)
cleanup rm -rf "$inputs"
module_load || bail "no module"
for packed in "$TORCOLL_TOP"/selftests/fuzz/kernel/corpus/*.tar.xz; do
	name=$(basename "$packed" .tar.xz)
	regress=$TORCOLL_TOP/selftests/fuzz/kernel/regress/$name
	mkdir "$inputs/$name"
	tar -xJf "$packed" -C "$inputs/$name"
	[[ ! -d $regress ]] || cp "$regress"/* "$inputs/$name"
	check "${name}__inputs_of_before" "kfuzz_$name" "$inputs/$name"
done
finish
