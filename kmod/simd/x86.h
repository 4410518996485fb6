/* SPDX-License-Identifier: GPL-2.0 */
/* What the files for x86 have in common: names of instructions for each form of operand. */
#ifndef _TOR_SIMD_X86_H
#define _TOR_SIMD_X86_H

#define TOR_X86_vec_f32	"ps"
#define TOR_X86_one_f32	"ss"
#define TOR_X86_vec_f64	"pd"
#define TOR_X86_one_f64	"sd"

#define TOR_SIMD_OWN_NANS	0

#endif
