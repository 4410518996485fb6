// SPDX-License-Identifier: GPL-2.0
/*
 * The algorithm and parameters that the module would choose for a request, on a
 * fabric with the default rates: of elements of 4 bytes, whose float sums have
 * to agree on all ranks.
 */
#include "core/choose/auto.h"
#include "dump.h"

#include <stdlib.h>

#define ELEMENT		4

int dump_choose(struct tor_call *call, const char **why)
{
	struct tor_chooser *chooser = dump_alloc(1, sizeof(*chooser));
	struct tor_plan plan;
	int err;

	tor_chooser_init(chooser, call->torus, call->members, call->ranks, &tor_rates_default);
	err = tor_auto_prepare(chooser, call->collective);
	if (err)
		dump_no_memory();
	err = tor_auto_plan(&plan, chooser, call,
			    tor_level_of(call->collective, TORCOLL_F32, TORCOLL_SUM,
					 TORCOLL_BITS_AGREE), ELEMENT, 0, why);
	if (!err) {
		call->algorithm = plan.call.algorithm;
		memcpy(call->param, plan.call.param, sizeof(call->param));
	}
	tor_chooser_free(chooser);
	free(chooser);
	return err;
}
