/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Swing's pattern along a side: for swing-bw and swing-lat. */
#ifndef _TOR_CORE_PLAN_SWING_H
#define _TOR_CORE_PLAN_SWING_H

#include "core/env.h"

/* The peer of coordinate @x in step @step, on an even side of @m. */
u32 tor_swing_peer(u32 m, u32 x, u32 step, bool mirrored);

/* On a side that is a power of two: with which of two halves @x stays after step @step. */
u32 tor_swing_half(u32 n, u32 x, u32 step, bool mirrored);

#endif
