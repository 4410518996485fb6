// SPDX-License-Identifier: GPL-2.0
/*
 * CRC32C for core: the processor's instruction, the kernel's tables or its library, whichever is the fastest here.
 *
 * It depends on the length. A header has 64 bytes: there the library's detour through the crypto layer costs more than
 * the sum, but it folds whole frames by wide registers where it can. Emulators are the other way round: to
 * some of them the instruction is a loop over bits. So both lengths are timed at load.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "crc.h"

#include <linux/crc32.h>
#include <linux/crc32c.h>
#include <linux/jump_label.h>
#include <linux/ktime.h>
#include <linux/slab.h>
#ifdef CONFIG_X86_64
#include <asm/cpufeature.h>
#endif

#include "env.h"

#define SHORT		64	/* a header */
#define LONG		8192	/* a large frame */
#define BETWEEN		512	/* here ends what counts as short */
#define ROUNDS		16	/* so that the clock is fine enough */

static DEFINE_STATIC_KEY_FALSE(short_by_insn);
static DEFINE_STATIC_KEY_FALSE(short_by_table);
static DEFINE_STATIC_KEY_FALSE(long_by_insn);
static DEFINE_STATIC_KEY_FALSE(long_by_table);

#ifdef CONFIG_X86_64
#define has_insn()	boot_cpu_has(X86_FEATURE_XMM4_2)

/* Needs no FPU: the instruction works on general registers. */
static u32 crc_insn(u32 crc, const void *p, size_t n)
{
	const u8 *at = p;
	u64 sum = crc;

	for (; n >= sizeof(u64); n -= sizeof(u64), at += sizeof(u64))
		asm("crc32q %1, %0" : "+r" (sum) : "m" (*(const u64 *)at));
	crc = sum;
	for (; n; n--, at++)
		asm("crc32b %1, %0" : "+r" (crc) : "m" (*at));
	return crc;
}
#else
#define has_insn()	false
#define crc_insn	crc_library
#endif

static u32 crc_library(u32 crc, const void *p, size_t n)
{
	return crc32c(crc, p, n);
}

static u32 crc_table(u32 crc, const void *p, size_t n)
{
	return __crc32c_le(crc, p, n);
}

u32 tor_env_crc32c(u32 crc, const void *p, size_t n)
{
	if (n < BETWEEN) {
		if (static_branch_likely(&short_by_insn))
			return crc_insn(crc, p, n);
		if (static_branch_unlikely(&short_by_table))
			return crc_table(crc, p, n);
	} else {
		if (static_branch_unlikely(&long_by_insn))
			return crc_insn(crc, p, n);
		if (static_branch_unlikely(&long_by_table))
			return crc_table(crc, p, n);
	}
	return crc_library(crc, p, n);
}

/* ns that a sum takes. Best of several, since anything may interrupt. */
static u64 time_crc(u32 (*crc)(u32 crc, const void *p, size_t n), const void *buf, size_t n)
{
	u64 best = U64_MAX;
	int i, round;

	for (i = 0; i < 5; i++) {
		u64 start = ktime_get_ns();
		u32 sum = ~0U;

		for (round = 0; round < ROUNDS; round++)
			sum = crc(sum, buf, n);
		/* the compiler drops a pure function whose result nobody wants */
		barrier_data(&sum);
		best = min(best, ktime_get_ns() - start);
	}
	return best / ROUNDS;
}

static void choose(struct static_key_false *by_insn, struct static_key_false *by_table, const void *buf,
		   size_t n)
{
	u64 library = time_crc(crc_library, buf, n);
	u64 table = time_crc(crc_table, buf, n);
	u64 insn = has_insn() ? time_crc(crc_insn, buf, n) : U64_MAX;
	const char *best = "library";

	if (insn <= table && insn <= library) {
		static_branch_enable(by_insn);
		best = "instruction";
	} else if (table < library) {
		static_branch_enable(by_table);
		best = "table";
	}
	pr_info("CRC32C of %zu bytes: library %llu ns, table %llu ns, instruction %lld ns: by %s\n",
		n, library, table, (s64)insn, best);
}

int tor_crc_init(void)
{
	void *buf = kzalloc(LONG, GFP_KERNEL);

	if (!buf)
		return -ENOMEM;
	choose(&short_by_insn, &short_by_table, buf, SHORT);
	choose(&long_by_insn, &long_by_table, buf, LONG);
	kfree(buf);
	return 0;
}
