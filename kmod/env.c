// SPDX-License-Identifier: GPL-2.0
/*
 * The parts of core's surroundings that need no state of ours: memory, checksums, the FPU. The rest of
 * env.h is supplied where the state lives: frame.c, memory.c, group.c, fabric.c.
 */
#include "env.h"

#include <linux/crc32.h>
#include <linux/crc32c.h>
#include <linux/jump_label.h>
#include <linux/ktime.h>
#include <linux/random.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#ifdef CONFIG_X86_64
#include <asm/cpufeature.h>
#include <asm/fpu/api.h>
#endif

#include "main.h"
#include "reduce.h"

static DEFINE_STATIC_KEY_FALSE(crc_by_table);
static siphash_key_t hash_key __ro_after_init = { { 0x746f72636f6c6c30ULL, 0 } };

void *tor_env_alloc(size_t n)
{
	return kzalloc(n, GFP_ATOMIC | __GFP_NOWARN);
}

void tor_env_free(void *p)
{
	kfree(p);
}

u32 tor_env_crc32c(u32 crc, const void *p, size_t n)
{
	if (static_branch_unlikely(&crc_by_table))
		return __crc32c_le(crc, p, n);
	return crc32c(crc, p, n);
}

u64 tor_env_hash(const void *p, size_t n, u64 key)
{
	siphash_key_t k = hash_key;

	k.key[1] = key;
	return siphash(p, n, &k);
}

u32 tor_env_random(void)
{
	return get_random_u32();
}

bool tor_env_fpu_begin(void)
{
#ifdef CONFIG_X86_64
	if (!irq_fpu_usable())
		return false;
	kernel_fpu_begin();
#endif
	return true;
}

void tor_env_fpu_end(void)
{
#ifdef CONFIG_X86_64
	kernel_fpu_end();
#endif
}

/*
 * The CRC instruction is far faster than tables, except where it is emulated: measure. Best of several, since
 * anything may interrupt.
 */
static u64 time_crc(u32 (*crc)(u32 crc, const void *p, size_t n), const void *buf, size_t n)
{
	u64 best = U64_MAX;
	int i;

	for (i = 0; i < 5; i++) {
		u64 start = ktime_get_ns();

		crc(~0U, buf, n);
		best = min(best, ktime_get_ns() - start);
	}
	return best;
}

static u32 crc_library(u32 crc, const void *p, size_t n)
{
	return crc32c(crc, p, n);
}

static u32 crc_table(u32 crc, const void *p, size_t n)
{
	return __crc32c_le(crc, p, n);
}

int tor_env_init(void)
{
	const size_t n = 8192;
	void *buf = kzalloc(n, GFP_KERNEL);

	if (!buf)
		return -ENOMEM;
	if (time_crc(crc_table, buf, n) < time_crc(crc_library, buf, n))
		static_branch_enable(&crc_by_table);
	kfree(buf);
#ifdef CONFIG_X86_64
	tor_reduce_init(boot_cpu_has(X86_FEATURE_AVX2) &&
			cpu_has_xfeatures(XFEATURE_MASK_SSE | XFEATURE_MASK_YMM, NULL));
#else
	tor_reduce_init(false);
#endif
	return 0;
}
