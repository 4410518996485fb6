// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The model beside frames: plans are executed by the cores of a fabric without
 * faults, on cables, and by hosts, that are what the model assumes. What is left
 * of the difference is what the model does not know of: frames that wait for
 * others, rounds that are not in step, acknowledgements.
 */
#include "model.h"

#include "core/reduce/host_isa.h"
#include "sim.h"

#define CALLS		2		/* to get to know the paths, and to measure */
#define OVERHEAD	38		/* preamble, MAC header, FCS, gap: see cable.c */

/*
 * A message to a neighbour takes the delay and the time of a header, and so does
 * a further hop: @link is for bytes of payload, and counts the headers of full
 * frames.
 */
struct tor_rates model_cable_rates(const struct model_cable *cable)
{
	u32 unit = tor_wire_unit(cable->frame_size), more = OVERHEAD + sizeof(struct torcoll_hdr);
	u64 fs = 8000000000ULL / cable->rate;
	u64 hop = 1000 * cable->delay + fs * more / 1000;

	return (struct tor_rates){ .e = hop, .f = hop, .link = fs * (unit + more) / unit };
}

void model_frames_begin(void)
{
	enum tor_isa isa;

	for (isa = TOR_ISA_COUNT - 1; isa && !host_has_isa(isa); isa--)
		;
	tor_reduce_init(isa);
}

static void frames_call(struct sim_call *call, const struct model_run *run,
			const struct model_row *row)
{
	const u32 *param = row->offer->param;

	*call = (struct sim_call){
		.collective = run->collective,
		.algorithm = row->offer->algorithm,
		.type = TORCOLL_I64,
		.redop = TORCOLL_SUM,
		.bits = TORCOLL_BITS_RELAXED,
		.channels = param[TORCOLL_PARAM_CHANNELS],
		.r = param[TORCOLL_PARAM_R],
		.blocks = param[TORCOLL_PARAM_BLOCKS],
		.variant = param[TORCOLL_PARAM_VARIANT],
		.chunks = param[TORCOLL_PARAM_CHUNKS],
		.count = max_t(u64, row->bytes / sizeof(u64), 1),
	};
}

static void frames_scenario(struct sim_scenario *s, const struct model_run *run,
			    const struct model_cable *cable, const struct model_row *row)
{
	struct sim_group_spec *g = &s->group[0];
	u32 i;

	*s = (struct sim_scenario){
		.seed = 1,
		.torus = run->fabric.torus,
		.cables = run->fabric.torus.cables,
		.per_link = 1,
		.frame_size = cable->frame_size,
		.delay = cable->delay,
		.rate = cable->rate,
		.queue = 1 << 20,
		.acks_first = !cable->in_order,
		.no_checksum = true,
		.swift = true,
		.hello = 200 * NSEC_PER_MSEC,
		.lockstep = true,
		.groups = 1,
	};
	g->ranks = run->fabric.torus.nodes;
	g->whole = true;
	g->depth = 1;
	g->calls = CALLS;
	for (i = 0; i < CALLS; i++)
		frames_call(&g->call[i], run, row);
	/* all ranks call at once, and long after the first op, whatever that took */
	g->pace = 10 * NSEC_PER_SEC + 10 * row->time / 1000;
}

u64 model_frames_run(const struct model_run *run, const struct model_cable *cable,
		     const struct model_row *row)
{
	sim_options.limit = 1000 * (u64)NSEC_PER_SEC;
	frames_scenario(&sim.scenario, run, cable, row);
	if (sim_run())
		return sim.took;
	fprintf(stderr, "torcoll-sim: %s, %s, %s, %llu bytes: %s\n", run->fabric.name,
		tor_collective_name(run->collective), tor_algorithm_name(row->offer->algorithm),
		(unsigned long long)row->bytes, sim.why);
	return 0;
}
