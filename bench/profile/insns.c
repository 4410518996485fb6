// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A plugin for QEMU that counts how often a guest executed each of the kernel's instructions between the marks of mark.h:
 *
 *	qemu-system-x86_64 -plugin insns.so,out=PREFIX ...
 *
 * The n-th end of a stretch writes PREFIX.n: a line "address count" for each address that was executed, and "user count"
 * for what was not the kernel. For one processor: counts are plain additions.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin.h"

#define BUCKETS		(1U << 20)	/* of addresses */
#define KERNEL		(1ULL << 63)

struct counter {
	uint64_t address;
	uint64_t count;
	struct counter *next;
};

int qemu_plugin_version = 1;

static struct counter *table[BUCKETS];
static struct counter user;
static const char *prefix = "insns";
static unsigned int stretches;

static struct counter *counter_of(uint64_t address)
{
	struct counter **c = &table[(address ^ address >> 20) % BUCKETS];

	if (!(address & KERNEL))
		return &user;
	for (; *c; c = &(*c)->next)
		if ((*c)->address == address)
			return *c;
	*c = calloc(1, sizeof(**c));
	if (!*c)
		abort();
	(*c)->address = address;
	return *c;
}

static void begin(unsigned int cpu, void *data)
{
	struct counter *c;

	user.count = 0;
	for (unsigned int i = 0; i < BUCKETS; i++)
		for (c = table[i]; c; c = c->next)
			c->count = 0;
}

static void end(unsigned int cpu, void *data)
{
	struct counter *c;
	char name[4096];
	FILE *f;

	snprintf(name, sizeof(name), "%s.%u", prefix, ++stretches);
	f = fopen(name, "w");
	if (!f)
		return;
	for (unsigned int i = 0; i < BUCKETS; i++)
		for (c = table[i]; c; c = c->next)
			if (c->count)
				fprintf(f, "%016" PRIx64 " %" PRIu64 "\n", c->address, c->count);
	fprintf(f, "user %" PRIu64 "\n", user.count);
	fclose(f);
}

static void translated(uint64_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);

	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		struct counter *c = counter_of(qemu_plugin_insn_vaddr(insn));
		const unsigned char *p = qemu_plugin_insn_data(insn);

		qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64, &c->count, 1);
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
	for (int i = 0; i < argc; i++)
		if (!strncmp(argv[i], "out=", 4))
			prefix = strdup(argv[i] + 4);
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
