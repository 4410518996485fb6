/* SPDX-License-Identifier: MIT */
/*
 * States of requests: for the library, and for what has it within and must know
 * whether an op goes on without its process.
 */
#ifndef TORCOLL_REQUEST_H
#define TORCOLL_REQUEST_H

#include <stdbool.h>

#include "torcoll.h"

enum torcoll__request_state {
	TORCOLL__REQ_PENDING = 0x70656e64,
	TORCOLL__REQ_JOB = 0x6a6f6220,		/* req->ring is a struct torcoll__job */
	TORCOLL__REQ_DONE = 0x646f6e65,
};

/*
 * Return whether the library had to queue the op: the module may not have it yet,
 * and gets it only from a thread that waits for or tests an op of the context.
 */
static inline bool torcoll__request_is_job(const struct torcoll_request *req)
{
	return req->state == TORCOLL__REQ_JOB;
}

#endif
