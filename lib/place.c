// SPDX-License-Identifier: MIT
/*
 * The comm of a launcher's job. Its ranks are those of the launcher, whatever
 * the order in which that went through the hosts: no rank knows the nodes of
 * the others, so they first meet in the order of the nodes and tell each other
 * their ranks. If that is the launcher's order, which it mostly is, the comm is
 * made; otherwise they join another one with the right order.
 */
#include <stdlib.h>

#include "internal.h"
#include "launcher.h"

/* Set the node of each rank, with so many ranks on each. */
static uint32_t *nodes_in_order(uint32_t first, uint32_t size, uint32_t per_node)
{
	uint32_t *node = calloc(size, sizeof(*node));

	for (uint32_t i = 0; node && i < size; i++)
		node[i] = first + i / per_node;
	return node;
}

static int check_place(const struct torcoll__launcher *l, const struct torcoll_sys_fabric *fabric,
		       uint32_t hosts)
{
	if (!l->local_size || l->size % l->local_size)
		return torcoll__fail(-EINVAL, "%s has not started the same number of ranks on each host: list the node of each rank in TORCOLL_MEMBERS",
				     l->name);
	if (hosts > fabric->nodes)
		return torcoll__fail(-EINVAL, "%s has started ranks on %u hosts, and the fabric has %u nodes",
				     l->name, hosts, fabric->nodes);
	if (hosts > 1 && fabric->node >= hosts)
		return torcoll__fail(-EINVAL, "%s has started ranks on %u hosts, which are not the first %u of the fabric's nodes, as this is node %u: list the node of each rank in TORCOLL_MEMBERS",
				     l->name, hosts, hosts, fabric->node);
	return 0;
}

/*
 * Set the node of each of the launcher's ranks from the order of a comm's ranks.
 * Return 1 if the orders are the same, 0 if not, or -EPROTO: these are not the
 * ranks of one job.
 */
static int sort_nodes(const struct torcoll_comm *comm, const uint32_t *launcher_rank,
		      uint32_t *node)
{
	bool same = true;

	for (uint32_t i = 0; i < comm->size; i++)
		node[i] = UINT32_MAX;
	for (uint32_t i = 0; i < comm->size; i++) {
		uint32_t rank = launcher_rank[i];

		if (rank >= comm->size || node[rank] != UINT32_MAX)
			return -EPROTO;
		node[rank] = comm->members[i];
		same &= rank == i;
	}
	return same;
}

/*
 * Tell the launcher's rank to all, and learn the node of each, within the time
 * for joining. As sort_nodes().
 */
static int exchange_ranks(struct torcoll_comm *comm, const struct torcoll__launcher *l,
			  uint64_t deadline_ns, uint32_t *node)
{
	uint32_t *rank = calloc(comm->size, sizeof(*rank));
	struct torcoll_op op = torcoll__blocks_op(TORCOLL_ALLGATHER, &l->rank, rank, comm->size,
						  TORCOLL_U32);
	int ret;

	if (!rank)
		return torcoll__fail(-ENOMEM, "comm %s: out of memory", comm->name);
	op.deadline_ns = deadline_ns;
	ret = torcoll_run(comm, &op);
	if (!ret) {
		ret = sort_nodes(comm, rank, node);
		if (ret < 0)
			torcoll__fail(ret, "comm %s has ranks of two jobs: set TORCOLL_COMM, differently for each",
				      comm->name);
	}
	free(rank);
	return ret;
}

int torcoll__place(struct torcoll *t, const struct torcoll_comm_config *caller,
		   const struct torcoll__launcher *l, const struct torcoll_sys_fabric *fabric,
		   struct torcoll_comm **comm)
{
	uint32_t hosts = l->local_size ? l->size / l->local_size : 0, first = 0;
	struct torcoll_comm_config config = *caller;
	struct torcoll_comm *made;
	uint32_t *node;
	int ret = check_place(l, fabric, hosts);

	if (ret)
		return ret;
	if (hosts == 1)
		first = fabric->node;
	node = nodes_in_order(first, l->size, l->local_size);
	if (!node)
		return torcoll__fail(-ENOMEM, "comm %s: out of memory", config.name);
	config.members = node;
	config.size = l->size;
	config.rank = (fabric->node - first) * l->local_size + l->local_rank;
	ret = torcoll_comm_create(t, &config, &made);
	if (ret)
		goto out;
	ret = exchange_ranks(made, l, config.deadline_ns, node);
	if (ret == 1) {
		*comm = made;
		ret = 0;
		goto out;
	}
	torcoll_comm_close(made);
	if (!ret) {
		config.rank = l->rank;
		ret = torcoll_comm_create(t, &config, comm);
	}
out:
	free(node);
	return ret;
}
