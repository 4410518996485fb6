// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * What becomes of frames, by their kind, and what a fabric needs from its start
 * to the first result: figures to compare sizes of fabrics by.
 */
#include <stdio.h>

#include "core/counter.h"
#include "sim.h"

static const char *const kind_names[SIM_KINDS] = {
	[TORCOLL_FRAME_HELLO] = "hello",
	[TORCOLL_FRAME_DATA] = "data",
	[TORCOLL_FRAME_ACK] = "ack",
	[TORCOLL_FRAME_ABORT] = "abort",
	[TORCOLL_FRAME_COMM] = "comm",
	[TORCOLL_FRAME_ECHO] = "echo",
	[TORCOLL_FRAME_PACKET] = "packet",
};

void sim_kind_sent(const struct sim_frame *f)
{
	sim.totals.kind[f->type].sent++;
}

void sim_kind_crossed(const struct sim_frame *f)
{
	sim.totals.kind[f->type].crossed++;
}

void sim_kind_ended(u8 type, enum tor_counter why)
{
	struct sim_kind *k = &sim.totals.kind[type];

	k->hop_limit += why == TOR_C_DROP_HOP_LIMIT;
	k->no_route += why == TOR_C_DROP_NO_ROUTE || why == TOR_C_TX_NO_ROUTE;
}

void sim_kind_look(struct sim_node *node)
{
	bool whole = node->alive && node->changes == node->core.view.changes &&
		     !tor_link_count_dead(&node->core);

	if (whole == node->whole)
		return;
	node->whole = whole;
	sim.whole += whole ? 1 : -1;
	if (sim.whole == sim.scenario.torus.nodes)
		sim.totals.settled = sim.now - NSEC_PER_SEC;
}

void sim_kind_served(u32 seq)
{
	u32 i;

	if (seq != 1)
		return;
	sim.totals.served = sim.now - NSEC_PER_SEC;
	sim.totals.crossed = 0;
	for (i = 0; i < SIM_KINDS; i++)
		sim.totals.crossed += sim.totals.kind[i].crossed;
}

void sim_kind_report(const struct sim_totals *t)
{
	u64 nodes = t->nodes ? t->nodes : 1, n = t->seeds ? t->seeds : 1;
	const struct sim_kind *k;

	printf("\n%-16s %14s %14s %14s %11s %11s\n", "frames of", "sent", "links crossed", "per node",
	       "hop limit", "no route");
	for (k = t->kind; k < t->kind + SIM_KINDS; k++)
		if (k->sent)
			printf("%-16s %14llu %14llu %14.1f %11llu %11llu\n", kind_names[k - t->kind],
			       (unsigned long long)k->sent, (unsigned long long)k->crossed,
			       (double)k->crossed / nodes, (unsigned long long)k->hop_limit,
			       (unsigned long long)k->no_route);
	printf("%-24s %14.3f ms\n", "links known", (double)t->settled / n / 1e6);
	printf("%-24s %14.3f ms\n", "first result", (double)t->served / n / 1e6);
	printf("%-24s %14.1f\n", "frames per node to it", (double)t->crossed / nodes);
}
