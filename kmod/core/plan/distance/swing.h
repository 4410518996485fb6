/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Swing's pattern along a side, for swing-bw and swing-lat. */
#ifndef _TOR_CORE_PLAN_SWING_H
#define _TOR_CORE_PLAN_SWING_H

#include "core/env.h"

/**
 * tor_swing_peer - the peer of a coordinate in a step
 * @m: side, even
 * @x: coordinate
 * @step: from 0
 * @mirrored: directions exchanged
 *
 * Return: the peer's coordinate.
 */
u32 tor_swing_peer(u32 m, u32 x, u32 step, bool mirrored);

/**
 * tor_swing_half - the half of the remaining nodes with which a coordinate
 * stays
 * @n: side, a power of two
 * @x: coordinate
 * @step: after this step, from 0
 * @mirrored: directions exchanged
 *
 * Return: 0 or 1.
 */
u32 tor_swing_half(u32 n, u32 x, u32 step, bool mirrored);

#endif
