/* SPDX-License-Identifier: MIT */
/*
 * Buffers of MPI, and the bytes in them as libtorcoll takes them: in one piece.
 * A buffer whose data already lies so is used as it is; others are packed into
 * memory of their own, and unpacked from it.
 */
#ifndef TORCOLL_MPI_BLOCKS_H
#define TORCOLL_MPI_BLOCKS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/**
 * struct tmpi_blocks - a buffer of a call, as the program describes it
 * @base: address
 * @n: number of blocks: 1, or that of the ranks
 * @counts: elements of each block; NULL: @count each
 * @count: elements of each block
 * @displs: where blocks begin, in extents of the type, in bytes with @types;
 *	NULL: one after the other
 * @type: of the elements
 * @types: of the elements of each block; NULL: @type
 */
struct tmpi_blocks {
	char *base;
	uint32_t n;
	const int *counts;
	int count;
	const int *displs;
	MPI_Datatype type;
	const MPI_Datatype *types;
};

/* One block of them. */
struct tmpi_part {
	char *addr;
	int count;
	MPI_Datatype type;
};

/**
 * struct tmpi_flat - the bytes of a buffer, in one piece
 * @addr: where they are, never NULL
 * @parts: what to unpack them to; NULL if they are at their place already
 * @n: number of @parts
 * @scratch: memory to free
 */
struct tmpi_flat {
	char *addr;
	struct tmpi_part *parts;
	uint32_t n;
	char *scratch;
};

/* Buffers as MPI has them: equal blocks in a row, and blocks at any place. */
static inline struct tmpi_blocks tmpi_blocks(const void *buf, uint32_t n, int count,
					     MPI_Datatype type)
{
	return (struct tmpi_blocks){ .base = (char *)buf, .n = n, .count = count, .type = type };
}

static inline struct tmpi_blocks tmpi_blocks_at(const void *buf, uint32_t n, const int *counts,
						const int *displs, MPI_Datatype type)
{
	return (struct tmpi_blocks){
		.base = (char *)buf,
		.n = n,
		.counts = counts,
		.displs = displs,
		.type = type,
	};
}

/* Where a buffer is that has no bytes. */
extern char tmpi_nothing[8];

/* Return whether no count is negative, and elements have a type, as the other functions require. */
bool tmpi_blocks_valid(const struct tmpi_blocks *b);

uint64_t tmpi_block_bytes(const struct tmpi_blocks *b, uint32_t i);

/* Bytes of the first @n blocks. */
uint64_t tmpi_blocks_bytes(const struct tmpi_blocks *b, uint32_t n);

/*
 * Flatten a buffer that is read, or one that is written. Return 0 or -ENOMEM, or
 * what packing returns. Call tmpi_flat_free() in any case.
 */
int tmpi_blocks_in(struct tmpi_flat *flat, const struct tmpi_blocks *b);
int tmpi_blocks_out(struct tmpi_flat *flat, const struct tmpi_blocks *b);

/* Flatten into memory of its own, though the buffer may be in one piece. */
int tmpi_blocks_copy(struct tmpi_flat *flat, const struct tmpi_blocks *b);

/*
 * Pack blocks @first to @first + @n - 1 of a flattened output to where their
 * bytes belong in it, if they are not there.
 */
int tmpi_flat_fill(struct tmpi_flat *flat, uint32_t first, uint32_t n);

/* Move the bytes of a flattened output to where the program wants them. */
int tmpi_flat_unpack(const struct tmpi_flat *flat);
void tmpi_flat_free(struct tmpi_flat *flat);

#endif
