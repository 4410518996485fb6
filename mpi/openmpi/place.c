// SPDX-License-Identifier: MIT
/*
 * The nodes of processes. Each tells all others its fabric and node when MPI
 * is initialised, so that all ranks of a communicator know the same of it, and
 * decide alike whether it is for torcoll.
 */
#include "coll_torcoll.h"

#include <stdlib.h>

#include "ompi/proc/proc.h"

#define FABRICS_MAX	64

/* What a process publishes. Hosts of one job have one byte order. */
struct place {
	uint64_t fabric;
	uint32_t node;
	uint32_t nodes;
};

/* The fabric that the parameter names, or the only one. */
static int place_fabric(struct torcoll_fabric *fabric)
{
	struct torcoll_fabric list[FABRICS_MAX];
	int n = torcoll_fabrics(list, FABRICS_MAX);

	for (int i = 0; coll_torcoll.fabric && i < n && i < FABRICS_MAX; i++) {
		if (list[i].key == coll_torcoll.fabric) {
			*fabric = list[i];
			return OMPI_SUCCESS;
		}
	}
	if (coll_torcoll.fabric) {
		opal_output(0, "coll:torcoll: not used: this host is not in fabric %llu",
			    coll_torcoll.fabric);
		return OMPI_ERR_NOT_AVAILABLE;
	}
	if (n == 1) {
		*fabric = list[0];
		return OMPI_SUCCESS;
	}
	if (n > 1)
		opal_output(0, "coll:torcoll: not used: this host is in %d fabrics: coll_torcoll_fabric names the key of one",
			    n);
	else
		opal_output(0, "coll:torcoll: not used: this host is in no fabric: torcollctl apply makes it a node of one");
	return OMPI_ERR_NOT_AVAILABLE;
}

int coll_torcoll_place_publish(void)
{
	struct torcoll_fabric fabric;
	struct place place;
	int ret = place_fabric(&fabric);

	if (ret != OMPI_SUCCESS)
		return ret;
	place = (struct place){
		.fabric = fabric.key,
		.node = fabric.node,
		.nodes = fabric.nodes,
	};
	OPAL_MODEX_SEND(ret, COLL_TORCOLL_TO_ALL, &coll_torcoll.super.collm_version, &place,
			sizeof(place));
	return ret;
}

static bool place_of(struct ompi_communicator_t *comm, int rank, struct place *place)
{
	struct ompi_proc_t *proc = ompi_comm_peer_lookup(comm, rank);
	struct place *published = NULL;
	size_t size = 0;
	int ret;

	/* what jobs that met later have published is not the same for all */
	if (proc->super.proc_name.jobid != OPAL_PROC_MY_NAME.jobid)
		return false;
	OPAL_MODEX_RECV(ret, &coll_torcoll.super.collm_version, &proc->super.proc_name,
			(void **)&published, &size);
	if (ret != OMPI_SUCCESS)
		return false;
	if (size == sizeof(*place))
		*place = *published;
	free(published);
	return size == sizeof(*place);
}

/* The number of different nodes among those of the ranks. */
static uint32_t count_nodes(const uint32_t *node, uint32_t size, uint32_t nodes)
{
	bool *seen = calloc(nodes, sizeof(*seen));
	uint32_t n = 0;

	for (uint32_t i = 0; seen && i < size; i++) {
		n += !seen[node[i]];
		seen[node[i]] = true;
	}
	free(seen);
	return n;
}

static bool place_ranks(struct ompi_communicator_t *comm, uint32_t *node, struct place *first)
{
	uint32_t size = ompi_comm_size(comm);
	struct place place;

	for (uint32_t i = 0; i < size; i++) {
		if (!place_of(comm, i, &place) || place.node >= place.nodes)
			return false;
		if (!i)
			*first = place;
		if (place.fabric != first->fabric || place.nodes != first->nodes)
			return false;
		node[i] = place.node;
	}
	return true;
}

uint32_t *coll_torcoll_place_nodes(struct ompi_communicator_t *comm, uint64_t *fabric)
{
	uint32_t size = ompi_comm_size(comm);
	uint32_t *node = calloc(size, sizeof(*node));
	struct place first = { 0 };

	if (!node)
		return NULL;
	if (!place_ranks(comm, node, &first)) {
		opal_output_verbose(1, coll_torcoll.output,
				    "coll:torcoll: %s is not taken: its ranks are not all on nodes of one fabric",
				    comm->c_name);
		goto not_taken;
	}
	if (count_nodes(node, size, first.nodes) < (uint32_t)coll_torcoll.min_nodes) {
		opal_output_verbose(1, coll_torcoll.output,
				    "coll:torcoll: %s is not taken: its ranks are on fewer than %d nodes",
				    comm->c_name, coll_torcoll.min_nodes);
		goto not_taken;
	}
	*fabric = first.fabric;
	return node;

not_taken:
	free(node);
	return NULL;
}
