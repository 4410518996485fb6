/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Network namespaces: the fabrics of each, and the name of the host that it is.
 *
 * Shutdown: a namespace that goes leaves its fabrics, then waits until their
 * memory is released (fabric.h).
 */
#ifndef _TOR_NET_H
#define _TOR_NET_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/torcoll_wire.h>
#include <net/net_namespace.h>

/**
 * struct tor_net - state of a network namespace
 * @net: it
 * @fabrics: struct tor_fabric; RTNL, RCU
 * @held: fabrics whose memory is not released yet, in the list or not
 * @sequence: changes with what dumps walk over
 * @name_lock: leaf
 * @name: that was set for this host, "": none was; @name_lock
 */
struct tor_net {
	struct net *net;
	struct list_head fabrics;
	atomic_t held;
	atomic_t sequence;
	spinlock_t name_lock;
	char name[TORCOLL_HOST_NAME + 1];
};

/* Return the state of a namespace. Context: any. */
struct tor_net *tor_net(const struct net *net);

/**
 * tor_net_name - copy the name by which hellos and surveys call this host
 * @tn: namespace
 * @name: out: the one that was set, or else the system's; it has
 *	TORCOLL_HOST_NAME + 1 bytes and is terminated
 *
 * Context: any.
 */
void tor_net_name(struct tor_net *tn, char *name);

/**
 * tor_net_set_name - set that name
 * @tn: namespace
 * @name: text
 * @len: its bytes, up to TORCOLL_HOST_NAME; 0: the system's
 *
 * Context: process.
 */
void tor_net_set_name(struct tor_net *tn, const char *name, u32 len);

int tor_net_init(void);
void tor_net_exit(void);

#endif
