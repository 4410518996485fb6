/* SPDX-License-Identifier: MIT */
/*
 * Open MPI's collective component torcoll: what its files share.
 *
 * A process has one context of libtorcoll. Each communicator whose processes
 * are on nodes of one fabric gets a comm of its own, by agreement of all ranks,
 * in its first blocking call: ranks can wait for each other there, and nowhere
 * before, since a communicator may be made by a call that does not block. From
 * then on a rank decides by itself which calls run in the kernel, only by what
 * is equal on all ranks; for others it calls the component of the next lower
 * priority, which the module remembers.
 *
 * Locking: coll_torcoll.lock protects the lists of active requests, of modules, and
 * of processes without a place. Nothing is called under it that could call MPI.
 */
#ifndef COLL_TORCOLL_H
#define COLL_TORCOLL_H

#include "ompi_config.h"

#include "mpi.h"
#include "ompi/communicator/communicator.h"
#include "ompi/constants.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/coll/base/coll_base_util.h"
#include "ompi/mca/coll/coll.h"
#include "ompi/request/request.h"
#include "opal/class/opal_list.h"
#include "opal/util/output.h"

#include <torcoll.h>

#include "../common/describe.h"
#include "../common/type.h"
#include "compat.h"
#include "internal.h"

/* All functions of a module that have a lower one. */
#define COLL_TORCOLL_FUNCTIONS(F)								\
	F(allgather) F(allgatherv) F(allreduce) F(alltoall) F(alltoallv) F(alltoallw)		\
	F(barrier) F(bcast) F(exscan) F(gather) F(gatherv) F(reduce) F(reduce_scatter)		\
	F(reduce_scatter_block) F(scan) F(scatter) F(scatterv)					\
	F(iallgather) F(iallgatherv) F(iallreduce) F(ialltoall) F(ialltoallv) F(ialltoallw)	\
	F(ibarrier) F(ibcast) F(iexscan) F(igather) F(igatherv) F(ireduce)			\
	F(ireduce_scatter) F(ireduce_scatter_block) F(iscan) F(iscatter) F(iscatterv)		\
	F(allgather_init) F(allgatherv_init) F(allreduce_init) F(alltoall_init)			\
	F(alltoallv_init) F(alltoallw_init) F(barrier_init) F(bcast_init) F(exscan_init)	\
	F(gather_init) F(gatherv_init) F(reduce_init) F(reduce_scatter_init)			\
	F(reduce_scatter_block_init) F(scan_init) F(scatter_init) F(scatterv_init)

struct coll_torcoll_component {
	coll_torcoll_base_t super;
	/* parameters */
	int priority;
	bool enable;
	int verbose;
	int min_nodes;
	char *fabric;
	unsigned long long min_bytes;
	unsigned long long max_bytes;
	int timeout;
	/* state */
	int output;
	struct torcoll *t;
	opal_mutex_t lock;
	opal_list_t active;			/* requests that are not complete */
	struct coll_torcoll_module *modules;
	bool progressing;
	uint64_t taken;
	uint64_t left[TMPI_WHYS];
	uint32_t comms;
};

extern struct coll_torcoll_component mca_coll_torcoll_component;
#define coll_torcoll	mca_coll_torcoll_component

struct coll_torcoll_module {
	mca_coll_base_module_t super;
	struct coll_torcoll_module *next, **prev;	/* of all */
	struct ompi_communicator_t *comm;
	struct torcoll_comm *tc;	/* NULL: not attached */
	bool tried;			/* to attach */
	bool part;			/* of an intercommunicator: see module.c */
	bool short_of_comms;		/* a join failed, or a rank may not ask: on all ranks, for persistent calls */
	uint32_t *nodes;		/* of the ranks; NULL: no memory for it */
	uint64_t fabric;
	mca_coll_base_comm_coll_t lower;
	bool lower_held;
	bool failed;			/* and this was reported */
};

/* Open MPI's classes are named by one word. */
typedef struct coll_torcoll_module coll_torcoll_module_t;
OBJ_CLASS_DECLARATION(coll_torcoll_module_t);

struct coll_torcoll_again;

/*
 * A non-blocking call, or one that can be started again and again. Open MPI holds
 * the types and operators of the former.
 */
struct coll_torcoll_request {
	ompi_coll_base_nbc_request_t super;	/* on the list of active ones */
	struct coll_torcoll_module *module;
	struct tmpi_call call;
	struct torcoll_request req;
	int status;
	char why[TORCOLL__SENTENCE_MAX];	/* of @status: calls of others may fail before it is told */
	struct coll_torcoll_again *again;	/* NULL: a call that runs once */
};

typedef struct coll_torcoll_request coll_torcoll_request_t;
OBJ_CLASS_DECLARATION(coll_torcoll_request_t);

/* ---- place.c: the nodes of processes ---- */

/* Find this process's node, and tell all others. An Open MPI error code. */
int coll_torcoll_place_publish(void);

/*
 * Find the nodes of a communicator's ranks, which are to be freed, and the fabric.
 * OMPI_ERR_NOT_AVAILABLE: they are not all on nodes of one fabric, or on fewer
 * nodes than wanted: all ranks find the same. OMPI_ERR_OUT_OF_RESOURCE: not so.
 */
int coll_torcoll_place_nodes(struct ompi_communicator_t *comm, uint32_t **nodes, uint64_t *fabric);

/* ---- module.c ---- */

mca_coll_base_module_t *coll_torcoll_comm_query(struct ompi_communicator_t *comm, int *priority);

/* ---- join.c ---- */

/*
 * Make the comm of a module, unless that was tried before. Collective: all ranks
 * return the same.
 */
bool coll_torcoll_attach(struct coll_torcoll_module *m);

/*
 * Make a comm of the ranks of a module, another one if it is attached. Collective. All
 * ranks get one, or all NULL, and then know whether they are short of comms; the caller
 * closes it. @has_memory: for what it is to have beside the comm.
 */
struct torcoll_comm *coll_torcoll_join(struct coll_torcoll_module *m, bool has_memory);

/* ---- run.c ---- */

/* Run a described call, and wait for it. @err: of its description. An error code of MPI. */
int coll_torcoll_run(struct coll_torcoll_module *m, struct tmpi_call *call, int err);

/*
 * Report the failure of a call, and let the other ranks know. @sentence: the
 * library's. An error code of MPI.
 */
int coll_torcoll_failed(struct coll_torcoll_module *m, const struct tmpi_call *call, int err,
			const char *sentence);

/* ---- pending.c ---- */

/* Return whether Open MPI may have to make progress while a call waits. */
bool coll_torcoll_pending(void);

/* ---- progress.c ---- */

struct coll_torcoll_request *coll_torcoll_request_new(struct coll_torcoll_module *m);
void coll_torcoll_request_drop(struct coll_torcoll_request *req);

/* Submit a described call to a comm, and have opal_progress() complete it. A negative errno. */
int coll_torcoll_submit(struct coll_torcoll_request *req, struct torcoll_comm *tc);

/* Complete a request, of which the status is known. */
void coll_torcoll_complete(struct coll_torcoll_request *req);

/* Start a described call. @err: of its description. An error code of MPI. */
int coll_torcoll_start(struct coll_torcoll_module *m, struct tmpi_call *call, int err,
		       ompi_request_t **request);

/* The callback of opal_progress(): complete what is done. */
int coll_torcoll_progress(void);

/* ---- functions.c ---- */

void coll_torcoll_set_functions(mca_coll_base_module_t *module);

/* ---- persistent.c ---- */

void coll_torcoll_set_persistent(mca_coll_base_module_t *module);

/* The comm of a persistent request has failed at this rank; free what the request has. */
void coll_torcoll_again_abort(struct coll_torcoll_again *again);
void coll_torcoll_again_free(struct coll_torcoll_again *again);

/* Return whether a blocking call can run in the kernel. */
static inline bool coll_torcoll_attached(struct coll_torcoll_module *m)
{
	return m->tc || coll_torcoll_attach(m);
}

/* Return whether a call that must not wait for other ranks can run in the kernel. */
static inline bool coll_torcoll_may_start(struct coll_torcoll_module *m)
{
	if (m->part)
		return false;
	if (!m->tc && !m->tried)
		tmpi_leave(TMPI_EARLY);
	return m->tc;
}

/* Describe a call of this module. */
static inline void coll_torcoll_begin(const struct coll_torcoll_module *m, struct tmpi_call *call)
{
	tmpi_call_init(call, ompi_comm_rank(m->comm), ompi_comm_size(m->comm));
}

#endif
