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
 * Messages of older modules have no terms. Their nodes are known by the hash of
 * members: see tor_terms_seed().
 *
 * Serialisation: the node's lock (node.h).
 */
#ifndef _TOR_CORE_TERMS_H
#define _TOR_CORE_TERMS_H

#include "core/choose/cost.h"
#include "core/link/node.h"

/* How long refusals are remembered: ranks of a program may start that far apart. */
#define TOR_REFUSAL_KEPT	(20 * (u64)NSEC_PER_SEC)

/*
 * Put rates into a message, and take them out. Without terms they are those of
 * the default.
 */
void tor_terms_put_rates(struct tor_comm_terms *terms, const struct tor_rates *rates);
void tor_terms_get_rates(const struct tor_comm_msg *msg, struct tor_rates *rates);

/*
 * Return what the hash of members starts with: what it does on nodes of modules
 * without terms that are little-endian, have checksums of payloads and the
 * default rates. No others of those agree with it.
 */
u64 tor_terms_seed(void);

/*
 * Return a hash of rates for tor_node.rates, the same on every machine; 0: those
 * of the default.
 */
u32 tor_terms_hash(const struct tor_rates *rates);

/**
 * tor_terms_own - terms of this node, for its call
 * @node: this node
 * @now: monotonic time, ns
 * @name: hash of the comm's name
 * @unit: payload bytes per frame that it offers
 * @terms: filled in
 */
void tor_terms_own(const struct tor_node *node, u64 now, u64 name, u32 unit,
		   struct tor_comm_terms *terms);

/* Return the payload bytes per frame that a member offers, or rank 0 has chosen. */
u32 tor_terms_unit(const struct tor_comm_msg *msg);

/*
 * Compare the terms of a call, or of rank 0's answer, with those of this node,
 * and see that its sender works by @rates. Return the first difference, or
 * TORCOLL_CAUSE_UNKNOWN for none.
 */
enum torcoll_comm_cause tor_terms_compare(const struct tor_node *node,
					  const struct tor_rates *rates,
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
