// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Exactly-once transfer of one message: windows, acknowledgements, loss. See
 * xfer.h.
 */
#include "core/transfer/xfer.h"

/* Every other bit. A new base may swap the two sets, but they stay disjoint. */
#define EVEN_FRAMES	0x5555555555555555ULL

static u64 mask_below(u32 n)
{
	return n >= 64 ? ~0ULL : BIT_ULL(n) - 1;
}

/*
 * Return the number of frames sent and neither acknowledged nor taken for lost.
 */
static inline u32 tx_in_flight(const struct tor_tx *tx)
{
	return tx->next - tx->base - hweight64(tx->acked) - hweight64(tx->lost);
}

/*
 * Return how long an answer takes, by the round trips so far. Those of other
 * flows show a queue while it builds up; they count up to TOR_RTO_MAX, since a
 * single long one is remembered for long. The own ones count even if they are
 * longer: a host that takes seconds for the frames it has would otherwise
 * receive all of them again, and again, and take longer still.
 */
static u64 tx_answer(const struct tor_tx *tx)
{
	u32 srtt = READ_ONCE(tx->path->srtt);
	u32 rttvar = READ_ONCE(tx->path->rttvar);
	u32 slowest = READ_ONCE(*tx->slowest);
	u64 own = (u64)(srtt + 4 * rttvar) * NSEC_PER_USEC;
	u64 others = (u64)(slowest + slowest / 4) * NSEC_PER_USEC;

	return srtt ? min_t(u64, max(own, min_t(u64, others, TOR_RTO_MAX)), TOR_RTT_MAX) :
		      TOR_RTO_FIRST;
}

/* The same by the own round trips only, for a frame whose repetition costs little. */
static u64 tx_own_answer(const struct tor_tx *tx)
{
	u32 srtt = READ_ONCE(tx->path->srtt);
	u32 rttvar = READ_ONCE(tx->path->rttvar);

	return min_t(u64, (u64)(srtt + 4 * rttvar) * NSEC_PER_USEC, TOR_TAIL_MIN);
}

/*
 * Return the timeout. The first repetition costs one frame, so it may come
 * soon. Repeating everything must wait longer: a queue that many flows share can
 * delay all frames for longer than earlier round trips suggest, and must not
 * receive all of them again.
 */
static u64 tx_rto(const struct tor_tx *tx)
{
	u64 answer = tx_answer(tx);
	u64 rto;

	if (tx->hurried && !tx->backoff)
		return max_t(u64, tx_own_answer(tx), TOR_HURRY);
	if (!tx->backoff)
		return max_t(u64, answer, TOR_TAIL_MIN) + (tx->patient ? 3 * TOR_ACK_DELAY : 0);
	rto = max_t(u64, answer, TOR_RTO_MIN) << min(tx->backoff - 1, 6U);
	return min_t(u64, rto, max_t(u64, answer, TOR_RTO_MAX));
}

/*
 * Return when to ask a receiver that was not ready. Its invitation may be lost,
 * or an old refusal may arrive after it, so the first probe comes soon; the
 * receiver may also be an hour late, so the intervals grow.
 */
static u64 tx_probe_interval(const struct tor_tx *tx)
{
	return min_t(u64, TOR_PROBE_FIRST << min(tx->backoff, 10U), TOR_PROBE_MAX);
}

/*
 * Return how long frames may be reordered before a gap counts as a loss: about
 * another round trip.
 */
static u64 tx_reordering(const struct tor_tx *tx)
{
	u32 srtt = READ_ONCE(tx->path->srtt);
	u32 rttvar = READ_ONCE(tx->path->rttvar);

	return srtt ? (u64)(srtt + 2 * rttvar) * NSEC_PER_USEC : TOR_RTO_FIRST / 2;
}

static void tx_wait(struct tor_tx *tx, u64 now)
{
	tx->since = now;
	tx->timeout = now + tx_rto(tx);
}

void tor_tx_init(struct tor_tx *tx, struct tor_path *path, u32 *slowest, u32 rank, u32 round,
		 u64 bytes, u32 unit, bool patient)
{
	u32 window = READ_ONCE(path->window);

	tx->path = path;
	tx->slowest = slowest;
	tx->rank = rank;
	tx->round = round;
	tx->bytes = bytes;
	tx->frames = tor_div64(bytes + unit - 1, unit);
	tx->window = window ? clamp_t(u32, window, TOR_WINDOW_MIN, TOR_WINDOW) : TOR_WINDOW_FIRST;
	tx->threshold = TOR_WINDOW;
	tx->base = 0;
	tx->next = 0;
	tx->grown = 0;
	tx->asked = 0;
	tx->recover = 0;
	tx->backoff = 0;
	tx->acked = 0;
	tx->lost = 0;
	tx->tied = 0;
	tx->hole = 0;
	tx->since = 0;
	tx->timeout = 0;
	tx->retry = 0;
	tx->blocked = false;
	tx->repairs = false;
	tx->last_again = false;
	tx->hurried = false;
	/* delayed acknowledgements do not measure the round trip */
	tx->patient = patient && tx->frames == 1 && READ_ONCE(path->srtt);
}

/*
 * Ask for an acknowledgement at the end, twice per window, and when nothing
 * more may be sent and no answer is in flight. With small windows that would be
 * as many acknowledgements as frames, at the same cost; but where frames get
 * lost, an answer that does not come costs a timeout.
 */
static bool tx_wants_ack(const struct tor_tx *tx, u32 index)
{
	u32 every = max(tx->window / 2, tx->recover ? 1U : TOR_ACK_EVERY);
	bool full = tx_in_flight(tx) >= tx->window || tx->next - tx->base >= TOR_WINDOW;

	return index + 1 == tx->frames || index % every == every - 1 ||
	       (full && (tx->recover || tx->asked <= tx->base));
}

static bool tx_may_send(const struct tor_tx *tx)
{
	if (tx->blocked)
		return false;
	/*
	 * what is in flight may exceed a window that was just reduced; without a
	 * repair there is no answer (RFC 5681, section 3.2)
	 */
	if (tx->repairs && tx->lost)
		return true;
	return tx_in_flight(tx) < tx->window &&
	       (tx->lost || (tx->next < tx->frames && tx->next - tx->base < TOR_WINDOW));
}

u32 tor_tx_next(struct tor_tx *tx, u64 now, u8 *flags)
{
	u32 index;

	*flags = 0;
	if (!tx_may_send(tx))
		return TOR_NO_FRAME;
	if (tx->lost) {
		u32 bit = __ffs64(tx->lost);

		index = tx->base + bit;
		tx->lost &= ~BIT_ULL(bit);
		tx->repairs = false;
		tx->last_again |= index == tx->frames - 1;
		*flags = TORCOLL_FLAG_RETRANSMIT;
		/*
		 * the last of a burst of repairs asks; the timer covers the
		 * rest
		 */
		if (!tx->lost)
			*flags |= TORCOLL_FLAG_ACK;
	} else {
		index = tx->next++;
	}
	if (tx->patient && !*flags)
		*flags = TORCOLL_FLAG_WHOLE;
	else if (tx_wants_ack(tx, index))
		*flags |= TORCOLL_FLAG_ACK;
	if (*flags & TORCOLL_FLAG_ACK)
		tx->asked = max(tx->asked, index + 1);
	tx_wait(tx, now);
	return index;
}

/*
 * Return whether an answer may tell the round trip without queues. The last frame
 * of a message may be short, and cross many hops in less time than long ones
 * need, which would then look like a queue. Of few frames, or when it is sent again,
 * it need not follow the others: there it must not have arrived when the answer was
 * given, whose stamp is then of another one, and these are as long as can be.
 */
static bool tx_tells_min(const struct tor_tx *tx, const struct tor_ack *ack)
{
	u32 last = tx->frames - 1;

	if (tx->frames > TOR_WINDOW_FIRST && !tx->last_again)
		return true;
	return ack->state == TORCOLL_ACK_OK && ack->base <= last &&
	       (last - ack->base >= 64 || !(ack->mask >> (last - ack->base) & 1));
}

/*
 * Follow the round trip without queues: down at once, up slowly, as most of what
 * takes longer is a queue.
 */
static void tx_round_trip_min(struct tor_path *path, u32 rtt)
{
	u32 rtt_min = READ_ONCE(path->rtt_min);
	u32 fine = min_t(u32, rtt, TOR_RTO_MAX / NSEC_PER_USEC) * TOR_RTT_FINE;

	static_assert(TOR_RTO_MAX / NSEC_PER_USEC < U32_MAX / TOR_RTT_FINE);
	if (rtt_min && fine > rtt_min)
		fine = rtt_min + DIV_ROUND_UP(fine - rtt_min, 16384);
	WRITE_ONCE(path->rtt_min, fine);
}

/*
 * RFC 6298, section 2, with the stamp that the receiver echoes, so repeated
 * frames count as well.
 */
static void tx_round_trip(struct tor_tx *tx, const struct tor_ack *ack, u64 now)
{
	struct tor_path *path = tx->path;
	u32 rtt = (u32)tor_div64(now, NSEC_PER_USEC) - ack->stamp;
	u32 srtt = READ_ONCE(path->srtt);
	u32 rttvar = READ_ONCE(path->rttvar);
	u32 error, slowest;

	/* a stamp is not trusted */
	if (!ack->stamp || rtt > TOR_RTT_MAX / NSEC_PER_USEC)
		return;
	rtt = max(rtt, 1U);
	if (tx_tells_min(tx, ack))
		tx_round_trip_min(path, rtt);
	if (!srtt) {
		srtt = rtt;
		rttvar = rtt / 2;
	} else {
		error = srtt > rtt ? srtt - rtt : rtt - srtt;
		rttvar = rttvar - rttvar / 4 + error / 4;
		/* rounded such that it gets there: what is left of a us would be a queue */
		if (srtt > rtt)
			srtt -= DIV_ROUND_UP(srtt - rtt, 8);
		else
			srtt += DIV_ROUND_UP(rtt - srtt, 8);
	}
	WRITE_ONCE(path->srtt, srtt);
	WRITE_ONCE(path->rttvar, rttvar);
	slowest = READ_ONCE(*tx->slowest);
	slowest = max(rtt, slowest - slowest / 256);
	/* all processors share this cache line: avoid needless writes */
	if (slowest != READ_ONCE(*tx->slowest))
		WRITE_ONCE(*tx->slowest, slowest);
}

/*
 * Return about how many of the transfer's frames wait in queues (Brakmo and
 * Peterson, TCP Vegas, 1995).
 */
static u32 tx_queued(const struct tor_tx *tx)
{
	u32 srtt = READ_ONCE(tx->path->srtt);
	u32 rtt_min = READ_ONCE(tx->path->rtt_min) / TOR_RTT_FINE;

	return rtt_min && srtt > rtt_min ? tor_div64((u64)tx->window * (srtt - rtt_min), srtt) : 0;
}

/*
 * Grow the window: slow start below the threshold, then one frame per window;
 * keep or shrink it when frames only queue up. A queue holds the frames of all
 * flows, and only their senders keep it short.
 */
static void tx_grow(struct tor_tx *tx, u32 newly)
{
	u32 queued = tx_queued(tx);

	if (queued > TOR_QUEUE_LOW) {
		tx->threshold = min(tx->threshold, tx->window);
		tx->grown += newly;
		if (queued > TOR_QUEUE_HIGH && tx->grown >= tx->window) {
			tx->grown = 0;
			tx->window -= tx->window / 8 + 1;
		}
	} else if (tx->window < tx->threshold) {
		tx->window += newly;
	} else {
		tx->grown += newly;
		if (tx->grown >= tx->window) {
			tx->grown = 0;
			tx->window++;
		}
	}
	tx->window = clamp_t(u32, tx->window, TOR_WINDOW_MIN, TOR_WINDOW);
	WRITE_ONCE(tx->path->window, tx->window);
}

static void tx_shrink(struct tor_tx *tx, u32 window)
{
	tx->threshold = max(tx->window / 2, 2U * TOR_WINDOW_MIN);
	tx->window = max_t(u32, window, TOR_WINDOW_MIN);
	tx->grown = 0;
	tx->recover = tx->next;
	WRITE_ONCE(tx->path->window, tx->window);
}

/* Move the masks to a new base. */
static void tx_advance(struct tor_tx *tx, u32 base)
{
	u32 by = base - tx->base;

	tx->acked = by >= 64 ? 0 : tx->acked >> by;
	tx->lost = by >= 64 ? 0 : tx->lost >> by;
	tx->tied = by >= 64 ? 0 : tx->tied >> by;
	tx->base = base;
}

/*
 * Return the frames in @way that were sent, are not known to have arrived, and
 * have later ones of @way acknowledged.
 */
static u64 way_missing(const struct tor_tx *tx, u64 way)
{
	u64 acked = tx->acked & way;

	return acked ? way & ~acked & ~tx->lost & mask_below(fls64(acked)) : 0;
}

/*
 * Return the frames that later ones have overtaken. If two routes are equally
 * long, from here or from a forwarder, one may have a queue that the other has
 * not, so only frames on the same route count. The loss of the last frames on a
 * route is detected by timeout.
 */
static u64 tx_missing(const struct tor_tx *tx)
{
	if (!tx->split)
		return way_missing(tx, ~0ULL);
	return way_missing(tx, EVEN_FRAMES & tx->tied) | way_missing(tx, EVEN_FRAMES & ~tx->tied) |
	       way_missing(tx, ~EVEN_FRAMES & tx->tied) | way_missing(tx, ~EVEN_FRAMES & ~tx->tied);
}

void tor_tx_tie(struct tor_tx *tx, u32 index, u32 tie)
{
	/* one that is probed may be behind the base */
	if (index - tx->base < 64)
		tx->tied |= (u64)tie << (index - tx->base);
}

static void tx_watch_hole(struct tor_tx *tx, u64 now)
{
	if (!tx_missing(tx))
		tx->hole = 0;
	else if (!tx->hole)
		tx->hole = now;
}

void tor_tx_ack(struct tor_tx *tx, const struct tor_ack *ack, u64 now)
{
	u32 in_flight = tx_in_flight(tx);
	u32 before = tx->base + hweight64(tx->acked);
	u32 base = ack->state == TORCOLL_ACK_DONE ? tx->frames : ack->base;
	u64 mask = ack->state == TORCOLL_ACK_DONE ? 0 : ack->mask;
	bool was_blocked = tx->blocked;
	u32 newly;

	tx_round_trip(tx, ack, now);

	/* frames that were never sent cannot have arrived */
	base = min(base, tx->next);
	if (ack->state == TORCOLL_ACK_DONE)
		base = tx->frames;
	if (base > tx->base) {
		tx_advance(tx, base);
		tx->next = max(tx->next, base);
		tx->hole = 0;
	} else if (tx->base - base < 64) {
		mask >>= tx->base - base;
	} else {
		mask = 0;
	}
	mask &= mask_below(tx->next - tx->base);
	tx->acked |= mask;
	tx->lost &= ~mask;
	while (tx->acked & 1)
		tx_advance(tx, tx->base + 1);

	newly = tx->base + hweight64(tx->acked) - before;
	if (newly) {
		tx->backoff = 0;
		/* a window that was not used says nothing about a larger one */
		if (in_flight >= tx->window)
			tx_grow(tx, newly);
	}
	tx_watch_hole(tx, now);

	if (tx->blocked && ack->state != TORCOLL_ACK_NOT_READY)
		tx->backoff = 0;
	tx->blocked = ack->state == TORCOLL_ACK_NOT_READY && !tor_tx_done(tx);
	if (tx->blocked) {
		/*
		 * nothing new was taken: the frame was refused, and so are
		 * those behind it; otherwise it was the last one for which
		 * there was room
		 */
		if (!newly)
			tx->lost = ~tx->acked & mask_below(tx->next - tx->base);
		tx->hole = 0;
		tx->timeout = now + tx_probe_interval(tx);
	} else if (!tx_in_flight(tx)) {
		tx->timeout = 0;
	} else if (newly || ack->stamp || was_blocked || !tx->timeout) {
		/*
		 * not for what a waiting receiver repeats: it answers no frame,
		 * and must not put off the frame that is waited for
		 */
		tx_wait(tx, now);
	}
}

void tor_tx_dropped(struct tor_tx *tx, u32 index, u64 now)
{
	u32 bit = index - tx->base;

	if (index < tx->base || index >= tx->next || tx->acked & BIT_ULL(bit))
		return;
	tx->lost |= BIT_ULL(bit);
	/* what was missing may be just that */
	tx_watch_hole(tx, now);
	if (index >= tx->recover)
		tx_shrink(tx, tx->window / 2);
	tx->retry = now + TOR_DROP_RETRY;
}

bool tor_tx_stopped(struct tor_tx *tx, u64 now)
{
	/* unless it is known to be useless so far */
	if (tx->retry || !tx_may_send(tx))
		return false;
	tx->retry = now;
	return true;
}

void tor_tx_hurry(struct tor_tx *tx)
{
	/* others ask already */
	if (!tx->patient || tx->blocked || tx->backoff)
		return;
	tx->patient = false;
	/* it asks when it leaves */
	if (!tx_in_flight(tx))
		return;
	tx->hurried = true;
	tx->timeout = tx->since + tx_rto(tx);
}

void tor_tx_rerouted(struct tor_tx *tx, u64 now)
{
	if (!tx->timeout)
		return;
	tx->backoff = 0;
	tx->timeout = min_t(u64, tx->timeout, tx->blocked ? now + tx_probe_interval(tx) :
							    now + tx_rto(tx));
}

enum tor_tx_event tor_tx_timer(struct tor_tx *tx, u64 now)
{
	if (tx->blocked) {
		if (now < tx->timeout)
			return TOR_TX_NOTHING;
		/*
		 * one frame asks, a new one if all are there; an answer of any
		 * kind opens or blocks again
		 */
		if (tx->base == tx->next)
			tx->next++;
		tx->backoff++;
		tx->timeout = now + tx_probe_interval(tx);
		return TOR_TX_PROBE;
	}
	if (tx->retry && now >= tx->retry) {
		tx->retry = 0;
		return TOR_TX_REPEAT;
	}
	if (tx->hole && now >= tx->hole + tx_reordering(tx)) {
		u64 missing = tx_missing(tx);

		if (tx->base + __ffs64(missing) >= tx->recover)
			tx_shrink(tx, tx->window / 2);
		tx->lost |= missing;
		tx->repairs = true;
		tx->hole = 0;
		return TOR_TX_REPEAT;
	}
	if (!tx->timeout || now < tx->timeout)
		return TOR_TX_NOTHING;
	if (!tx_in_flight(tx)) {
		tx->timeout = 0;
		return TOR_TX_NOTHING;
	}
	/* round trips have become longer since */
	if (!tx->backoff && now < tx->since + tx_rto(tx)) {
		tx->timeout = tx->since + tx_rto(tx);
		return TOR_TX_NOTHING;
	}
	tx->hole = 0;
	if (!tx->backoff++) {
		if (tx->hurried) {
			tx_wait(tx, now);
			return TOR_TX_PROBE;
		}
		/*
		 * the answer to the last one says what else is missing (RFC
		 * 8985, section 7)
		 */
		tx->lost |= BIT_ULL(fls64(~tx->acked & mask_below(tx->next - tx->base)) - 1);
		tx->repairs = true;
		tx_wait(tx, now);
		return TOR_TX_TAIL;
	}
	tx->lost = ~tx->acked & mask_below(tx->next - tx->base);
	tx_shrink(tx, TOR_WINDOW_MIN);
	tx_wait(tx, now);
	return TOR_TX_TIMEOUT;
}

static u64 tx_earlier(u64 a, u64 b)
{
	return a && (!b || a < b) ? a : b;
}

u64 tor_tx_deadline(const struct tor_tx *tx)
{
	u64 when = tx->timeout;

	if (tor_tx_done(tx))
		return 0;
	if (tx->blocked)
		return when;
	if (tx->hole)
		when = tx_earlier(when, tx->hole + tx_reordering(tx));
	return tx_earlier(when, tx->retry);
}

void tor_rx_mark(struct tor_rx *rx, u32 index)
{
	rx->mask |= BIT_ULL(index - rx->base);
	while (rx->mask & 1) {
		rx->mask >>= 1;
		rx->base++;
	}
}
