/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Terms: what the members of a comm must have in common, beside the list of
 * them. All take the rates of rank 0, so that all choose the same plans. Byte
 * order and checksum of their nodes cannot be taken over: rank 0 compares them,
 * and refuses the comm to all if one differs, naming that rank.
 *
 * A rank that calls after that would wait in vain: rank 0's call is over. Its
 * node therefore remembers for a while what it has refused, and refuses it to
 * such a rank as well. A rank that has been refused and calls again belongs to
 * the next attempt, and waits for rank 0: its call has the number of the last
 * refusal that its node has heard.
 *
 * Serialisation: the node's lock (node.h).
 */
#ifndef _TOR_CORE_TERMS_H
#define _TOR_CORE_TERMS_H

#include "core/choose/cost.h"
#include "core/link/node.h"

/* How long refusals are remembered: as ranks of a program start that much apart. */
#define TOR_REFUSAL_KEPT	(20 * (u64)NSEC_PER_SEC)

/* Put rates into a message, and take them out. */
void tor_terms_put_rates(struct tor_comm_terms *terms, const struct tor_rates *rates);
void tor_terms_get_rates(const struct tor_comm_terms *terms, struct tor_rates *rates);

/* Return a hash of rates for tor_node.rates, the same on every machine; 0: the default. */
u32 tor_terms_hash(const struct tor_rates *rates);

/**
 * tor_terms_own - terms of this node, for its call
 * @node: this node
 * @now: monotonic time, ns
 * @name: hash of the comm's name
 * @terms: filled in
 */
void tor_terms_own(const struct tor_node *node, u64 now, u64 name, struct tor_comm_terms *terms);

/*
 * Compare the terms of a call with those of this node. Return the first
 * difference, or TORCOLL_CAUSE_UNKNOWN for none.
 */
enum torcoll_comm_cause tor_terms_compare(const struct tor_node *node,
					  const struct tor_comm_msg *msg);

/**
 * tor_terms_remember - remember a refusal
 * @node: this node
 * @now: monotonic time, ns
 * @name: hash of the comm's name
 * @proof: hash of name and secret
 * @said: this node has refused; else it has heard that
 * @terms: of the refusal; replaces an earlier one of that name
 */
void tor_terms_remember(struct tor_node *node, u64 now, u64 name, u64 proof, bool said,
			const struct tor_comm_terms *terms);

/* Forget what this node has refused by that name: rank 0 calls again. */
void tor_terms_forget(struct tor_node *node, u64 name);

/*
 * Return the terms by which this node has refused the comm that a call is
 * about, or NULL: it has not, or the caller knows.
 */
const struct tor_comm_terms *tor_terms_refused(const struct tor_node *node, u64 now,
					       const struct tor_comm_msg *msg);

#endif
