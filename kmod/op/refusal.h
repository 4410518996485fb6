/* SPDX-License-Identifier: GPL-2.0 */
/* Refusals of which the other ranks are told. */
#ifndef _TOR_REFUSAL_H
#define _TOR_REFUSAL_H

#include <linux/torcoll.h>

#include "op/group.h"

/**
 * tor_refusal_tell - make the comm fail because a call was refused here
 * @group: referenced by the caller
 * @desc: the call
 * @err: negative errno of the refusal
 *
 * Does nothing unless the caller wants it (TORCOLL_OP_TELL), or if the other
 * ranks need not know: the call may be repeated. Needs no memory. Context:
 * process.
 */
void tor_refusal_tell(struct tor_group *group, const struct torcoll_submit *desc, int err);

#endif
