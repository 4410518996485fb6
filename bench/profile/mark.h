/* SPDX-License-Identifier: MIT */
/*
 * What a program does between profile_begin() and profile_end() is what bench/profile/insns.c counts. Elsewhere
 * they are two instructions that do nothing.
 */
#ifndef BENCH_PROFILE_MARK_H
#define BENCH_PROFILE_MARK_H

static inline void profile_begin(void)
{
#ifdef __x86_64__
	/* nopl 0x746f7200(%rax): no compiler writes that */
	asm volatile(".byte 0x0f, 0x1f, 0x80, 0x00, 0x72, 0x6f, 0x74" : : : "memory");
#endif
}

static inline void profile_end(void)
{
#ifdef __x86_64__
	/* nopl 0x746f7201(%rax) */
	asm volatile(".byte 0x0f, 0x1f, 0x80, 0x01, 0x72, 0x6f, 0x74" : : : "memory");
#endif
}

#endif
