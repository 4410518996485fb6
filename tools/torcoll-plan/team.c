// SPDX-License-Identifier: GPL-2.0
/*
 * Plans of ranks of which several share a node. The module plans by nodes; here
 * each buffer of a node becomes one of the rank that has it, so that the dump
 * reads as if every rank had a node of its own. See dump.h.
 */
#include "dump.h"

#include "core/seats.h"

#include <stdlib.h>

/* What plans by nodes: see struct tor_call. */
struct team {
	struct tor_team_map map;
	u32 *words;
	u32 *node;			/* of the fabric, by number in the map */
};

static void team_make(struct team *team, const struct tor_call *call)
{
	team->words = dump_alloc(TOR_TEAM_MAP_WORDS(call->ranks), sizeof(*team->words));
	team->node = dump_alloc(call->ranks, sizeof(*team->node));
	memcpy(team->node, call->members, call->ranks * sizeof(*team->node));
	tor_team_map_make(&team->map, team->node, call->ranks, team->words);
}

static void team_free(struct team *team)
{
	free(team->words);
	free(team->node);
}

/* A node's vectors come first, then temporaries, both by seats: find the rank's. */
static u32 buffer_rank(const struct team *team, u32 node, u16 *buf)
{
	u32 seats = tor_team_seats(&team->map, node), seat = *buf % seats;

	*buf /= seats;
	return tor_team_rank_in(&team->map, node, seat);
}

static void add_piece(struct dump *d, const struct team *team, u32 t, struct tor_piece x)
{
	x.src = buffer_rank(team, x.src, &x.sbuf);
	x.dst = buffer_rank(team, x.dst, &x.dbuf);
	dump_add_piece(d, 0, t, &x);
}

static void add_round(struct dump *d, const struct team *team, const struct tor_plan *p, u32 t)
{
	struct tor_cursor c;
	struct tor_piece x;

	tor_plan_begin(p, 0, t, &c);
	while (tor_plan_next(p, &c, &x))
		if (x.dst == p->rank)
			add_piece(d, team, t, x);
}

/* After the plan, a node copies the result of an allreduce to its other ranks. */
static void add_copies(struct dump *d, const struct team *team, u32 node, u32 t)
{
	u32 seat, last = tor_team_seats(&team->map, node) - 1;

	for (seat = 0; seat < last; seat++)
		add_piece(d, team, t, (struct tor_piece){
			.src = node, .dst = node, .sbuf = last, .dbuf = seat,
			.op = TOR_PIECE_COPY, .n = d->count,
		});
}

bool dump_shares_nodes(const struct tor_call *call)
{
	struct team team;
	bool shares;

	if (!call->members || call->algorithm != TORCOLL_RING ||
	    !(DUMP_CHAINED >> call->collective & 1))
		return false;
	team_make(&team, call);
	shares = team.map.nodes < call->ranks;
	team_free(&team);
	return shares;
}

int dump_make_team(struct dump *d, const struct tor_call *call, const char **why)
{
	struct tor_call by_nodes = *call;
	struct tor_plan *plans, first;
	struct team team;
	u32 node, t;
	int err = 0;

	team_make(&team, call);
	by_nodes.members = team.node;
	by_nodes.ranks = team.map.nodes;
	by_nodes.team = &team.map;
	plans = dump_alloc(team.map.nodes, sizeof(*plans));
	for (node = 0; node < team.map.nodes && !err; node++)
		err = tor_plan_init(&plans[node], &by_nodes, node, why);
	if (!err) {
		first = plans[0];
		first.shape.bufs /= first.shape.vectors;
		dump_begin(d, call, &first);
		for (t = 0; t < first.shape.rounds; t++)
			for (node = 0; node < team.map.nodes; node++)
				add_round(d, &team, &plans[node], t);
		for (node = 0; call->collective == TORCOLL_ALLREDUCE && node < team.map.nodes; node++)
			add_copies(d, &team, node, t);
	}
	free(plans);
	team_free(&team);
	return err;
}
