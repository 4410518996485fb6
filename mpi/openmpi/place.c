// SPDX-License-Identifier: MIT
/*
 * The nodes of processes. Each tells all others its fabric and node when MPI
 * is initialised, so that all ranks of a communicator know the same of it, and
 * decide alike whether it is for torcoll.
 */
#include "coll_torcoll.h"

#include <inttypes.h>
#include <stdlib.h>

#include "ompi/proc/proc.h"

#include "../common/fabric.h"

#define FABRICS_MAX	64

/* What a process publishes. Hosts of one job have one byte order. */
struct place {
	uint64_t fabric;
	uint32_t node;
	uint32_t nodes;
};

/* What this process publishes. */
static struct place own;

static int place_fabric(struct torcoll_fabric *fabric)
{
	struct torcoll_fabric list[FABRICS_MAX];
	const struct torcoll_fabric *found;
	struct tmpi_fabric wanted = { 0 };
	int n;

	if (!tmpi_fabric_parse(coll_torcoll.fabric, &wanted)) {
		opal_output(0, "coll:torcoll: not used: coll_torcoll_fabric: \"%s\" is not the key of a fabric",
			    coll_torcoll.fabric);
		return OMPI_ERR_NOT_AVAILABLE;
	}
	n = torcoll_fabrics(list, FABRICS_MAX);
	found = tmpi_fabric_pick(&wanted, list, FABRICS_MAX, n);
	if (found) {
		*fabric = *found;
		return OMPI_SUCCESS;
	}
	if (wanted.named)
		opal_output(0, "coll:torcoll: not used: this host is not in fabric %" PRIu64,
			    wanted.key);
	else if (n > 1)
		opal_output(0, "coll:torcoll: not used: this host is in %d fabrics: coll_torcoll_fabric names the key of one",
			    n);
	else
		opal_output(0, "coll:torcoll: not used: this host is in no fabric: torcollctl apply makes it a node of one");
	return OMPI_ERR_NOT_AVAILABLE;
}

int coll_torcoll_place_publish(void)
{
	struct torcoll_fabric fabric;
	int ret;

	if (coll_torcoll_is_early()) {
		opal_output(0, "coll:torcoll: not used: opal_pmix_base_async_modex is set, so ranks cannot agree on which communicators are for it");
		return OMPI_ERR_NOT_AVAILABLE;
	}
	ret = place_fabric(&fabric);
	if (ret != OMPI_SUCCESS)
		return ret;
	own = (struct place){
		.fabric = fabric.key,
		.node = fabric.node,
		.nodes = fabric.nodes,
	};
	OPAL_MODEX_SEND(ret, COLL_TORCOLL_TO_ALL, &coll_torcoll.super.collm_version, &own,
			sizeof(own));
	return ret;
}

/* Processes that have published nothing: each costs a wait, once. Under coll_torcoll.lock. */
static opal_process_name_t *absent;
static size_t nabsent;

static bool is_absent(const opal_process_name_t *name)
{
	bool found = false;

	OPAL_THREAD_LOCK(&coll_torcoll.lock);
	for (size_t i = 0; i < nabsent && !found; i++)
		found = absent[i].jobid == name->jobid && absent[i].vpid == name->vpid;
	OPAL_THREAD_UNLOCK(&coll_torcoll.lock);
	return found;
}

/* Another thread may have done so meanwhile; that does not matter. */
static void remember_absent(const opal_process_name_t *name)
{
	opal_process_name_t *more;

	OPAL_THREAD_LOCK(&coll_torcoll.lock);
	more = realloc(absent, (nabsent + 1) * sizeof(*more));
	/* without memory it is waited for again */
	if (more) {
		absent = more;
		absent[nabsent++] = *name;
	}
	OPAL_THREAD_UNLOCK(&coll_torcoll.lock);
}

static int place_of(struct ompi_communicator_t *comm, int rank, struct place *place)
{
	struct ompi_proc_t *proc = ompi_comm_peer_lookup(comm, rank);
	struct place *published = NULL;
	size_t size = 0;
	int ret;

	/* what jobs that met later have published is not the same for all */
	if (proc->super.proc_name.jobid != OPAL_PROC_MY_NAME.jobid)
		return OMPI_ERR_NOT_AVAILABLE;
	if (is_absent(&proc->super.proc_name))
		return OMPI_ERR_NOT_AVAILABLE;
	ret = coll_torcoll_recv(&coll_torcoll.super.collm_version, &proc->super.proc_name,
				(void **)&published, &size);
	/* the others know what this rank cannot */
	if (ret == OMPI_ERR_OUT_OF_RESOURCE)
		ompi_rte_abort(1, "coll:torcoll: out of memory");
	if (ret != OMPI_SUCCESS) {
		remember_absent(&proc->super.proc_name);
		return OMPI_ERR_NOT_AVAILABLE;
	}
	if (size == sizeof(*place))
		*place = *published;
	free(published);
	return size == sizeof(*place) ? OMPI_SUCCESS : OMPI_ERR_NOT_AVAILABLE;
}

/*
 * Find the nodes of all ranks. Without memory for @node they are not written
 * down, but what is decided here and below is what other ranks decide.
 */
static int place_ranks(struct ompi_communicator_t *comm, uint32_t *node)
{
	uint32_t size = ompi_comm_size(comm);
	struct place place = { 0 };
	int ret;

	for (uint32_t i = 0; i < size; i++) {
		ret = place_of(comm, i, &place);
		if (ret != OMPI_SUCCESS)
			return ret;
		if (place.fabric != own.fabric || place.nodes != own.nodes || place.node >= place.nodes)
			return OMPI_ERR_NOT_AVAILABLE;
		if (node)
			node[i] = place.node;
	}
	return OMPI_SUCCESS;
}

/* Return the lowest node of a rank from @from on, or that there is none: the number of nodes. */
static uint32_t place_next(struct ompi_communicator_t *comm, const uint32_t *node, uint32_t from)
{
	uint32_t size = ompi_comm_size(comm), next = own.nodes;
	struct place place = { 0 };

	for (uint32_t i = 0; i < size; i++) {
		if (node)
			place.node = node[i];
		else
			place_of(comm, i, &place);
		if (place.node >= from && place.node < next)
			next = place.node;
	}
	return next;
}

/* Whether there are as many different nodes as wanted, which are few, among those of the ranks. */
static bool place_suffices(struct ompi_communicator_t *comm, const uint32_t *node)
{
	uint32_t next = 0;

	for (int n = 0; n < coll_torcoll.min_nodes; n++) {
		next = place_next(comm, node, next);
		if (next == own.nodes)
			return false;
		next++;
	}
	return true;
}

static bool place_find(struct ompi_communicator_t *comm, uint32_t *node)
{
	if (place_ranks(comm, node) != OMPI_SUCCESS) {
		opal_output_verbose(1, coll_torcoll.output,
				    "coll:torcoll: %s is not taken: its ranks are not all on nodes of one fabric, or some do without torcoll",
				    comm->c_name);
		return false;
	}
	if (place_suffices(comm, node))
		return true;
	opal_output_verbose(1, coll_torcoll.output,
			    "coll:torcoll: %s is not taken: its ranks are on fewer than %d nodes",
			    comm->c_name, coll_torcoll.min_nodes);
	return false;
}

int coll_torcoll_place_nodes(struct ompi_communicator_t *comm, uint32_t **nodes, uint64_t *fabric)
{
	uint32_t *node = calloc(ompi_comm_size(comm), sizeof(*node));

	if (!place_find(comm, node)) {
		free(node);
		return OMPI_ERR_NOT_AVAILABLE;
	}
	*nodes = node;
	*fabric = own.fabric;
	return node ? OMPI_SUCCESS : OMPI_ERR_OUT_OF_RESOURCE;
}
