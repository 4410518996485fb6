// SPDX-License-Identifier: MIT
/*
 * Making a module's comm. The first rank draws its name, so that it is no
 * other's; all join it, and agree whether all have succeeded. Names and results
 * go by the lower components.
 *
 * Joining blocks until all ranks have called. A thread does it, since a rank
 * may need this one's progress to come that far.
 */
#include "coll_torcoll.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#include "opal/runtime/opal_progress.h"

/* Not a name of anything else, and known to the ranks only. */
struct join_name {
	uint64_t name;
	uint64_t secret;
};

struct join {
	struct torcoll_comm_config config;
	struct torcoll_comm *comm;
	int done;		/* eventfd */
	int err;
	char why[256];
};

static int join_draw(struct coll_torcoll_module *m, struct join_name *drawn)
{
	if (!ompi_comm_rank(m->comm) && getrandom(drawn, sizeof(*drawn), 0) != sizeof(*drawn))
		*drawn = (struct join_name){ 0 };
	return m->lower.coll_bcast(drawn, sizeof(*drawn), MPI_BYTE, 0, m->comm,
				   m->lower.coll_bcast_module);
}

static void *join_thread(void *arg)
{
	struct join *join = arg;
	uint64_t one = 1;

	join->err = torcoll_comm_create(coll_torcoll.t, &join->config, &join->comm);
	if (join->err)
		snprintf(join->why, sizeof(join->why), "%s", torcoll_last_error());
	while (write(join->done, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	return NULL;
}

static int join_wait(struct join *join)
{
	struct pollfd fd = { .events = POLLIN };
	pthread_t thread;
	int err;

	join->done = eventfd(0, EFD_CLOEXEC);
	fd.fd = join->done;
	if (join->done < 0)
		return -errno;
	err = pthread_create(&thread, NULL, join_thread, join);
	if (err) {
		close(join->done);
		return -err;
	}
	while (poll(&fd, 1, 1) <= 0)
		opal_progress();
	pthread_join(thread, NULL);
	close(join->done);
	return join->err;
}

static void join_comm(struct coll_torcoll_module *m, const struct join_name *drawn,
		      struct join *join)
{
	char name[TORCOLL_NAME_MAX + 1], secret[TORCOLL_NAME_MAX + 1];

	snprintf(name, sizeof(name), "openmpi-%016" PRIx64, drawn->name);
	snprintf(secret, sizeof(secret), "%016" PRIx64, drawn->secret);
	join->config = (struct torcoll_comm_config){
		.fabric = m->fabric,
		.name = name,
		.secret = secret,
		.members = m->nodes,
		.size = ompi_comm_size(m->comm),
		.rank = ompi_comm_rank(m->comm),
		.deadline_ns = torcoll_deadline(1000ULL * coll_torcoll.timeout),
		.flags = TORCOLL_COMM_TELL,
	};
	join->err = join_wait(join);
}

static int join_all(struct coll_torcoll_module *m)
{
	struct join_name drawn = { 0 };
	struct join join = { 0 };
	int failed, any, ret;

	ret = join_draw(m, &drawn);
	if (ret != OMPI_SUCCESS)
		return ret;
	join_comm(m, &drawn, &join);
	failed = join.err != 0;
	ret = m->lower.coll_allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, m->comm,
				      m->lower.coll_allreduce_module);
	if (ret == OMPI_SUCCESS && !any) {
		m->tc = join.comm;
		opal_output_verbose(1, coll_torcoll.output,
				    "coll:torcoll: %s: %d ranks on fabric %" PRIu64 ", as comm openmpi-%016" PRIx64,
				    m->comm->c_name, ompi_comm_size(m->comm), m->fabric, drawn.name);
		return OMPI_SUCCESS;
	}
	opal_output_verbose(1, coll_torcoll.output, "coll:torcoll: %s is not taken: %s",
			    m->comm->c_name,
			    join.err ? join.why : "not all ranks could join its comm");
	torcoll_comm_close(join.comm);
	return ret == OMPI_SUCCESS ? OMPI_ERR_NOT_AVAILABLE : ret;
}

bool coll_torcoll_attach(struct coll_torcoll_module *m)
{
	uint32_t *nodes = m->nodes;

	if (!nodes)
		return false;
	if (join_all(m) == OMPI_SUCCESS)
		coll_torcoll.comms++;
	m->nodes = NULL;
	free(nodes);
	return m->tc;
}
