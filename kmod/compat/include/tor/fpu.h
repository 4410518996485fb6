/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sections that use the FPU, in softirq and in tasks. They do not nest and do
 * not sleep; bottom halves may be off, interrupts may not.
 *
 * x86 begins a section with the default rounding and denormals. arm64 leaves
 * what the interrupted task has set, which is saved with its registers: a
 * process that rounds towards zero would have the sums of others rounded so.
 *
 * On arm64, kernel_fpu_begin() is for tasks only. Since 6.19
 * kernel_neon_begin() wants memory for what it interrupts, a section of a task
 * or a softirq's: one such memory per CPU serves where neither bottom halves
 * nor other tasks get in between.
 */
#ifndef _TOR_COMPAT_FPU_H
#define _TOR_COMPAT_FPU_H

#ifdef CONFIG_X86_64

#include <asm/fpu/api.h>

/* Return false where the FPU cannot be used now. */
static inline bool tor_fpu_begin(void)
{
	if (!irq_fpu_usable())
		return false;
	kernel_fpu_begin();
	return true;
}

static inline void tor_fpu_end(void)
{
	kernel_fpu_end();
}

#else

#include <linux/bottom_half.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <asm/neon.h>
#include <asm/simd.h>
#include <asm/sysreg.h>
#include <tor/has.h>

#ifdef TOR_HAS_NEON_STATE

static DEFINE_PER_CPU(struct user_fpsimd_state, tor_fpu_interrupted);

static inline void tor_neon_begin(void)
{
	local_bh_disable();
	preempt_disable();
	kernel_neon_begin(this_cpu_ptr(&tor_fpu_interrupted));
}

static inline void tor_neon_end(void)
{
	kernel_neon_end(this_cpu_ptr(&tor_fpu_interrupted));
	preempt_enable();
	local_bh_enable();
}

#else

static inline void tor_neon_begin(void)
{
	kernel_neon_begin();
}

static inline void tor_neon_end(void)
{
	kernel_neon_end();
}

#endif

static inline bool tor_fpu_begin(void)
{
	if (!may_use_simd())
		return false;
	tor_neon_begin();
	/* writing it may take as long as a short sum */
	if (read_sysreg(fpcr))
		write_sysreg(0, fpcr);
	return true;
}

static inline void tor_fpu_end(void)
{
	tor_neon_end();
}

#endif

#endif
