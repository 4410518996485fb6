// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kernel's instructions by calling context, between the marks of mark.h: a plugin for QEMU, like insns.c, for one
 * processor. A block of instructions that ends in a call begins a context when another one than the next executes; a
 * return goes back to the context that has called from there, or up to DEEP further out. Interrupts are not calls: what
 * they run counts at what they interrupt.
 *
 *	qemu-system-x86_64 -plugin contexts.so,out=PREFIX ...
 *
 * The n-th end of a stretch writes PREFIX.n: a line "N number parent address" for each context, with the function that it
 * entered, and "C context address instructions entries" for each block; contexts are numbered from 0, the outermost.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin.h"

#define BUCKETS		(1U << 18)
#define DEPTH		4096
#define DEEP		64
#define KERNEL		(1ULL << 63)

enum end { END_OTHER, END_CALL, END_RETURN };

struct block {
	uint64_t address;
	uint64_t next;
	uint32_t insns;
	enum end end;
};

struct context {
	uint64_t entry;
	uint32_t parent;
	uint32_t child;
	uint32_t sibling;
};

struct counter {
	uint64_t address;
	uint64_t insns;
	uint64_t entries;
	uint32_t context;
	struct counter *next;
};

int qemu_plugin_version = 1;

static struct context *contexts;
static uint32_t known, room;
static struct counter *table[BUCKETS];
static struct {
	uint64_t back;
	uint32_t context;
} stack[DEPTH];
static int depth;
static uint32_t current;
static const struct block *last;
static const char *prefix = "contexts";
static unsigned int stretches;
static bool counting;

static void *must(void *p)
{
	if (!p)
		abort();
	return p;
}

static uint32_t context_new(uint32_t parent, uint64_t entry)
{
	if (known == room) {
		room = room ? 2 * room : 4096;
		contexts = must(realloc(contexts, room * sizeof(*contexts)));
	}
	contexts[known] = (struct context){ .entry = entry, .parent = parent };
	if (known) {
		contexts[known].sibling = contexts[parent].child;
		contexts[parent].child = known;
	}
	return known++;
}

static uint32_t context_in(uint32_t parent, uint64_t entry)
{
	uint32_t c;

	for (c = contexts[parent].child; c; c = contexts[c].sibling)
		if (contexts[c].entry == entry)
			return c;
	return context_new(parent, entry);
}

static void count(uint32_t context, uint64_t address, uint32_t insns)
{
	uint64_t hash = (address * 0x9E3779B97F4A7C15ULL ^ context * 0xC2B2AE3D27D4EB4FULL) >> 40;
	struct counter **c = &table[hash % BUCKETS];

	while (*c && ((*c)->address != address || (*c)->context != context))
		c = &(*c)->next;
	if (!*c) {
		*c = must(calloc(1, sizeof(**c)));
		(*c)->address = address;
		(*c)->context = context;
	}
	(*c)->insns += insns;
	(*c)->entries++;
}

static void enter(const struct block *b)
{
	if (depth == DEPTH)
		depth = 0;
	stack[depth].back = last->next;
	stack[depth++].context = current;
	current = context_in(current, b->address);
}

static void leave(const struct block *b)
{
	int i, low = depth > DEEP ? depth - DEEP : 0;

	for (i = depth - 1; i >= low; i--)
		if (stack[i].back == b->address)
			break;
	if (i >= low) {
		current = stack[i].context;
		depth = i;
	} else if (depth) {
		/* an indirect call through a return, as against speculation */
		current = context_in(stack[--depth].context, b->address);
	} else {
		current = context_in(0, b->address);
	}
}

static void executed(unsigned int cpu, void *data)
{
	const struct block *b = data;

	if (!counting)
		return;
	if (!(b->address & KERNEL)) {
		depth = 0;
		current = 0;
		last = NULL;
		count(0, 0, b->insns);
		return;
	}
	if (last && last->end == END_CALL && b->address != last->next)
		enter(b);
	else if (last && last->end == END_RETURN)
		leave(b);
	count(current, b->address, b->insns);
	last = b;
}

static void begin(unsigned int cpu, void *data)
{
	for (unsigned int i = 0; i < BUCKETS; i++)
		for (struct counter *c = table[i]; c; c = c->next)
			c->insns = c->entries = 0;
	depth = 0;
	current = 0;
	last = NULL;
	counting = true;
}

static void end(unsigned int cpu, void *data)
{
	char name[4096];
	FILE *f;

	counting = false;
	snprintf(name, sizeof(name), "%s.%u", prefix, ++stretches);
	f = fopen(name, "w");
	if (!f)
		return;
	for (uint32_t i = 0; i < known; i++)
		fprintf(f, "N %u %u %016" PRIx64 "\n", i, contexts[i].parent, contexts[i].entry);
	for (unsigned int i = 0; i < BUCKETS; i++)
		for (struct counter *c = table[i]; c; c = c->next)
			if (c->entries)
				fprintf(f, "C %u %016" PRIx64 " %" PRIu64 " %" PRIu64 "\n", c->context,
					c->address, c->insns, c->entries);
	fclose(f);
}

/* Calls are e8, and ff /2 with or without a REX prefix; returns c3, c2, and c3 with a prefix. */
static enum end end_of(const unsigned char *p, size_t size)
{
	bool rex = size > 2 && (p[0] & 0xf0) == 0x40;

	if (p[0] == 0xe8 || (size > 1 && p[rex] == 0xff && (p[rex + 1] >> 3 & 7) == 2))
		return END_CALL;
	if (p[0] == 0xc3 || p[0] == 0xc2 || (size == 2 && p[0] == 0xf3 && p[1] == 0xc3))
		return END_RETURN;
	return END_OTHER;
}

static void translated(uint64_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);
	struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, n - 1);
	struct block *b = must(calloc(1, sizeof(*b)));

	b->address = qemu_plugin_tb_vaddr(tb);
	b->next = qemu_plugin_insn_vaddr(insn) + qemu_plugin_insn_size(insn);
	b->insns = n;
	b->end = end_of(qemu_plugin_insn_data(insn), qemu_plugin_insn_size(insn));
	qemu_plugin_register_vcpu_tb_exec_cb(tb, executed, 0, b);
	for (size_t i = 0; i < n; i++) {
		const unsigned char *p;

		insn = qemu_plugin_tb_get_insn(tb, i);
		p = qemu_plugin_insn_data(insn);
		if (qemu_plugin_insn_size(insn) != 7 || memcmp(p, "\x0f\x1f\x80", 3) ||
		    memcmp(p + 4, "\x72\x6f\x74", 3))
			continue;
		if (p[3] == 0)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, begin, 0, NULL);
		else if (p[3] == 1)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, end, 0, NULL);
	}
}

int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv)
{
	context_new(0, 0);
	for (int i = 0; i < argc; i++)
		if (!strncmp(argv[i], "out=", 4))
			prefix = strdup(argv[i] + 4);
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
