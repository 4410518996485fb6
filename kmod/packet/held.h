/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the device of a port holds of packets. The packets that were given to it
 * belong to a socket of the port, as those of a program belong to its socket:
 * what they occupy is charged to it until the device has sent or dropped them.
 * Nobody can open the socket, and it has no protocol. That of a tun device is
 * alike.
 *
 * A packet may stay in a device for longer than the port exists. The kernel's
 * own function releases it (sock_wfree()), and the socket, which is memory of
 * its own, stays until the last one is released. Only the socket refers to the
 * port, by a pointer under RCU, which tor_held_close() clears. Since the socket
 * refers to this module, tor_held_exit() waits for all sockets: that is, for the
 * devices to send what they hold.
 */
#ifndef _TOR_PACKET_HELD_H
#define _TOR_PACKET_HELD_H

#include <net/sock.h>

struct tor_outq;

/*
 * Return a socket of a port, or NULL. Its queue @outq is told when the device has
 * sent packets (tor_outq_sent()); NULL: nobody is. Context: process.
 */
struct sock *tor_held_open(struct tor_outq *outq);

/*
 * The port is being removed: its queue is not told any more, after a grace
 * period. Context: process.
 */
void tor_held_close(struct sock *held);

/* Release the socket. Context: any. */
static inline void tor_held_put(struct sock *held)
{
	sock_put(held);
}

/*
 * Charge a packet that its device is about to get; its former owner is
 * released. Context: any, no locks.
 */
static inline void tor_held_charge(struct sock *held, struct sk_buff *skb)
{
	skb_set_owner_w(skb, held);
}

/*
 * Return what the device holds in bytes of memory; a byte too much for each
 * packet that is just being released. Context: any.
 */
static inline u32 tor_held(const struct sock *held)
{
	return sk_wmem_alloc_get(held);
}

/* All ports are gone. Waits for the last socket. Context: process. */
void tor_held_exit(void);

#endif
