// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * One transfer's sender and receiver: acknowledgements of any content, drops and timers at any time. The window is
 * kept, nothing is sent that does not exist, and as soon as the other side is honest, the transfer ends.
 *
 * An input is the transfer's size and hints, then events of 16 bytes.
 */
#include "fuzz.h"

#define HEAD	16
#define RECORD	16
#define UNIT	256

static struct tor_path path;
static u32 slowest;
static struct tor_tx tx;
static struct tor_rx rx;
static u64 now;

size_t LLVMFuzzerCustomMutator(u8 *data, size_t size, size_t max, unsigned int seed)
{
	return fuzz_mutate_records(data, size, max, seed, HEAD, RECORD);
}

static void check_tx(void)
{
	must(tx.base <= tx.next && tx.next <= tx.frames);
	must(tx.next - tx.base <= TOR_WINDOW);
	must(tx.window >= TOR_WINDOW_MIN && tx.window <= TOR_WINDOW);
	must(!(tx.acked & tx.lost));
	must(tx.next - tx.base == 64 || !((tx.acked | tx.lost) >> (tx.next - tx.base)));
	must(tor_tx_done(&tx) || !(tx.acked & 1));
	/* something in flight, or to be repeated, is looked after */
	if (!tor_tx_done(&tx) && tx.next > tx.base)
		must(tor_tx_deadline(&tx) || tx.lost);
}

/* Frames that may go now; the receiver gets those whose bit is set in @arrive. */
static void push(u32 arrive)
{
	u32 index, n = 0;
	u8 flags;

	while ((index = tor_tx_next(&tx, now, &flags)) != TOR_NO_FRAME) {
		must(index < tx.frames && index >= tx.base && index < tx.next);
		check_tx();
		if (arrive & 1U << (n++ % 32) && index < rx.frames &&
		    tor_rx_look(&rx, index) == TOR_RX_NEW)
			tor_rx_mark(&rx, index);
		must(n <= 2 * TOR_WINDOW);
	}
}

static void acknowledge(struct fuzz_in *in)
{
	struct tor_ack ack = { .state = fuzz_u8(in) };

	ack.base = fuzz_u8(in);
	if (ack.base & 1)
		ack.base = tx.base + (s8)ack.base / 2;
	else if (ack.base & 2)
		ack.base <<= 24;
	ack.mask = fuzz_u64(in);
	ack.stamp = fuzz_u8(in) ? now / NSEC_PER_USEC - fuzz_u16(in) : 0;
	tor_tx_ack(&tx, &ack, now);
}

static void honest_ack(void)
{
	struct tor_ack ack = {
		.state = tor_rx_done(&rx) ? TORCOLL_ACK_DONE : TORCOLL_ACK_OK,
		.base = rx.base,
		.mask = rx.mask,
	};

	tor_tx_ack(&tx, &ack, now);
}

static void timer(void)
{
	enum tor_tx_event event = tor_tx_timer(&tx, now);

	if (event == TOR_TX_PROBE)
		must(tx.blocked && tx.base < tx.frames);
}

static void event(struct fuzz_in *in)
{
	u32 what = fuzz_u8(in) % 8;

	now += (u64)fuzz_u8(in) * fuzz_u8(in) * NSEC_PER_MSEC / 32;
	switch (what) {
	case 0:
	case 1:
		push(fuzz_u32(in));
		break;
	case 2:
		tor_tx_dropped(&tx, fuzz_u8(in) & 1 ? tx.base + fuzz_u8(in) % 64 : fuzz_u32(in), now);
		break;
	case 3:
		timer();
		break;
	case 4:
		now = max(now, tor_tx_deadline(&tx));
		timer();
		break;
	case 5:
		honest_ack();
		break;
	default:
		acknowledge(in);
	}
	check_tx();
}

/* Every timer is served, every frame arrives, every answer is true. */
static void end_honestly(void)
{
	u32 tries = 0;
	u64 when;

	tor_tx_ack(&tx, &(struct tor_ack){ .base = tx.base }, now);
	while (!tor_tx_done(&tx)) {
		push(~0U);
		/* what was said to have arrived, and has not, is the liar's loss */
		while (rx.base < tx.base)
			tor_rx_mark(&rx, rx.base);
		honest_ack();
		check_tx();
		when = tor_tx_deadline(&tx);
		if (tor_tx_done(&tx))
			break;
		must(when || tx.next < tx.frames || tx.lost);
		now = max(now, when);
		timer();
		must(tries++ < 1000 + tx.frames);
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct fuzz_in in = { data, size };
	u64 bytes;

	host_reset();
	memset(&tx, 0, sizeof(tx));
	memset(&rx, 0, sizeof(rx));
	now = NSEC_PER_SEC;
	bytes = 1 + fuzz_u16(&in) % (300 * UNIT);
	path.srtt = fuzz_u16(&in);
	path.rttvar = fuzz_u16(&in);
	path.rtt_min = fuzz_u16(&in) * TOR_RTT_FINE;
	path.window = fuzz_u8(&in);
	slowest = path.srtt;
	while (size - in.left < HEAD && in.left)
		fuzz_u8(&in);
	tor_tx_init(&tx, &path, &slowest, 1, 0, bytes, UNIT, false);
	rx.frames = tx.frames;
	while (in.left >= RECORD && !tor_tx_done(&tx)) {
		struct fuzz_in record = { in.p, RECORD };

		event(&record);
		in.p += RECORD;
		in.left -= RECORD;
	}
	if (!tor_tx_done(&tx))
		end_honestly();
	return 0;
}
