/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files for arm64 have in common. Its NaNs are its own: of two it
 * prefers a signalling one, and the default one is positive.
 */
#ifndef _TOR_SIMD_NEON_H
#define _TOR_SIMD_NEON_H

#define TOR_SIMD_BYTES		16
#define TOR_SIMD_OWN_NANS	1
#define TOR_SIMD_SWIFT

#define TOR_NEON_vec_f16	" %0.8h, %0.8h, %1.8h"
#define TOR_NEON_vec_f32	" %0.4s, %0.4s, %1.4s"
#define TOR_NEON_one_f32	" %s0, %s0, %s1"
#define TOR_NEON_vec_f64	" %0.2d, %0.2d, %1.2d"
#define TOR_NEON_one_f64	" %d0, %d0, %d1"
#define TOR_SIMD_DO(op, form, a, b)	asm("f" #op TOR_NEON_##form : "+w" (a) : "w" (b))

#define TOR_SIMD_WIDEN(f, h)	asm("fcvtl %0.4s, %1.4h" : "=w" (f) : "w" (h))
#define TOR_SIMD_NARROW(h, f)	asm("fcvtn %0.4h, %1.4s" : "=w" (h) : "w" (f))
#define TOR_SIMD_LESS_ONE(rest, one)	\
	asm("uqsub %0.8h, %0.8h, %1.8h" : "+w" (rest) : "w" (one))

#endif
