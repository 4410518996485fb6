// SPDX-License-Identifier: GPL-2.0
/* Several surveys with tests as one. */
#include <stddef.h>

#include "gather.h"

static uint32_t smaller_known(uint32_t a, uint32_t b)
{
	return !a || (b && b < a) ? b : a;
}

static void gather_port(struct survey_port *now, const struct survey_port *earlier)
{
	if (!(earlier->flags & TORCOLL_SURVEY_TESTED))
		return;
	if (!(now->flags & TORCOLL_SURVEY_TESTED))
		return;
	now->pings += earlier->pings;
	now->pongs += earlier->pongs;
	now->pinged += earlier->pinged;
	now->train += earlier->train;
	now->trains += earlier->trains;
	now->bad += earlier->bad;
	now->rtt_min_ns = smaller_known(now->rtt_min_ns, earlier->rtt_min_ns);
	now->rtt_median_ns = smaller_known(now->rtt_median_ns, earlier->rtt_median_ns);
	if (earlier->rate > now->rate)
		now->rate = earlier->rate;
}

void gather_tests(struct survey *now, const struct survey *earlier)
{
	unsigned int i, j;

	for (i = 0; i < now->nhosts; i++) {
		struct survey_host *host = now->hosts[i];
		const struct survey_host *was = survey_find(earlier, host->id);

		for (j = 0; was && j < host->nports; j++) {
			const struct survey_port *port =
				survey_device(was, host->ports[j].own.device);

			if (port)
				gather_port(&host->ports[j], port);
		}
	}
}
