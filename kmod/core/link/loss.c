// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Loss on a cable. See loss.h. */
#include "core/link/loss.h"

static void loss_window(struct tor_loss *loss, u64 now)
{
	loss->window = now;
	loss->least = loss->missing;
	loss->most = loss->missing;
}

static void loss_begin(struct tor_loss *loss, u64 now, u32 epoch)
{
	loss->epoch = epoch;
	loss->missing = 0;
	loss_window(loss, now);
}

/* Return whether the neighbour continues the count that the last hello was of. */
static bool loss_continues(const struct tor_loss *loss, u64 now, u32 epoch, u32 sent)
{
	u64 silence = now - loss->heard;

	return loss->epoch == epoch && silence < TOR_LOSS_SILENCE &&
	       (u32)(sent - loss->sent) <= tor_div64(silence, TOR_LOSS_FRAME_NS) + TOR_LOSS_BURST;
}

/*
 * Return whether a later hello has overtaken this one, as where both left by
 * different queues of the neighbour, or came in on two processors. What it says
 * would begin the count anew, with frames missing that the last one has.
 */
static bool loss_is_overtaken(const struct tor_loss *loss, u64 now, u64 interval, u32 epoch,
			      u32 sent)
{
	return loss->epoch == epoch && (u32)(loss->sent - sent) - 1 < TOR_LOSS_OVERTAKEN &&
	       (s64)(now - loss->heard) < (s64)interval;
}

/* Decide about the frames that were missing, or early, all through a window. */
static void loss_judge(struct tor_loss *loss)
{
	if (loss->least > 0 && loss->least >= loss->most - loss->least) {
		loss->lost += loss->least;
		loss->missing -= loss->least;
	} else if (loss->most < -TOR_LOSS_EARLY) {
		loss->missing -= loss->most + TOR_LOSS_EARLY;
	}
}

void tor_loss_hello(struct tor_loss *loss, u64 now, u64 interval, u32 epoch, u32 sent,
		    u32 received)
{
	if (loss_is_overtaken(loss, now, interval, epoch, sent))
		return;
	/* entries on two processors end in another order than they begin */
	now = max(now, loss->heard);
	if (loss_continues(loss, now, epoch, sent))
		loss->missing += (s64)(u32)(sent - loss->sent) - (u32)(received - loss->received);
	else
		loss_begin(loss, now, epoch);
	loss->sent = sent;
	loss->received = received;
	loss->heard = now;
	loss->least = min(loss->least, loss->missing);
	loss->most = max(loss->most, loss->missing);
	if (now - loss->window < TOR_LOSS_WINDOW * interval)
		return;
	loss_judge(loss);
	loss_window(loss, now);
}

void tor_loss_stop(struct tor_loss *loss)
{
	loss->epoch = 0;
}
