/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inputs and results of one type: see data.c, which includes this once per
 * type. NAME, TYPE, FORMAT and SMALL_MAX are given, for floats also SUM_MAX.
 * Buffers may be misaligned.
 */
#ifdef SUM_MAX

static int64_t F(scale)(enum torcoll_redop redop, uint64_t i)
{
	return scale(i, redop == TORCOLL_SUM ? SUM_MAX : SMALL_MAX);
}

static TYPE F(input)(enum torcoll_redop redop, uint64_t i, uint32_t turn)
{
	return (TYPE)(F(scale)(redop, i) * weights.small[turn]) / 8;
}

static TYPE F(result)(enum torcoll_redop redop, uint64_t i)
{
	int64_t s = F(scale)(redop, i);

	if (redop == TORCOLL_SUM)
		return (TYPE)(s * (int64_t)weights.small_sum) / 8;
	return (TYPE)extreme(s, redop) / 8;
}

/* All bits of the significand, 32 binades, both signs. */
static TYPE F(inexact)(uint64_t h)
{
	TYPE v = (TYPE)(h >> 6) / (1ULL << (1 + (h & 31)));

	return h & 32 ? -v : v;
}

#else

/* Sums are of 64-bit products, truncated to the type. */
static TYPE F(input)(enum torcoll_redop redop, uint64_t i, uint32_t turn)
{
	if (redop == TORCOLL_SUM)
		return (TYPE)(hash(i) * weights.wide[turn]);
	return scale(i, SMALL_MAX) * weights.small[turn];
}

static TYPE F(result)(enum torcoll_redop redop, uint64_t i)
{
	if (redop == TORCOLL_SUM)
		return (TYPE)(hash(i) * weights.wide_sum);
	return extreme(scale(i, SMALL_MAX), redop);
}

static TYPE F(inexact)(uint64_t h)
{
	return (TYPE)h;
}

#endif

static void F(fill)(const struct result *r, uint32_t rank, struct part range, uint8_t *buf)
{
	uint32_t turn = (rank + range.first) % weights.ranks;

	for (uint64_t i = 0; i < range.n; i++, buf += sizeof(TYPE)) {
		TYPE v = F(input)(r->redop, range.first + i, turn);

		memcpy(buf, &v, sizeof(v));
		turn = turn + 1 < weights.ranks ? turn + 1 : 0;
	}
}

static void F(fill_inexact)(uint32_t rank, struct part range, uint8_t *buf)
{
	for (uint64_t i = 0; i < range.n; i++, buf += sizeof(TYPE)) {
		TYPE v = F(inexact)(hash((range.first + i) * weights.ranks + rank));

		memcpy(buf, &v, sizeof(v));
	}
}

static uint64_t F(check)(const struct result *r, struct part range, const uint8_t *buf, char *first,
			 size_t first_bytes)
{
	uint64_t wrong = 0;

	for (uint64_t i = 0; i < range.n; i++, buf += sizeof(TYPE)) {
		TYPE want = F(result)(r->redop, range.first + i), is;

		if (!memcmp(buf, &want, sizeof(want)))
			continue;
		memcpy(&is, buf, sizeof(is));
		if (!wrong++)
			snprintf(first, first_bytes, "element %llu is " FORMAT ", should be " FORMAT,
				 (unsigned long long)(range.first + i), is, want);
	}
	return wrong;
}

static TYPE F(reduce)(enum torcoll_redop redop, TYPE a, TYPE b)
{
	if (redop == TORCOLL_MIN)
		return a < b ? a : b;
	if (redop == TORCOLL_MAX)
		return a > b ? a : b;
#ifdef SUM_MAX
	return a + b;
#else
	return (TYPE)((uint64_t)a + (uint64_t)b);
#endif
}

static uint64_t F(check_first)(const struct result *r, uint32_t ranks, struct part range,
			       const uint8_t *buf, char *first, size_t first_bytes)
{
	uint64_t wrong = 0;

	for (uint64_t i = range.first; i < range.first + range.n; i++, buf += sizeof(TYPE)) {
		TYPE want = F(input)(r->redop, i, i % weights.ranks), is;

		for (uint32_t k = 1; k < ranks; k++)
			want = F(reduce)(r->redop, want,
					 F(input)(r->redop, i, (k + i) % weights.ranks));
		if (!memcmp(buf, &want, sizeof(want)))
			continue;
		memcpy(&is, buf, sizeof(is));
		if (!wrong++)
			snprintf(first, first_bytes, "element %llu is " FORMAT ", should be " FORMAT,
				 (unsigned long long)i, is, want);
	}
	return wrong;
}

static uint64_t F(check_input)(const struct result *r, uint32_t rank, struct part range,
			       const uint8_t *buf)
{
	uint32_t turn = (rank + range.first) % weights.ranks;
	uint64_t wrong = 0;

	for (uint64_t i = 0; i < range.n; i++, buf += sizeof(TYPE)) {
		TYPE want = F(input)(r->redop, range.first + i, turn);

		wrong += !!memcmp(buf, &want, sizeof(want));
		turn = turn + 1 < weights.ranks ? turn + 1 : 0;
	}
	return wrong;
}

#undef NAME
#undef TYPE
#undef FORMAT
#undef SMALL_MAX
#undef SUM_MAX
