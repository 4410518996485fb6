// SPDX-License-Identifier: MIT
/*
 * How fast this processor copies, checks and adds 8 KiB, without torcoll: rates SECONDS
 *
 * Prints "memcpy N", "crc N", "add N" in bytes per microsecond, each the best way found: the CRC instruction or
 * zlib's tables, adding floats four or eight at a time.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define BYTES	8192

static float to[BYTES / sizeof(float)] __attribute__((aligned(64)));
static float from[BYTES / sizeof(float)] __attribute__((aligned(64)));
static volatile uint32_t sink;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void copy(void)
{
	memcpy(to, from, BYTES);
	__asm__ volatile("" : : : "memory");
}

static void crc_table(void)
{
	sink = crc32(0, (const unsigned char *)from, BYTES);
}

static void add_plain(void)
{
	for (size_t i = 0; i < BYTES / sizeof(float); i++)
		to[i] += from[i];
	__asm__ volatile("" : : : "memory");
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static void crc_instruction(void)
{
	uint64_t crc = ~0U, word;

	for (size_t i = 0; i < BYTES; i += sizeof(word)) {
		memcpy(&word, (const char *)from + i, sizeof(word));
		crc = _mm_crc32_u64(crc, word);
	}
	sink = crc;
}

__attribute__((target("avx2"))) static void add_avx2(void)
{
	for (size_t i = 0; i < BYTES / sizeof(float); i += 8)
		_mm256_store_ps(to + i, _mm256_add_ps(_mm256_load_ps(to + i),
						      _mm256_load_ps(from + i)));
	__asm__ volatile("" : : : "memory");
}
#endif

/* Bytes per microsecond. */
static double rate(void (*work)(void), double seconds)
{
	double start = now(), end = start + seconds, at;
	unsigned long n = 0;

	do {
		for (int i = 0; i < 16; i++)
			work();
		n += 16;
		at = now();
	} while (at < end);
	return n * (double)BYTES / ((at - start) * 1e6);
}

static double best(double a, double b)
{
	return a > b ? a : b;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 0.3;
	double crc = rate(crc_table, seconds), add = rate(add_plain, seconds);

#if defined(__x86_64__)
	if (__builtin_cpu_supports("sse4.2"))
		crc = best(crc, rate(crc_instruction, seconds));
	if (__builtin_cpu_supports("avx2"))
		add = best(add, rate(add_avx2, seconds));
#endif
	printf("memcpy %.1f\ncrc %.1f\nadd %.1f\n", rate(copy, seconds), crc, add);
	return 0;
}
