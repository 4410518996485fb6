// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Core's environment, except frames and ops: memory, hashes, FPU, timers, and
 * work that is deferred to the end of an entry into core.
 */
#include <stdlib.h>
#include <string.h>

#include "core/host_hash.h"
#include "sim.h"

#define PAGE		4096
/* bytes of a run: odd, and less than one or two vector registers */
#define SHATTERED	61

static bool fpu_open;
static bool in_process;		/* the FPU is always available there */

void *tor_env_alloc(size_t n)
{
	void *p;

	/* preemption is off there, and with PREEMPT_RT the allocator sleeps */
	if (fpu_open)
		sim_fail("memory is allocated in an FPU section");
	if (sim_chance(sim.scenario.no_memory)) {
		sim_meet(SIM_NO_MEMORY);
		return NULL;
	}
	p = calloc(1, n);
	if (!p)
		abort();
	sim.allocated++;
	sim.totals.allocations++;
	return p;
}

void *tor_env_frame_alloc(size_t n)
{
	void *p = tor_env_alloc(n);

	return p ? memset(p, 0xa5, n) : NULL;
}

void tor_env_free(void *p)
{
	if (fpu_open)
		sim_fail("memory is freed in an FPU section");
	if (p)
		sim.allocated--;
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
	if (sim_chance(sim.scenario.no_memory)) {
		sim_meet(SIM_NO_MEMORY);
		return false;
	}
	sim.kept += bytes;
	return true;
}

void tor_env_unkeep(struct tor_comm *comm, u32 bytes)
{
	sim.kept -= bytes;
}

/* The module waits for memory: this never fails. */
void *tor_env_table_alloc(size_t n)
{
	return calloc(1, n);
}

/* A program that is being killed does not get that far. */
bool tor_env_killed(void)
{
	return false;
}

void tor_env_table_free(void *p)
{
	free(p);
}

u32 tor_env_crc32c(u32 crc, const void *p, size_t n)
{
	/* without headers and hellos */
	if (n >= 512)
		sim.totals.summed += n;
	return host_crc32c(crc, p, n);
}

u64 tor_env_hash(const void *p, size_t n, u64 key)
{
	return host_siphash(p, n, key, 0);
}

u32 tor_env_random(void)
{
	return sim_random();
}

void *tor_env_mem(const struct tor_mem *mem, u64 off, u32 *len)
{
	u32 page = sim.scenario.shatter ? SHATTERED : PAGE;

	if (off >= mem->len || *len > mem->len - off || !*len)
		sim_fail("memory [%llu, +%u) of %llu is asked for", (unsigned long long)off, *len,
			 (unsigned long long)mem->len);
	*len = min_t(u64, *len, page - (off + mem->phase) % page);
	return mem->data + off;
}

struct tor_mem *sim_mem_new(u64 len)
{
	struct tor_mem *mem = calloc(1, sizeof(*mem));

	if (!mem)
		abort();
	/* nothing allocates 0 bytes here, so that ASan detects any access */
	mem->data = malloc(len);
	mem->len = len;
	mem->phase = sim_below(PAGE);
	mem->refs = 1;
	return mem;
}

void sim_mem_get(struct tor_mem *mem)
{
	mem->refs++;
}

void sim_mem_put(struct tor_mem *mem)
{
	if (--mem->refs)
		return;
	free(mem->data);
	free(mem);
}

bool tor_env_fpu_begin(void)
{
	if (fpu_open)
		sim_fail("an FPU section is begun in an FPU section");
	fpu_open = in_process || !sim_chance(sim.scenario.no_fpu);
	if (fpu_open)
		sim.totals.fpu_sections++;
	else
		sim_meet(SIM_NO_FPU);
	return fpu_open;
}

void tor_env_fpu_end(void)
{
	if (!fpu_open)
		sim_fail("an FPU section ends that was not begun");
	fpu_open = false;
}

void tor_env_count(struct tor_node *node, enum tor_counter what, u64 n)
{
	container_of(node, struct sim_node, core)->counters[what] += n;
}

void tor_env_drop(struct tor_ctx *ctx, struct tor_node *node, enum tor_counter why)
{
	(void)ctx;
	tor_env_count(node, why, 1);
}

static void timer_expired(void *arg)
{
	struct sim_chan *chan = arg;
	struct sim_ctx ctx;
	bool idle;

	/* replaced by another */
	if (!chan->when || sim.now < chan->when)
		return;
	chan->when = 0;
	sim_enter(&ctx, chan->rank->node);
	idle = chan->core.state == TOR_CHAN_IDLE;
	tor_chan_timer(&ctx.core, &chan->core);
	if (idle && chan->when)
		sim_fail("rank %u, slot of op %u: idle, and asks for a timer", chan->rank->number,
			 chan->core.seq);
	sim_leave(&ctx);
}

void tor_env_chan_timer(struct tor_chan *core, u64 when)
{
	struct sim_chan *chan = container_of(core, struct sim_chan, core);

	chan->when = when;
	sim_at(max(when, sim.now) + sim_below(sim.scenario.timer_slack), chan->rank->node,
	       timer_expired, chan);
}

static void pay(void *arg)
{
	struct sim_rank *r = arg;
	struct sim_ctx ctx;

	/* of a comm that has ended since */
	if (!r->pays || sim.now < r->pays)
		return;
	r->pays = 0;
	sim_enter(&ctx, r->node);
	tor_comm_pay(&ctx.core, &r->core);
	sim_leave(&ctx);
}

void tor_env_comm_timer(struct tor_comm *comm, u64 when)
{
	struct sim_rank *r = container_of(comm, struct sim_rank, core);

	if (r->pays)
		sim_fail("rank %u asks for a second timer of its comm", r->number);
	r->pays = when;
	sim_at(when + sim_below(sim.scenario.timer_slack), r->node, pay, r);
}

static void work(void *arg)
{
	struct sim_chan *chan = arg;
	struct sim_ctx ctx;
	bool more;

	chan->works = false;
	in_process = true;
	sim_enter(&ctx, chan->rank->node);
	more = tor_chan_work(&ctx.core, &chan->core);
	in_process = false;
	sim_leave(&ctx);
	if (more)
		tor_env_chan_work(NULL, &chan->core);
}

void tor_env_chan_work(struct tor_ctx *ctx, struct tor_chan *core)
{
	struct sim_chan *chan = container_of(core, struct sim_chan, core);

	if (chan->works)
		return;
	chan->works = true;
	sim_meet(SIM_BUDGET);
	sim_at(sim.now + (sim.scenario.swift ? 0 : sim_below(NSEC_PER_USEC)), chan->rank->node, work,
	       chan);
}

struct tor_budget tor_env_budget(void)
{
	struct tor_budget b = TOR_BUDGET;

	if (sim.scenario.budget_bytes)
		b.bytes = sim.scenario.budget_bytes;
	if (sim.scenario.budget_frames)
		b.frames = b.steps = sim.scenario.budget_frames;
	return b;
}

void tor_env_op_retired(struct tor_ctx *core, struct tor_op *core_op)
{
	struct sim_ctx *ctx = container_of(core, struct sim_ctx, core);
	struct sim_op *op = container_of(core_op, struct sim_op, core);

	op->next = ctx->retired;
	ctx->retired = op;
}

void tor_env_comm_told(struct tor_comm *comm)
{
	if (!atomic_read(&comm->claimed))
		container_of(comm, struct sim_rank, core)->told = true;
}

const struct tor_op *tor_env_comm_op(struct tor_comm *comm, u32 rank, u8 role, u32 peer, u32 seq)
{
	const struct sim_series *series =
		sim_series_find(container_of(comm, struct sim_rank, core), role, peer);

	return series ? &sim_slot(series, seq)->core : NULL;
}

void tor_env_comm_explained(struct tor_comm *comm)
{
}

void tor_env_comm_failed(struct tor_ctx *core, struct tor_comm *comm)
{
	struct sim_ctx *ctx = container_of(core, struct sim_ctx, core);

	ctx->failed[ctx->nfailed++] = container_of(comm, struct sim_rank, core);
}

bool tor_env_join_failed(const struct tor_join *join)
{
	return tor_comm_failed(&container_of(join, struct sim_rank, join)->core);
}

void tor_env_join_done(struct tor_ctx *core, struct tor_join *join)
{
	struct sim_ctx *ctx = container_of(core, struct sim_ctx, core);

	ctx->joined[ctx->njoined++] = container_of(join, struct sim_rank, join);
}

void tor_env_host_name(const struct tor_node *core, char *name)
{
	snprintf(name, TORCOLL_HOST_NAME + 1, "node%u", core->self);
}

u32 tor_env_cable_sent(const struct tor_node *core, u32 cable)
{
	return container_of(core, struct sim_node, core)->port[cable].sent;
}

void tor_env_link_changed(struct tor_ctx *ctx, struct tor_node *core, u32 cable)
{
	struct sim_node *node = container_of(core, struct sim_node, core);
	struct sim_port *p = &node->port[cable];
	u32 port = tor_cable_link(cable);
	char name[HOST_PORT_TEXT];

	sim_trace(node, "cable %u of link %s is %s", tor_cable_place(cable),
		  host_port_print(name, tor_port_dim(&core->torus, port),
				  tor_port_dir(&core->torus, port)),
		  tor_cable_state_name(core->cable[cable].state));
	if (p->up && core->cable[cable].state != TOR_CABLE_UP)
		p->fell = sim.now;
	p->up = core->cable[cable].state == TOR_CABLE_UP;
	sim_packets_disturbed();
	sim_judge_paths();
}

void sim_enter(struct sim_ctx *ctx, struct sim_node *node)
{
	memset(ctx, 0, sizeof(*ctx));
	ctx->core.now = sim.now;
	ctx->node = node;
	ctx->last_frame = &ctx->frames;
	/*
	 * at times there is no budget, as in the module when softirqs have had
	 * the processor for long
	 */
	if (sim.scenario.budget_frames && !in_process && !sim_below(4))
		ctx->core.sent = tor_env_budget().frames;
}

void sim_leave(struct sim_ctx *ctx)
{
	struct tor_budget most = tor_env_budget();
	struct sim_op *op;

	if (fpu_open)
		sim_fail("an FPU section is left open");
	/* a kept frame, or an element, may exceed the budget */
	if (ctx->core.moved >= (u64)most.bytes + sim.scenario.frame_size || ctx->core.sent > most.frames)
		sim_fail("an entry has moved %u bytes and sent %u frames", ctx->core.moved,
			 ctx->core.sent);
	while (ctx->frames || ctx->nfailed || ctx->retired || ctx->njoined) {
		sim_frames_send(ctx);
		if (ctx->nfailed)
			sim_rank_failed(ctx, ctx->failed[--ctx->nfailed]);
		if (ctx->njoined)
			sim_rank_joined(ctx->joined[--ctx->njoined]);
		op = ctx->retired;
		if (op) {
			ctx->retired = op->next;
			sim_op_recycle(ctx, op);
		}
	}
	sim_judge_event(ctx->node);
	sim_kind_look(ctx->node);
}
