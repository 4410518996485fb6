// SPDX-License-Identifier: GPL-2.0
/* What devices hold of packets. See held.h. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "packet/held.h"

#include <linux/wait_bit.h>

#include "packet/outq.h"

/* When the one who removes the module hears why that takes so long. */
#define TOLD_AFTER	(10 * HZ)

/*
 * Without owner: a packet in a device must not prevent the module's removal,
 * only delay it.
 */
static struct proto held_proto = {
	.name = "torcoll",
	.obj_size = sizeof(struct sock),
};

/* Sockets that exist, of ports that are gone as well. */
static atomic_t held_sockets;

/*
 * A packet was released. It is still charged with one byte: the socket stays
 * until this has returned. Context: any.
 */
static void held_space(struct sock *held)
{
	struct tor_outq *outq;

	/* what is held is read after that, see outq_wait() */
	smp_mb__after_atomic();
	rcu_read_lock();
	outq = rcu_dereference_sk_user_data(held);
	if (outq)
		tor_outq_sent(outq);
	rcu_read_unlock();
}

/* The kernel frees the socket after this, in the same callback of RCU. */
static void held_destruct(struct sock *held)
{
	if (atomic_dec_and_test(&held_sockets))
		wake_up_var(&held_sockets);
}

struct sock *tor_held_open(struct tor_outq *outq)
{
	/* its packets may be in any namespace, and outlive the port's */
	struct sock *held = sk_alloc(&init_net, AF_UNSPEC, GFP_KERNEL, &held_proto, 1);

	if (!held)
		return NULL;
	sock_init_data(NULL, held);
	sock_set_flag(held, SOCK_RCU_FREE);
	/* nobody reads its errors, such as the times at which packets left */
	held->sk_rcvbuf = 0;
	held->sk_write_space = held_space;
	held->sk_destruct = held_destruct;
	rcu_assign_sk_user_data(held, outq);
	atomic_inc(&held_sockets);
	return held;
}

void tor_held_close(struct sock *held)
{
	rcu_assign_sk_user_data(held, NULL);
}

/*
 * Whoever may configure a device can have it keep packets for as long as he likes,
 * so the one who waits is told what to look for.
 */
void tor_held_exit(void)
{
	while (!wait_var_event_timeout(&held_sockets, !atomic_read(&held_sockets), TOLD_AFTER))
		pr_warn_ratelimited("waiting for devices that were ports, or are below them, to send or drop their packets: a queueing discipline may keep them (tc qdisc show, in each network namespace); ip link set DEV down of the device that has it drops them\n");
	/* callbacks that have called held_destruct() still use held_proto */
	rcu_barrier();
}
