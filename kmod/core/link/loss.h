/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Loss on a cable: frames that the neighbour's port has sent and that did not
 * arrive.
 *
 * A hello says how many frames its port has sent so far. The receiver compares
 * that with the frames that came in by its own port, whatever became of them
 * there. The difference since the count began is the number of missing frames.
 *
 * It is not exact at any one moment: where devices have several queues, frames
 * overtake hellos and are overtaken by them, and acknowledgements overtake all
 * that waits in a queueing discipline. Such frames are missing, or early,
 * for a moment only, but on a busy cable some frame may be at any moment.
 * Therefore only what is missing at every hello of a window is counted as lost,
 * and only if it is as much as the difference between these hellos, which shows
 * how far they are off; what is less is counted when the cable is calmer, or
 * when it has become more. And what is early at every hello of a window is kept
 * as a credit: if a frame was counted as lost and arrives later, the next loss
 * is set off against it, and reordering does not add up. Frames that a cable
 * doubles look like early ones; the credit has a limit, so that they cannot
 * hide any number of lost ones.
 *
 * The first hello starts the count: a link comes up before it carries anything,
 * so nothing overtakes that hello. The count starts again, without counting
 * anything, if the neighbour does, and if nothing was heard for so long that its
 * counter may have wrapped around.
 */
#ifndef _TOR_CORE_LOSS_H
#define _TOR_CORE_LOSS_H

#include "core/env.h"

#define TOR_LOSS_WINDOW		12	/* hello intervals */
#define TOR_LOSS_EARLY		1024	/* largest credit, frames: what waits in a long queue */
/* A hello is overtaken by a later one by up to so many frames, and an interval. */
#define TOR_LOSS_OVERTAKEN	4096
/* No port sends more than this: what a hello says beyond it is another count. */
#define TOR_LOSS_FRAME_NS	16	/* a frame in this time, */
#define TOR_LOSS_BURST		4096	/* and so many at once */
#define TOR_LOSS_SILENCE	(60 * NSEC_PER_SEC)	/* less than 2^32 such frames take */

/**
 * struct tor_loss - frames of the neighbour that did not arrive; all zero: none
 * was heard
 * @epoch: of the neighbour; 0: the count has not begun
 * @sent, @received: frames at the last hello, modulo 2^32
 * @heard: time of it, ns
 * @missing: frames that were sent, were not received and are not counted as
 *	lost; negative: early ones
 * @least, @most: values of @missing in this window, which began at @window, ns
 * @lost: frames lost; never decreases
 */
struct tor_loss {
	u32 epoch;
	u32 sent;
	u32 received;
	u64 heard;
	s64 missing;
	s64 least;
	s64 most;
	u64 window;
	u64 lost;
};

/**
 * tor_loss_hello - count what was lost up to a hello
 * @loss: of the port that it came in by
 * @now: monotonic time, ns; less than at the last hello: as much
 * @interval: of this node's hellos, ns
 * @epoch: of the neighbour, not 0
 * @sent: frames that its port has sent, this hello included; modulo 2^32
 * @received: frames that this port has received, this hello included; modulo
 *	2^32
 *
 * Context: any; calls for a port must be serialised.
 */
void tor_loss_hello(struct tor_loss *loss, u64 now, u64 interval, u32 epoch, u32 sent,
		    u32 received);

/*
 * The port was closed: what the neighbour sends until it is heard again is not
 * lost by the cable. Context: as above.
 */
void tor_loss_stop(struct tor_loss *loss);

#endif
