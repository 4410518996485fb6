// SPDX-License-Identifier: GPL-2.0
/*
 * Copies of payloads for core: the kernel's memcpy(), or the processor's
 * instruction that moves words, whichever is faster on this machine.
 *
 * Processors with fast short strings (FSRM) move bytes by one instruction, and
 * memcpy() does so there. For all others it is a loop of loads and stores, of
 * eight bytes each, although most of them move whole words by one instruction,
 * too. Neither needs the FPU. Which one is faster is timed at load.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "copy.h"

#include <linux/jump_label.h>
#include <linux/ktime.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "core/env.h"

#define PAYLOAD		4096	/* of a page */
#define HEADER		6	/* what a payload lies behind: a page has seldom all of one */
#define LEAST		256	/* the instruction needs some time to begin */
#define ROUNDS		16	/* to match the resolution of the clock */

static DEFINE_STATIC_KEY_FALSE(copy_by_words);

#ifdef CONFIG_X86_64
static __always_inline void copy_words(void *to, const void *from, size_t n)
{
	size_t words = n / sizeof(u64);

	asm volatile("rep movsq" : "+D" (to), "+S" (from), "+c" (words) : : "memory");
	n %= sizeof(u64);
	if (n)
		asm volatile("rep movsb" : "+D" (to), "+S" (from), "+c" (n) : : "memory");
}
#else
#define copy_words	memcpy
#endif

/* out of line: the compiler must not know a length that is measured */
noinline void tor_env_copy(void *to, const void *from, size_t n)
{
	if (static_branch_unlikely(&copy_by_words) && n >= LEAST)
		copy_words(to, from, n);
	else
		memcpy(to, from, n);
}

/*
 * Return the ns that copies of @buf to the page behind it take. The best of
 * several runs, since any may be interrupted.
 */
static u64 time_copies(u8 *buf)
{
	u64 best = U64_MAX;
	int i, round;

	for (i = 0; i < 5; i++) {
		u64 start = ktime_get_ns();

		for (round = 0; round < ROUNDS; round++)
			tor_env_copy(buf + PAYLOAD, buf + HEADER, PAYLOAD - HEADER);
		best = min(best, ktime_get_ns() - start);
	}
	return best / ROUNDS;
}

int tor_copy_init(void)
{
	u64 function, words;
	u8 *buf;

	/* sanitizers follow what memcpy() does, not what an instruction does */
	if (!IS_ENABLED(CONFIG_X86_64) || IS_ENABLED(CONFIG_KASAN) ||
	    IS_ENABLED(CONFIG_KMSAN))
		return 0;
	buf = kcalloc(2, PAYLOAD, GFP_KERNEL);
	if (!buf)
		return -ENOMEM;
	function = time_copies(buf);
	static_branch_enable(&copy_by_words);
	words = time_copies(buf);
	/* about the same: the kernel knows the processor better */
	if (5 * words > 4 * function)
		static_branch_disable(&copy_by_words);
	pr_info("copies of %u bytes: memcpy %llu ns, words %llu ns: by %s\n", PAYLOAD, function,
		words, static_key_enabled(&copy_by_words) ? "words" : "memcpy");
	kfree(buf);
	return 0;
}
