// SPDX-License-Identifier: GPL-2.0
/* What cuts super frames has a header of its own. */
#include <net/gso.h>
