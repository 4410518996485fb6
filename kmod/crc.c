// SPDX-License-Identifier: GPL-2.0
/*
 * CRC32C for core: the processor's instruction, tables or the kernel's library,
 * whichever is the fastest on this machine.
 *
 * That depends on the length. A header has 64 bytes, for which the library's
 * way through the crypto layer costs more than the sum. Payloads are summed
 * as they lie in memory, often page by page. The instruction has a latency of three
 * cycles and starts every cycle, so three parts of a page are summed at a time.
 * The library does that too, but combines them with the FPU; here a few loads
 * from tables suffice. In some emulators the instruction is a loop over bits.
 * Both lengths are therefore timed at load.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "crc.h"

#include <linux/crc32c.h>
#include <linux/jump_label.h>
#include <linux/ktime.h>
#include <linux/random.h>
#include <linux/slab.h>
#ifdef CONFIG_X86_64
#include <asm/cpufeature.h>
#endif

#include "core/env.h"
#include "crc_table.h"

#define SHORT		64	/* a header */
#define LONG		4096	/* a page */
#define BETWEEN		512	/* shorter sums than this count as short */
#define ROUNDS		16	/* to match the resolution of the clock */

static DEFINE_STATIC_KEY_FALSE(short_by_insn);
static DEFINE_STATIC_KEY_FALSE(short_by_table);
static DEFINE_STATIC_KEY_FALSE(long_by_insn);
static DEFINE_STATIC_KEY_FALSE(long_by_table);

#ifdef CONFIG_X86_64
#define has_insn()	boot_cpu_has(X86_FEATURE_XMM4_2)

#define PAGE_THIRD	1360	/* approximately: in tens of words */
#define PART_THIRD	320	/* of the rest of a page */

/*
 * Effect on a sum of as many zeros as a third has bytes: for each of its bytes,
 * to be added.
 */
struct zeros {
	u32 of[sizeof(u32)][256];
};

static struct zeros page_zeros __ro_after_init, part_zeros __ro_after_init;

/* Needs no FPU: the instruction works on general registers. */
static __always_inline u64 add_word(u64 sum, const void *at)
{
	asm("crc32q %1, %0" : "+r" (sum) : "m" (*(const u64 *)at));
	return sum;
}

static u64 after_zeros(const struct zeros *z, u32 sum)
{
	return z->of[0][sum & 0xff] ^ z->of[1][sum >> 8 & 0xff] ^ z->of[2][sum >> 16 & 0xff] ^
	       z->of[3][sum >> 24];
}

static __always_inline u64 add_thirds(u64 sum, const u8 *at, size_t third, const struct zeros *z)
{
	const u8 *end = at + third;
	u64 second = 0, last = 0;
	int i;

	for (; at != end; at += 10 * sizeof(u64)) {
#pragma GCC unroll 10
		for (i = 0; i < 10; i++) {
			sum = add_word(sum, at + i * sizeof(u64));
			second = add_word(second, at + i * sizeof(u64) + third);
			last = add_word(last, at + i * sizeof(u64) + 2 * third);
		}
	}
	return after_zeros(z, after_zeros(z, sum) ^ second) ^ last;
}

/* Inline where a sum is wanted: a frame often has one for each page. */
static __always_inline u32 crc_words(u32 crc, const void *p, size_t n)
{
	const u8 *at = p;
	u64 sum = crc;
	int i;

	for (; n >= 8 * sizeof(u64); n -= 8 * sizeof(u64), at += 8 * sizeof(u64)) {
#pragma GCC unroll 8
		for (i = 0; i < 8; i++)
			sum = add_word(sum, at + i * sizeof(u64));
	}
	for (; n >= sizeof(u64); n -= sizeof(u64), at += sizeof(u64))
		sum = add_word(sum, at);
	crc = sum;
	/* as a header has behind its words */
	if (n >= sizeof(u32)) {
		asm("crc32l %1, %0" : "+r" (crc) : "m" (*(const u32 *)at));
		n -= sizeof(u32);
		at += sizeof(u32);
	}
	for (; n; n--, at++)
		asm("crc32b %1, %0" : "+r" (crc) : "m" (*at));
	return crc;
}

static __always_inline u32 crc_insn(u32 crc, const void *p, size_t n)
{
	const u8 *at = p;
	u64 sum = crc;

	for (; n >= 3 * PAGE_THIRD; n -= 3 * PAGE_THIRD, at += 3 * PAGE_THIRD)
		sum = add_thirds(sum, at, PAGE_THIRD, &page_zeros);
	for (; n >= 3 * PART_THIRD; n -= 3 * PART_THIRD, at += 3 * PART_THIRD)
		sum = add_thirds(sum, at, PART_THIRD, &part_zeros);
	return crc_words(sum, at, n);
}

static void make_zeros(struct zeros *z, size_t third)
{
	const u64 zero = 0;
	u32 byte, bit;
	size_t i;

	for (bit = 0; bit < 32; bit++) {
		u64 sum = BIT(bit);

		for (i = 0; i < third; i += sizeof(u64))
			sum = add_word(sum, &zero);
		for (byte = 0; byte < 256; byte++)
			if (byte >> bit % 8 & 1)
				z->of[bit / 8][byte] ^= sum;
	}
}

static void prepare_insn(void)
{
	make_zeros(&page_zeros, PAGE_THIRD);
	make_zeros(&part_zeros, PART_THIRD);
}
#else
#define has_insn()	false
#define crc_words	crc_library
#define crc_insn	crc_library
static void prepare_insn(void)
{
}
#endif

static u32 crc_library(u32 crc, const void *p, size_t n)
{
	return crc32c(crc, p, n);
}

u32 tor_env_crc32c(u32 crc, const void *p, size_t n)
{
	if (n < BETWEEN) {
		if (static_branch_likely(&short_by_insn))
			return crc_words(crc, p, n);
		if (static_branch_unlikely(&short_by_table))
			return tor_crc_table(crc, p, n);
	} else {
		if (static_branch_unlikely(&long_by_insn))
			return crc_insn(crc, p, n);
		if (static_branch_unlikely(&long_by_table))
			return tor_crc_table(crc, p, n);
	}
	return crc_library(crc, p, n);
}

/*
 * Return the ns that a sum takes. The best of several runs, since any may be
 * interrupted.
 */
static u64 time_crc(u32 (*crc)(u32 crc, const void *p, size_t n), const void *buf, size_t n)
{
	u64 best = U64_MAX;
	int i, round;

	for (i = 0; i < 5; i++) {
		u64 start = ktime_get_ns();
		u32 sum = ~0U;

		for (round = 0; round < ROUNDS; round++)
			sum = crc(sum, buf, n);
		/*
		 * the compiler drops a pure function whose result is not used
		 */
		barrier_data(&sum);
		best = min(best, ktime_get_ns() - start);
	}
	return best / ROUNDS;
}

/*
 * Compare with the reference, since an error that is the same on all nodes
 * would go unnoticed. All lengths: some have thirds, all have ends.
 */
static bool insn_is_right(const u8 *buf)
{
	size_t n;

	for (n = LONG; n; n -= n / 8 + 1)
		if (crc_insn(~0U, buf, n) != tor_crc_table(~0U, buf, n) ||
		    crc_words(~0U, buf, n) != tor_crc_table(~0U, buf, n))
			return false;
	return true;
}

static void choose(struct static_key_false *by_insn, struct static_key_false *by_table, const void *buf,
		   size_t n, bool insn_works)
{
	u64 library = time_crc(crc_library, buf, n);
	u64 table = time_crc(tor_crc_table, buf, n);
	u64 insn = insn_works ? time_crc(crc_insn, buf, n) : U64_MAX;
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
	void *buf = kmalloc(LONG, GFP_KERNEL);
	bool insn_works = false;

	if (!buf)
		return -ENOMEM;
	get_random_bytes(buf, LONG);
	tor_crc_table_init();
	if (has_insn()) {
		prepare_insn();
		insn_works = !WARN_ON(!insn_is_right(buf));
	}
	choose(&short_by_insn, &short_by_table, buf, SHORT, insn_works);
	choose(&long_by_insn, &long_by_table, buf, LONG, insn_works);
	kfree(buf);
	return 0;
}
