// SPDX-License-Identifier: GPL-2.0
/*
 * Lists from the kernel. It says of one during which something was added or
 * removed that it may lack others: as at boot, when devices come.
 */
#include "dump.h"

#include <errno.h>

#include "ctl.h"

#define DUMP_TRIES	20

int conn_dump(struct conn *c, const struct dump *dump, void *arg)
{
	int tries = 0, err;

	do {
		dump->begin(arg);
		err = conn_call(c, dump->request(c, arg), dump->on_msg, arg);
	} while (err == -EAGAIN && tries++ < DUMP_TRIES);
	return err;
}
