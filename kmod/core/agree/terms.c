// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Terms of comms. See terms.h. */
#include "core/agree/terms.h"

void tor_terms_put_rates(struct tor_comm_terms *terms, const struct tor_rates *rates)
{
	const u64 rate[] = {
		rates->op, rates->e, rates->f, rates->message, rates->link, rates->byte,
	};

	static_assert(sizeof(rate) == sizeof(terms->rate));
	memcpy(terms->rate, rate, sizeof(rate));
}

void tor_terms_get_rates(const struct tor_comm_msg *msg, struct tor_rates *rates)
{
	const struct tor_comm_terms *terms = &msg->terms;

	*rates = tor_rates_default;
	if (msg->has_terms)
		*rates = (struct tor_rates){
			.op = terms->rate[0],
			.e = terms->rate[1],
			.f = terms->rate[2],
			.message = terms->rate[3],
			.link = terms->rate[4],
			.byte = terms->rate[5],
		};
}

u64 tor_terms_seed(void)
{
	const struct tor_rates *rates = &tor_rates_default;
	__be64 words[] = {
		cpu_to_be64(rates->op), cpu_to_be64(rates->e), cpu_to_be64(rates->f),
		cpu_to_be64(rates->link), cpu_to_be64(rates->message), cpu_to_be64(rates->byte),
	};

	return tor_env_hash(words, sizeof(words), 0);
}

u32 tor_terms_hash(const struct tor_rates *rates)
{
	__be64 words[] = {
		cpu_to_be64(rates->op), cpu_to_be64(rates->e), cpu_to_be64(rates->f),
		cpu_to_be64(rates->message), cpu_to_be64(rates->link), cpu_to_be64(rates->byte),
	};

	if (!memcmp(rates, &tor_rates_default, sizeof(*rates)))
		return 0;
	return (u32)tor_env_hash(words, sizeof(words), 0) ?: 1;
}

/* Return the index of a refusal, or TOR_REFUSALS: there is none. */
static u32 find_refusal(const struct tor_node *node, u64 name, bool said)
{
	u32 i;

	for (i = 0; i < TOR_REFUSALS; i++)
		if (node->refusal[i].until && node->refusal[i].name == name &&
		    node->refusal[i].said == said)
			break;
	return i;
}

/* Return the number of the last refusal of that name that was heard, 0: none. */
static u32 last_heard(const struct tor_node *node, u64 now, u64 name)
{
	u32 i = find_refusal(node, name, false);

	if (i == TOR_REFUSALS || now >= node->refusal[i].until)
		return 0;
	return node->refusal[i].terms.refusal;
}

static u8 own_flags(const struct tor_node *node)
{
	return (node->big_endian ? TORCOLL_FLAG_BIG_ENDIAN : 0) |
	       (node->checksum_payload ? 0 : TORCOLL_FLAG_UNSUMMED);
}

void tor_terms_own(const struct tor_node *node, u64 now, u64 name, u32 unit,
		   struct tor_comm_terms *terms)
{
	*terms = (struct tor_comm_terms){
		.flags = own_flags(node),
		.payload = unit,
		.refusal = last_heard(node, now, name),
		.rank = ~0U,
		.node = ~0U,
	};
	tor_env_host_name(node, terms->name);
}

u32 tor_terms_unit(const struct tor_comm_msg *msg)
{
	return msg->terms.payload ?: msg->frame_bytes;
}

enum torcoll_comm_cause tor_terms_compare(const struct tor_node *node,
					  const struct tor_rates *rates,
					  const struct tor_comm_msg *msg)
{
	/* without terms they are 0, and so are the flags of such modules */
	u8 differ = msg->terms.flags ^ own_flags(node);

	if (differ & TORCOLL_FLAG_UNSUMMED)
		return TORCOLL_CAUSE_CHECKSUM;
	if (differ & TORCOLL_FLAG_BIG_ENDIAN)
		return TORCOLL_CAUSE_ORDER;
	if (!msg->has_terms && tor_terms_hash(rates))
		return TORCOLL_CAUSE_NO_TERMS;
	return TORCOLL_CAUSE_UNKNOWN;
}

void tor_terms_remember(struct tor_node *node, u64 now, u64 name, u64 proof, bool said,
			const struct tor_comm_terms *terms)
{
	u32 i = find_refusal(node, name, said);

	if (i == TOR_REFUSALS)
		i = node->refusals++ % TOR_REFUSALS;
	node->refusal[i] = (struct tor_refusal){
		.name = name,
		.proof = proof,
		.until = now + TOR_REFUSAL_KEPT,
		.said = said,
		.terms = *terms,
	};
}

void tor_terms_forget(struct tor_node *node, u64 name)
{
	u32 i = find_refusal(node, name, true);

	if (i < TOR_REFUSALS)
		node->refusal[i].until = 0;
}

const struct tor_comm_terms *tor_terms_refused(const struct tor_node *node, u64 now,
					       const struct tor_comm_msg *msg)
{
	u32 i = find_refusal(node, msg->name, true);
	const struct tor_refusal *r = &node->refusal[i];

	if (i == TOR_REFUSALS || now >= r->until || r->proof != msg->proof ||
	    (msg->has_terms && msg->terms.refusal == r->terms.refusal))
		return NULL;
	return &r->terms;
}
