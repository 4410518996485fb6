#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 7200
#
# Promises about bits on 2,000 vectors, by all families: what no torus of four or nine nodes has, on one that has it.

BITS_VECTORS=2000 BITS_SHAPES="2x2 3x3 5x5:allport" exec "$(dirname "$0")/../net/bits.sh"
