#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 1200
#
# selftests/net/churn.sh with 1,000 comms.

COMMS=1000 exec "$(dirname "$0")/../net/churn.sh"
