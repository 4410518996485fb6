/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inputs and results of one type: values.c includes this with NAME, TYPE and KIND (INTEGER or FLOAT)
 * defined. LOAD(bits) and STORE(v) convert where TYPE is not what lies in memory (BITS).
 */

/*
 * Floats get values with which every operator is exact in any order: small integers for sums, powers of
 * two whose product stays one for products. Both zeros are among those for minima and maxima.
 */
static TYPE F(input)(const struct test_case *t, uint32_t rank, uint64_t i)
{
	uint64_t h = hash(t->seed ^ hash(i * 65537 + rank));

#if KIND == FLOAT
	static const TYPE factors[] = { 1, -1, 2, 0.5 };

	if (t->inexact)
		return ((TYPE)(h >> 11) - (TYPE)(1ULL << 52)) / (TYPE)(1ULL << (h & 31));
	switch (t->op.redop) {
	case TORCOLL_PROD:
		/* a 2 at one rank meets its half at the next: pairs of ranks share a choice */
		h = hash(t->seed ^ hash(i * 65537 + rank / 2));
		if (h & 4)
			return factors[h & 1];
		return factors[2 + (rank & 1)];
	case TORCOLL_MIN:
	case TORCOLL_MAX:
		return h % 9 ? (TYPE)((int)(h % 200) - 100) : h & 1024 ? (TYPE)0.0 : -(TYPE)0.0;
	case TORCOLL_PREMULSUM:
		/* four times as much, at most: what bf16 has room for, of 32 ranks */
		return (TYPE)((int)(h % 5) - 2);
	default:
		return (TYPE)((int)(h % 13) - 6);
	}
#else
	/* logical operators want zeros, and not only them */
	return h % 4 || t->op.redop < TORCOLL_LAND ? (TYPE)(h >> 8) : 0;
#endif
}

static TYPE F(combine)(enum torcoll_redop redop, TYPE a, TYPE b)
{
	switch (redop) {
#if KIND == FLOAT
	case TORCOLL_SUM:
	case TORCOLL_AVG:
	case TORCOLL_PREMULSUM:
		return a + b;
	case TORCOLL_PROD:
		return a * b;
	case TORCOLL_MIN:
		return a == b ? (signbit((double)a) ? a : b) : b < a ? b : a;
	case TORCOLL_MAX:
		return a == b ? (signbit((double)a) ? b : a) : b > a ? b : a;
#else
	case TORCOLL_SUM:
	case TORCOLL_AVG:
	case TORCOLL_PREMULSUM:
		return (TYPE)((uint64_t)a + (uint64_t)b);
	case TORCOLL_PROD:
		return (TYPE)((uint64_t)a * (uint64_t)b);
	case TORCOLL_MIN:
		return b < a ? b : a;
	case TORCOLL_MAX:
		return b > a ? b : a;
	case TORCOLL_BAND:
		return a & b;
	case TORCOLL_BOR:
		return a | b;
	case TORCOLL_BXOR:
		return a ^ b;
	case TORCOLL_LAND:
		return a && b;
	case TORCOLL_LOR:
		return a || b;
	case TORCOLL_LXOR:
		return !a != !b;
#endif
	default:
		return a;
	}
}

static void F(put)(const struct test_case *t, uint32_t rank, uint64_t i, void *to)
{
	BITS bits = STORE(F(input)(t, rank, i));

	memcpy(to, &bits, sizeof(bits));
}

static void F(factor)(const struct test_case *t, uint32_t rank, void *to)
{
	BITS bits = STORE((TYPE)(2 + (t->seed + rank) % 3));

	memcpy(to, &bits, sizeof(bits));
}

/* What rank @rank brings in. */
static TYPE F(contribution)(const struct test_case *t, uint32_t rank, uint64_t i)
{
	TYPE v = F(input)(t, rank, i);

	if (t->op.redop != TORCOLL_PREMULSUM)
		return v;
#if KIND == FLOAT
	return v * (TYPE)(2 + (t->seed + rank) % 3);
#else
	return (TYPE)((uint64_t)v * (2 + (t->seed + rank) % 3));
#endif
}

/* Element @i reduced over all ranks, in their order. */
static void F(reduce)(const struct test_case *t, uint32_t ranks, uint64_t i, void *to)
{
	TYPE v = F(contribution)(t, 0, i);
	BITS bits;

	for (uint32_t r = 1; r < ranks; r++)
		v = F(combine)(t->op.redop, v, F(contribution)(t, r, i));
	if (t->op.redop == TORCOLL_AVG)
		v /= (TYPE)ranks;
	bits = STORE(v);
	memcpy(to, &bits, sizeof(bits));
}

#undef NAME
#undef TYPE
#undef BITS
#undef KIND
#undef STORE
