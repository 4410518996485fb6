// SPDX-License-Identifier: GPL-2.0
#include <tor/assign_str.h>

#define CREATE_TRACE_POINTS
#include "trace.h"
