// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Frames. A frame sent without a copy refers to its sender's memory. Whether
 * its payload is read when it leaves, as by a network card, or when it arrives,
 * as over veth, is drawn per frame.
 */
#include <stdio.h>
#include <stdlib.h>

#include "core/host_hash.h"
#include "core/wire/accept.h"
#include "sim.h"

u32 sim_frame_payload(const struct sim_frame *f)
{
	u32 len = f->linear_len;
	u32 i;

	for (i = 0; i < f->ranges; i++)
		len += f->range[i].len;
	return len;
}

static struct sim_frame *frame_alloc(void)
{
	struct sim_frame *f = calloc(1, sizeof(*f));

	if (!f)
		abort();
	list_add_tail(&f->all, &sim.all_frames);
	return f;
}

static void refer(struct sim_frame *f, const struct tor_range *range)
{
	struct tor_range *to = &f->range[f->ranges++];

	*to = *range;
	sim_mem_get(to->mem);
	if (to->off > to->mem->len || to->len > to->mem->len - to->off)
		sim_fail("a frame of [%llu, +%llu) of memory of %llu", (unsigned long long)to->off,
			 (unsigned long long)to->len, (unsigned long long)to->mem->len);
}

static u32 payload_crc(const struct sim_frame *f)
{
	u32 crc = ~0U;
	u32 i;

	if (f->linear)
		return ~host_crc32c(crc, f->linear, f->linear_len);
	for (i = 0; i < f->ranges; i++)
		crc = host_crc32c(crc, f->range[i].mem->data + f->range[i].off,
				     f->range[i].len);
	return ~crc;
}

struct sim_frame *sim_frame_new(struct sim_node *from, const struct tor_frame *frame)
{
	struct sim_frame *f = frame_alloc();
	u32 i;

	f->from = from;
	f->from_life = from->life;
	f->data = frame->data;
	f->hdr_len = frame->hdr_len;
	memcpy(f->hdr, frame->hdr, frame->hdr_len);
	f->type = f->hdr[1];
	sim_kind_sent(f);
	if (frame->linear_len) {
		f->linear = malloc(frame->linear_len);
		memcpy(f->linear, frame->linear, frame->linear_len);
		f->linear_len = frame->linear_len;
	}
	for (i = 0; i < frame->ranges && !sim.failed; i++)
		refer(f, &frame->range[i]);
	f->crc = sim.failed ? 0 : payload_crc(f);
	if (frame->copy)
		sim_frame_copy(f);
	f->late = sim_chance(sim.scenario.late_payload);
	return f;
}

static void drop_ranges(struct sim_frame *f)
{
	u32 i;

	for (i = 0; i < f->ranges; i++) {
		f->given_up |= f->range[i].mem->given_up;
		sim_mem_put(f->range[i].mem);
	}
	f->ranges = 0;
}

void sim_frame_free(struct sim_frame *f)
{
	drop_ranges(f);
	free(f->linear);
	list_del(&f->all);
	free(f);
}

void sim_frame_copy(struct sim_frame *f)
{
	u8 *to;
	u32 i;

	if (f->linear || !f->ranges)
		return;
	to = malloc(sim_frame_payload(f));
	f->linear = to;
	for (i = 0; i < f->ranges; i++) {
		memcpy(to + f->linear_len, f->range[i].mem->data + f->range[i].off,
		       f->range[i].len);
		f->linear_len += f->range[i].len;
	}
	drop_ranges(f);
}

struct sim_frame *sim_frame_clone(const struct sim_frame *f)
{
	struct sim_frame *clone = frame_alloc();
	struct list_head all = clone->all;
	u32 i;

	*clone = *f;
	clone->all = all;
	for (i = 0; i < f->ranges; i++)
		sim_mem_get(f->range[i].mem);
	if (f->linear) {
		clone->linear = malloc(f->linear_len);
		memcpy(clone->linear, f->linear, f->linear_len);
	}
	return clone;
}

struct tor_bytes *sim_frame_pieces(const struct sim_frame *f, u32 *n)
{
	struct tor_bytes *b = malloc((sim_frame_payload(f) + 1) * sizeof(*b));
	u64 at, run;
	u32 i, len;

	*n = 0;
	for (i = 0; i < f->ranges; i++) {
		for (at = 0; at < f->range[i].len; at += len) {
			len = f->range[i].len - at;
			b[*n].p = tor_env_mem(f->range[i].mem, f->range[i].off + at, &len);
			b[(*n)++].len = len;
		}
	}
	for (at = 0; at < f->linear_len; at += run) {
		run = f->linear_len - at;
		if (sim.scenario.shatter)
			run = min_t(u64, run, sim_below(200));
		b[*n].p = f->linear + at;
		b[(*n)++].len = run;
		/* an empty piece at times, but not without end */
		if (!run)
			b[*n - 1].len = run = 1;
	}
	return b;
}

static const char *type_name(u32 type)
{
	static const char *const names[] = {
		"?", "hello", "data", "ack", "abort", "comm", "echo", "packet",
	};

	return names[type < ARRAY_SIZE(names) ? type : 0];
}

static void describe_acks(const struct sim_frame *f, u32 count, char *to, u32 room)
{
	static const char *const states[] = { "ok", "not-ready", "done", "absent", "past" };
	enum tor_counter why;
	struct tor_ack a;
	u32 i, n = 0;

	for (i = 0; i < count && n < room; i++) {
		if (!tor_wire_ack(f->hdr, i, &a, &why))
			continue;
		n += snprintf(to + n, room - n,
			      " [comm %08x op %u ch %u round %u %s base %u mask %llx]", a.comm, a.op,
			      tor_where_channel(&a.where), tor_where_round(&a.where), states[a.state], a.base,
			      (unsigned long long)a.mask);
	}
}

void sim_frame_trace(const struct sim_node *node, const char *what, const struct sim_frame *f)
{
	enum tor_counter why;
	char acks[512] = "";
	struct tor_hdr h;

	if (!sim_options.trace || f->hello ||
	    tor_wire_parse(f->hdr, f->hdr_len, f->hdr_len + sim_frame_payload(f), &h, &why))
		return;
	describe_acks(f, h.acks, acks, sizeof(acks));
	if (h.type == TORCOLL_FRAME_DATA)
		sim_trace(node, "%s %u->%u comm %08x op %u ch %u round %u [%llu, +%u)%s%s%s%s", what,
			  h.src, h.dst, h.comm, h.op, tor_where_channel(&h.where), tor_where_round(&h.where),
			  (unsigned long long)h.offset, h.length,
			  h.flags & TORCOLL_FLAG_ACK ? " ack!" : "",
			  h.flags & TORCOLL_FLAG_RETRANSMIT ? " again" : "",
			  h.flags & TORCOLL_FLAG_PROBE ? " probe" : "", acks);
	else
		sim_trace(node, "%s %u->%u %s%s", what, h.src, h.dst, type_name(h.type), acks);
}
