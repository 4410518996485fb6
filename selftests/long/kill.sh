#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 900
#
# kill -9 at twenty moments of an op.

KILLS=20 exec "$(dirname "$0")/../net/kill.sh"
