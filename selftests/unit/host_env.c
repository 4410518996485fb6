// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Core's surroundings in unit tests. See host_env.h.
 */
#include "host_env.h"

#include <sys/mman.h>
#include <unistd.h>

#include "core/host_hash.h"

#pragma weak tor_env_alloc
#pragma weak tor_env_free
#pragma weak tor_env_frame_alloc
#pragma weak tor_env_frame_free
#pragma weak tor_env_shared_alloc
#pragma weak tor_env_shared_free
#pragma weak tor_env_shared_size
#pragma weak tor_env_keep
#pragma weak tor_env_unkeep
#pragma weak tor_env_table_alloc
#pragma weak tor_env_table_free
#pragma weak tor_env_crc32c
#pragma weak tor_env_hash
#pragma weak tor_env_random
#pragma weak tor_env_mem
#pragma weak tor_env_fpu_begin
#pragma weak tor_env_fpu_end
#pragma weak tor_env_count
#pragma weak tor_env_drop
#pragma weak tor_env_send
#pragma weak tor_env_chan_timer
#pragma weak tor_env_comm_timer
#pragma weak tor_env_chan_work
#pragma weak tor_env_budget
#pragma weak tor_env_op_done
#pragma weak tor_env_op_retired
#pragma weak tor_env_comm_failed
#pragma weak tor_env_comm_told
#pragma weak tor_env_comm_op
#pragma weak tor_env_comm_explained
#pragma weak tor_env_join_install
#pragma weak tor_env_join_failed
#pragma weak tor_env_join_done
#pragma weak tor_env_shrink_install
#pragma weak tor_env_shrink_done
#pragma weak tor_env_heritage
#pragma weak tor_env_link_changed
#pragma weak tor_env_view_changed
#pragma weak tor_env_host_name
#pragma weak tor_env_cable_sent

struct host host = { .fail_after = ~0U, .killed_after = ~0U };

void host_forget_sent(void)
{
	u32 i;

	for (i = 0; i < host.nsent; i++)
		free(host.sent[i].bytes);
	free(host.sent);
	host.sent = NULL;
	host.nsent = 0;
}

void host_reset(void)
{
	host_forget_sent();
	memset(&host, 0, sizeof(host));
	host.fail_after = ~0U;
	host.killed_after = ~0U;
	host.keep_most = ~0ULL;
	host.random = 1;
}

void host_check_idle(void)
{
	assert_int_equal(host.outstanding, 0);
	assert_int_equal(host.kept, 0);
	assert_int_equal(host.fpu_sections, 0);
}

/* splitmix64 */
u64 host_rand(u64 *state)
{
	u64 x = *state += 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

void host_fill(void *p, size_t n, u64 *state)
{
	u8 *b = p;

	while (n--)
		*b++ = host_rand(state);
}

static size_t host_guarded_pages(size_t n)
{
	size_t page = sysconf(_SC_PAGESIZE);

	return (n + page - 1) / page * page;
}

void *host_guarded(size_t n)
{
	size_t page = sysconf(_SC_PAGESIZE);
	size_t bytes = host_guarded_pages(n);
	u8 *p = mmap(NULL, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		     -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	assert_int_equal(mprotect(p + bytes, page, PROT_NONE), 0);
	return p + bytes - n;
}

void host_guarded_free(void *p, size_t n)
{
	size_t page = sysconf(_SC_PAGESIZE);
	size_t bytes = host_guarded_pages(n);

	munmap((u8 *)p + n - bytes, bytes + page);
}

void *tor_env_alloc(size_t n)
{
	u32 i = host.allocs++;
	void *p;

	if (i >= host.fail_after || (i < 64 && host.fail_mask & BIT_ULL(i)))
		return NULL;
	p = calloc(1, n);
	assert_non_null(p);
	host.outstanding++;
	return p;
}

void *tor_env_frame_alloc(size_t n)
{
	void *p = tor_env_alloc(n);

	return p ? memset(p, 0xa5, n) : NULL;
}

void tor_env_free(void *p)
{
	if (p)
		host.outstanding--;
	free(p);
}

void tor_env_frame_free(void *p, size_t n)
{
	/* the module looks at @n: here it must at least be memory */
	if (p)
		memset(p, 0x5a, n);
	tor_env_free(p);
}

u32 tor_env_shared_size(size_t n)
{
	return n;
}

void *tor_env_shared_alloc(size_t n)
{
	return tor_env_frame_alloc(n);
}

void tor_env_shared_free(void *p, size_t n)
{
	tor_env_frame_free(p, n);
}

bool tor_env_keep(struct tor_comm *comm, u32 bytes)
{
	if (bytes > host.keep_most - host.kept)
		return false;
	host.kept += bytes;
	return true;
}

void tor_env_unkeep(struct tor_comm *comm, u32 bytes)
{
	host.kept -= bytes;
}

void *tor_env_table_alloc(size_t n)
{
	host.table_allocs++;
	host.table_bytes += n;
	return tor_env_alloc(n);
}

bool tor_env_killed(void)
{
	return ++host.looks > host.killed_after;
}

void tor_env_table_free(void *p)
{
	tor_env_free(p);
}

u32 tor_env_crc32c(u32 crc, const void *p, size_t n)
{
	return host_crc32c(crc, p, n);
}

u64 tor_env_hash(const void *p, size_t n, u64 key)
{
	return host_siphash(p, n, key, 0);
}

u32 tor_env_random(void)
{
	return host_rand(&host.random);
}

static bool host_mem_breaks(const struct tor_mem *mem, u64 off)
{
	u64 state = off * 0x100000001b3ULL ^ mem->seed;

	if (mem->run && off % mem->run == mem->phase % mem->run)
		return true;
	return mem->odds && host_rand(&state) % mem->odds == 0;
}

void *tor_env_mem(const struct tor_mem *mem, u64 off, u32 *len)
{
	u32 run = 1;

	assert_true(*len > 0);
	assert_true(off < mem->len && *len <= mem->len - off);
	if (mem->run || mem->odds) {
		while (run < *len && !host_mem_breaks(mem, off + run))
			run++;
		*len = run;
	}
	return mem->data + off;
}

bool tor_env_fpu_begin(void)
{
	if (host.no_fpu)
		return false;
	host.fpu_sections++;
	return true;
}

void tor_env_fpu_end(void)
{
	assert_true(host.fpu_sections > 0);
	host.fpu_sections--;
}

void tor_env_count(struct tor_node *node, enum tor_counter what, u64 n)
{
	(void)node;
	assert_in_range(what, 0, TOR_C_COUNT - 1);
	host.counters[what] += n;
}

void tor_env_drop(struct tor_ctx *ctx, struct tor_node *node, enum tor_counter why)
{
	(void)ctx;
	tor_env_count(node, why, 1);
}

static u32 host_gather(u8 *to, const struct tor_range *range)
{
	u64 done = 0;
	u32 run;
	void *p;

	while (done < range->len) {
		run = range->len - done;
		p = tor_env_mem(range->mem, range->off + done, &run);
		memcpy(to + done, p, run);
		done += run;
	}
	return done;
}

int tor_env_send(struct tor_ctx *ctx, struct tor_node *node, const struct tor_frame *frame)
{
	u32 len = frame->hdr_len + frame->linear_len;
	struct host_frame *f;
	u32 i;

	(void)ctx;
	(void)node;
	if (host.send_error)
		return host.send_error;
	for (i = 0; i < frame->ranges; i++)
		len += frame->range[i].len;
	host.sent = realloc(host.sent, (host.nsent + 1) * sizeof(*host.sent));
	assert_non_null(host.sent);
	f = &host.sent[host.nsent++];
	f->port = frame->cable;
	f->dst = frame->dst;
	f->tie = frame->tie;
	f->copy = frame->copy;
	f->bytes = malloc(len);
	assert_non_null(f->bytes);
	memcpy(f->bytes, frame->hdr, frame->hdr_len);
	f->len = frame->hdr_len;
	for (i = 0; i < frame->ranges; i++)
		f->len += host_gather(f->bytes + f->len, &frame->range[i]);
	if (frame->linear_len)
		memcpy(f->bytes + f->len, frame->linear, frame->linear_len);
	f->len += frame->linear_len;
	return 0;
}

void tor_env_chan_timer(struct tor_chan *chan, u64 when)
{
	host.timer_chan = chan;
	host.timer_when = when;
}

void tor_env_comm_timer(struct tor_comm *comm, u64 when)
{
	host.pay_comm = comm;
	host.pay_when = when;
}

void tor_env_chan_work(struct tor_ctx *ctx, struct tor_chan *chan)
{
	(void)ctx;
	(void)chan;
	host.works_asked++;
}

struct tor_budget tor_env_budget(void)
{
	struct tor_budget budget = host.budget.bytes ? host.budget : TOR_BUDGET;

	if (!budget.steps)
		budget.steps = TOR_BUDGET.steps;
	return budget;
}

void tor_env_op_done(struct tor_ctx *ctx, struct tor_op *op)
{
	(void)ctx;
	(void)op;
	host.ops_done++;
}

void tor_env_op_retired(struct tor_ctx *ctx, struct tor_op *op)
{
	(void)ctx;
	(void)op;
	host.ops_retired++;
}

void tor_env_comm_told(struct tor_comm *comm)
{
	(void)comm;
	host.comms_told++;
}

const struct tor_op *tor_env_comm_op(struct tor_comm *comm, u32 rank, u8 role, u32 peer, u32 seq)
{
	(void)comm;
	(void)seq;
	return NULL;
}

void tor_env_comm_explained(struct tor_comm *comm)
{
	(void)comm;
}

void tor_env_comm_failed(struct tor_ctx *ctx, struct tor_comm *comm)
{
	(void)ctx;
	(void)comm;
	host.comms_failed++;
}

int tor_env_join_install(struct tor_ctx *ctx, struct tor_join *join)
{
	(void)ctx;
	(void)join;
	return 0;
}

bool tor_env_join_failed(const struct tor_join *join)
{
	(void)join;
	return false;
}

void tor_env_join_done(struct tor_ctx *ctx, struct tor_join *join)
{
	(void)ctx;
	(void)join;
	host.joins_done++;
}

int tor_env_shrink_install(struct tor_ctx *ctx, struct tor_shrink *shrink)
{
	(void)ctx;
	(void)shrink;
	return 0;
}

void tor_env_shrink_done(struct tor_ctx *ctx, struct tor_shrink *shrink)
{
	(void)ctx;
	(void)shrink;
}

int tor_env_heritage(struct tor_node *node, u64 lineage, u32 asking, u32 epoch)
{
	(void)node;
	(void)lineage;
	(void)asking;
	(void)epoch;
	return 0;
}

void tor_env_link_changed(struct tor_ctx *ctx, struct tor_node *node, u32 port)
{
	(void)ctx;
	(void)node;
	(void)port;
	host.links_changed++;
}

void tor_env_view_changed(struct tor_ctx *ctx, struct tor_node *node)
{
	(void)ctx;
	(void)node;
	host.views_changed++;
}

void tor_env_host_name(const struct tor_node *node, char *name)
{
	(void)node;
	snprintf(name, TORCOLL_HOST_NAME + 1, "%s", host.name ? host.name : "");
}

u32 tor_env_cable_sent(const struct tor_node *node, u32 port)
{
	(void)node;
	(void)port;
	return host.port_sent;
}
