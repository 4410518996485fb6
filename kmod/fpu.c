// SPDX-License-Identifier: GPL-2.0
/*
 * The FPU for core: where it can be used, and the instruction set by which each
 * type of float is reduced.
 */
#include "fpu.h"

#include <linux/cpufeature.h>
#include <linux/ktime.h>
#include <linux/slab.h>
#include <tor/fpu.h>

#include "core/env.h"
#include "core/reduce/reduce.h"

#define MEASURED	16384		/* bytes by which variants are timed */

bool tor_env_fpu_begin(void)
{
	return tor_fpu_begin();
}

void tor_env_fpu_end(void)
{
	tor_fpu_end();
}

static bool has_isa(enum tor_isa isa)
{
	switch (isa) {
#ifdef CONFIG_X86_64
	case TOR_ISA_AVX2:
		return boot_cpu_has(X86_FEATURE_AVX2) && boot_cpu_has(X86_FEATURE_F16C) &&
		       boot_cpu_has(X86_FEATURE_FMA) &&
		       cpu_has_xfeatures(XFEATURE_MASK_SSE | XFEATURE_MASK_YMM, NULL);
	case TOR_ISA_AVX512:
		return boot_cpu_has(X86_FEATURE_AVX512F) && boot_cpu_has(X86_FEATURE_AVX512BW) &&
		       boot_cpu_has(X86_FEATURE_AVX512DQ) && boot_cpu_has(X86_FEATURE_AVX512VL) &&
		       cpu_has_xfeatures(XFEATURE_MASK_SSE | XFEATURE_MASK_YMM |
					 XFEATURE_MASK_AVX512, NULL);
#else
	case TOR_ISA_FP16:
		/* what all CPUs have: of different ones, the least */
		return cpu_have_named_feature(ASIMDHP);
#endif
	default:
		return isa == 0;
	}
}

static u64 time_sum(u32 type, void *dst, const void *src, size_t bytes)
{
	tor_reduce_fn sum = tor_reduce_kernel(type, TORCOLL_SUM);
	u64 best = U64_MAX;
	int i;

	for (i = 0; i < 5; i++) {
		u64 start;

		if (!tor_fpu_begin())
			continue;
		start = ktime_get_ns();
		sum(dst, dst, src, bytes / tor_type_size(type));
		best = min(best, ktime_get_ns() - start);
		tor_fpu_end();
	}
	return best;
}

/*
 * Choose for each type separately. Wider is not always faster: some CPUs lower
 * their clock, some convert f16 at half the rate, emulators work word by word.
 */
static void choose_isa(u32 type, void *buf)
{
	enum tor_isa isa, fastest = 0;
	u64 best = U64_MAX;

	for (isa = 0; isa < TOR_ISA_COUNT; isa++) {
		u64 time;

		if (!has_isa(isa))
			continue;
		tor_reduce_use(type, isa);
		time = time_sum(type, buf, buf + MEASURED / 2, MEASURED / 2);
		if (time < best) {
			best = time;
			fastest = isa;
		}
	}
	tor_reduce_use(type, fastest);
}

int tor_fpu_init(void)
{
	void *buf = kzalloc(MEASURED, GFP_KERNEL);
	u32 type;

	if (!buf)
		return -ENOMEM;
	for (type = 0; type < TORCOLL_TYPE_COUNT; type++)
		if (tor_type_is_float(type))
			choose_isa(type, buf);
	kfree(buf);
	return 0;
}
