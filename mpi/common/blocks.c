// SPDX-License-Identifier: MIT
/* Buffers of MPI as bytes in one piece: see blocks.h. */
#include "blocks.h"

#include <errno.h>
#include <stdlib.h>

#include "type.h"

char tmpi_nothing[8];

static struct tmpi_part blocks_part(const struct tmpi_blocks *b, uint32_t i)
{
	MPI_Datatype type = b->types ? b->types[i] : b->type;
	int count = b->counts ? b->counts[i] : b->count;
	ptrdiff_t at = b->displs ? b->displs[i] : (ptrdiff_t)i * count;

	/* of a block of no elements there may be no type */
	if (!b->types && at && count)
		at *= tmpi_type_extent(type);
	return (struct tmpi_part){ .addr = b->base + at, .count = count, .type = type };
}

static bool part_valid(int count, MPI_Datatype type)
{
	return !count || (count > 0 && type != MPI_DATATYPE_NULL);
}

bool tmpi_blocks_valid(const struct tmpi_blocks *b)
{
	if (!b->counts && !b->types)
		return part_valid(b->count, b->type);
	for (uint32_t i = 0; i < b->n; i++)
		if (!part_valid(b->counts ? b->counts[i] : b->count,
				b->types ? b->types[i] : b->type))
			return false;
	return true;
}

static uint64_t part_bytes(const struct tmpi_part *part)
{
	return part->count ? (uint64_t)part->count * tmpi_type_size(part->type) : 0;
}

uint64_t tmpi_block_bytes(const struct tmpi_blocks *b, uint32_t i)
{
	struct tmpi_part part = blocks_part(b, i);

	return part_bytes(&part);
}

uint64_t tmpi_blocks_bytes(const struct tmpi_blocks *b, uint32_t n)
{
	uint64_t bytes = 0;

	if (!b->counts && !b->types)
		return n * tmpi_block_bytes(b, 0);
	for (uint32_t i = 0; i < n; i++)
		bytes += tmpi_block_bytes(b, i);
	return bytes;
}

/* The first byte if all blocks together lie in one piece and in order. */
static char *blocks_flat(const struct tmpi_blocks *b)
{
	char *first = NULL, *addr;
	uint64_t bytes = 0, length;

	for (uint32_t i = 0; i < b->n; i++) {
		struct tmpi_part part = blocks_part(b, i);

		length = part_bytes(&part);
		if (!length)
			continue;
		addr = tmpi_type_flat(part.type, part.count, part.addr);
		if (!addr || (first && addr != first + bytes))
			return NULL;
		if (!first)
			first = addr;
		bytes += length;
	}
	return first ? first : tmpi_nothing;
}

static int flat_alloc(struct tmpi_flat *flat, const struct tmpi_blocks *b)
{
	int err;

	flat->scratch = malloc(tmpi_blocks_bytes(b, b->n) + 1);
	flat->parts = calloc(b->n, sizeof(*flat->parts));
	if (!flat->scratch || !flat->parts)
		return -ENOMEM;
	flat->addr = flat->scratch;
	/* those that are counted hold their types */
	for (flat->n = 0; flat->n < b->n; flat->n++) {
		struct tmpi_part *part = &flat->parts[flat->n];

		*part = blocks_part(b, flat->n);
		err = part->count ? tmpi_type_hold(&part->type) : 0;
		if (err)
			return err;
	}
	return 0;
}

static void flat_drop_parts(struct tmpi_flat *flat)
{
	for (uint32_t i = 0; i < flat->n; i++)
		if (flat->parts[i].count)
			tmpi_type_release(flat->parts[i].type);
	free(flat->parts);
	flat->parts = NULL;
	flat->n = 0;
}

int tmpi_flat_fill(struct tmpi_flat *flat, uint32_t first, uint32_t n)
{
	char *at = flat->addr;
	int err = 0;

	for (uint32_t i = 0; i < flat->n && i < first + n && !err; i++) {
		const struct tmpi_part *part = &flat->parts[i];

		if (i >= first && part_bytes(part))
			err = tmpi_type_pack(part->type, part->count, part->addr, at);
		at += part_bytes(part);
	}
	return err;
}

int tmpi_blocks_copy(struct tmpi_flat *flat, const struct tmpi_blocks *b)
{
	int err = flat_alloc(flat, b);

	if (!err)
		err = tmpi_flat_fill(flat, 0, b->n);
	/* nothing is unpacked to what was read */
	flat_drop_parts(flat);
	return err;
}

int tmpi_blocks_in(struct tmpi_flat *flat, const struct tmpi_blocks *b)
{
	flat->addr = blocks_flat(b);
	return flat->addr ? 0 : tmpi_blocks_copy(flat, b);
}

int tmpi_blocks_out(struct tmpi_flat *flat, const struct tmpi_blocks *b)
{
	flat->addr = blocks_flat(b);
	return flat->addr ? 0 : flat_alloc(flat, b);
}

int tmpi_flat_unpack(const struct tmpi_flat *flat)
{
	const char *at = flat->addr;
	int err = 0;

	for (uint32_t i = 0; i < flat->n && !err; i++) {
		const struct tmpi_part *part = &flat->parts[i];

		if (part_bytes(part))
			err = tmpi_type_unpack(part->type, part->count, part->addr, at);
		at += part_bytes(part);
	}
	return err;
}

void tmpi_flat_free(struct tmpi_flat *flat)
{
	flat_drop_parts(flat);
	free(flat->scratch);
	flat->scratch = NULL;
}
