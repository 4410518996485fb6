// SPDX-License-Identifier: MIT
/* The module of a communicator: made with it, enabled, and freed. */
#include "coll_torcoll.h"

#include <stddef.h>
#include <stdlib.h>

#include "../common/comms.h"

/* Where a communicator's table of functions has the module of each; 0 ends. */
#define MODULE_OF(name)	offsetof(mca_coll_base_comm_coll_t, coll_##name##_module),
static const size_t lower_offsets[] = { COLL_TORCOLL_FUNCTIONS(MODULE_OF) 0 };

static mca_coll_base_module_t *module_lower(const struct coll_torcoll_module *m, size_t i)
{
	return *(mca_coll_base_module_t **)((char *)&m->lower + lower_offsets[i]);
}

static void module_construct(struct coll_torcoll_module *m)
{
	m->prev = NULL;
	m->comm = NULL;
	m->tc = NULL;
	m->tried = false;
	m->part = false;
	m->short_of_comms = false;
	m->nodes = NULL;
	m->lower_held = false;
	m->failed = false;
}

static void module_link(struct coll_torcoll_module *m)
{
	OPAL_THREAD_LOCK(&coll_torcoll.lock);
	m->next = coll_torcoll.modules;
	m->prev = &coll_torcoll.modules;
	if (m->next)
		m->next->prev = &m->next;
	coll_torcoll.modules = m;
	OPAL_THREAD_UNLOCK(&coll_torcoll.lock);
}

static void module_unlink(struct coll_torcoll_module *m)
{
	OPAL_THREAD_LOCK(&coll_torcoll.lock);
	*m->prev = m->next;
	if (m->next)
		m->next->prev = m->prev;
	OPAL_THREAD_UNLOCK(&coll_torcoll.lock);
}

/*
 * A communicator is from now on one by which Open MPI implements an
 * intercommunicator. MPI_Comm_idup of that calls ireduce and ibcast of the part
 * from opal_progress(), so at a place that differs from rank to rank among the
 * blocking calls of it, and the kernel matches calls by their order: those that do
 * not block are left. Open MPI 5.0 has called the part before it is one, in
 * MPI_Intercomm_create_from_groups, on all ranks alike.
 */
static void modules_note_part(const struct ompi_communicator_t *comm)
{
	OPAL_THREAD_LOCK(&coll_torcoll.lock);
	for (struct coll_torcoll_module *m = coll_torcoll.modules; m; m = m->next)
		m->part |= m->comm == comm;
	OPAL_THREAD_UNLOCK(&coll_torcoll.lock);
}

/* Requests hold the module: when it goes, no op runs. */
static void module_destruct(struct coll_torcoll_module *m)
{
	if (m->prev)
		module_unlink(m);
	for (size_t i = 0; m->lower_held && lower_offsets[i]; i++) {
		mca_coll_base_module_t *lower = module_lower(m, i);

		OBJ_RELEASE(lower);
	}
	tmpi_close(m->tc);
	free(m->nodes);
}

OBJ_CLASS_INSTANCE(coll_torcoll_module_t, mca_coll_base_module_t, module_construct, module_destruct);

/* Remember the functions of the lower components. */
static bool module_hold_lower(struct coll_torcoll_module *m)
{
	m->lower = *m->comm->c_coll;
	for (size_t i = 0; lower_offsets[i]; i++)
		if (!module_lower(m, i))
			return false;
	for (size_t i = 0; lower_offsets[i]; i++)
		OBJ_RETAIN(module_lower(m, i));
	m->lower_held = true;
	return true;
}

/*
 * Called in the order of priorities: what the communicator has now is what the
 * lower components offer. A module that is not enabled is dropped.
 */
static int module_enable(mca_coll_base_module_t *module, struct ompi_communicator_t *comm)
{
	struct coll_torcoll_module *m = (struct coll_torcoll_module *)module;

	if (!module_hold_lower(m)) {
		opal_output_verbose(1, coll_torcoll.output,
				    "coll:torcoll: %s is not taken: components of lower priority do not offer all collectives",
				    comm->c_name);
		return OMPI_ERR_NOT_FOUND;
	}
	return OMPI_SUCCESS;
}

/*
 * What is short of memory at this rank is not at others, who are going to wait for
 * it in the first call: so it has a module that tells them. Without one they would
 * wait for ever.
 */
static struct coll_torcoll_module *module_new(void)
{
	struct coll_torcoll_module *m = OBJ_NEW(coll_torcoll_module_t);

	if (!m)
		ompi_rte_abort(1, "coll:torcoll: out of memory");
	return m;
}

mca_coll_base_module_t *coll_torcoll_comm_query(struct ompi_communicator_t *comm, int *priority)
{
	struct coll_torcoll_module *m;
	uint32_t *nodes = NULL;
	uint64_t fabric = 0;

	*priority = -1;
	if (OMPI_COMM_IS_INTER(comm)) {
		modules_note_part(comm->c_local_comm);
		return NULL;
	}
	if (ompi_comm_size(comm) < 2 ||
	    coll_torcoll_place_nodes(comm, &nodes, &fabric) == OMPI_ERR_NOT_AVAILABLE)
		return NULL;
	m = module_new();
	m->comm = comm;
	m->nodes = nodes;
	m->fabric = fabric;
	module_link(m);
	m->super.coll_module_enable = module_enable;
	coll_torcoll_set_functions(&m->super);
	coll_torcoll_set_persistent(&m->super);
	*priority = coll_torcoll.priority;
	return &m->super;
}
