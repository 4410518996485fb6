// SPDX-License-Identifier: MIT
/* Running a call and waiting for it, and failures. */
#include "coll_torcoll.h"

#include <errno.h>

#include "opal/runtime/opal_progress.h"

#include "../common/wait.h"

int tmpi_leave(enum tmpi_why why)
{
	static const char *const reasons[TMPI_WHYS] = {
		[TMPI_OPERATOR] = "for its operator or type",
		[TMPI_SIZE] = "for its size",
		[TMPI_EARLY] = "as no blocking call came before",
	};

	coll_torcoll.left[why]++;
	opal_output_verbose(2, coll_torcoll.output, "coll:torcoll: a call is left %s", reasons[why]);
	return TMPI_LEFT;
}

bool tmpi_aside(uint64_t bytes)
{
	return bytes < coll_torcoll.min_bytes ||
	       (coll_torcoll.max_bytes && bytes > coll_torcoll.max_bytes);
}

/* Open MPI yields by itself, if it is told to. */
void tmpi_progress(bool polling)
{
	opal_progress();
}

int coll_torcoll_failed(struct coll_torcoll_module *m, const struct tmpi_call *call, int err,
			const char *sentence)
{
	const char *name = torcoll_collective_name(call->op.collective);

	if (!m->failed)
		opal_output(0, "coll:torcoll: %s on %s: %s", name ? name : "collective",
			    m->comm->c_name, tmpi_call_why(call, sentence));
	m->failed = true;
	/* the others wait for this rank, unless it was they who failed */
	torcoll_abort(m->tc);
	return err == -ENOMEM ? MPI_ERR_NO_MEM : MPI_ERR_OTHER;
}

int coll_torcoll_run(struct coll_torcoll_module *m, struct tmpi_call *call, int err)
{
	coll_torcoll.taken++;
	tmpi_call_described(call, err);
	if (!err && call->op.collective)
		err = tmpi_run(m->tc, &call->op, coll_torcoll_pending());
	err = tmpi_call_finish(call, err);
	return err ? coll_torcoll_failed(m, call, err, torcoll_last_error()) : MPI_SUCCESS;
}
