// SPDX-License-Identifier: GPL-2.0
/*
 * Delivery of frames to comms: find group, series and lane, or answer the
 * sender if there is none. See group.h.
 */
#include "core/wire/accept.h"
#include "net/port.h"
#include "op/endpoint.h"
#include "op/series.h"

/* Find the group that a frame is for, if its sender is a member. */
static struct tor_group *deliver_admit(struct tor_entry *entry, const struct tor_hdr *h, u32 tag,
				       u32 *rank)
{
	struct tor_group *group = tor_group_find(entry->port->fabric, tag);
	enum tor_counter why = TOR_C_DROP_COMM;

	if (group && tor_comm_admit(&group->comm, h, rank, &why))
		return group;
	tor_entry_drop(entry, why);
	return NULL;
}

/*
 * Refuse a frame for a comm that the process has left and whose group is gone:
 * a rank that is still in an op would wait for ever. While a comm is being
 * created, all nodes know it before any sends.
 */
static void deliver_refuse(struct tor_entry *entry, struct tor_port *port, const struct tor_hdr *h,
			   u32 tag)
{
	if (!tor_group_find(port->fabric, tag))
		tor_comm_refuse(&entry->ctx, &port->fabric->node, h, tag);
}

/*
 * Find the series of a frame between this node and @rank; @own: the frame is
 * this node's. NULL: there is none.
 */
static struct tor_series *find_series(struct tor_group *group, u32 rank,
				      const struct tor_where *where, bool own)
{
	u8 role = where->role;

	if (!role)
		return where->channel < group->comm.channels ? &group->calls : NULL;
	return tor_series_find(group, tor_series_id(own ? role : tor_role_opposite(role), rank));
}

/*
 * Translate a frame of a message between nodes with several ranks: replace the
 * nodes' @group and the other node's @rank by the two that it is about. False:
 * there are none.
 */
static bool find_ranks(struct tor_group **group, u32 *rank, const struct tor_where *where, bool own)
{
	const struct tor_endpoint_ops *kind;

	if (!where->role)
		return true;
	kind = (*group)->kind;
	if (!kind->whose)
		return !where->pair;
	*group = kind->whose(*group, rank, where->pair, own == (where->role == TOR_ROLE_SEND));
	return *group;
}

static struct tor_lane *find_lane(const struct tor_series *series, u32 op,
				  const struct tor_where *where)
{
	return &tor_series_slot(series, op)->lane[where->channel];
}

/* Report to a rank that the process will never send or receive its message. */
static void tell_that_left(struct tor_entry *entry, struct tor_group *group, u32 op)
{
	if (test_bit(TOR_GROUP_CLOSED, &group->flags))
		tor_comm_fail(&entry->ctx, &group->comm, -ECONNABORTED, group->comm.rank, op);
}

/*
 * Report to a rank if its op may never be called here: the process has left, or
 * one of several.
 */
static void tell_if_left(struct tor_entry *entry, struct tor_group *group, struct tor_lane *lane,
			 u32 op)
{
	if (unlikely(READ_ONCE(group->flags) & TOR_GROUP_MISSED))
		group->kind->missed(entry, group, lane, op);
}

void tor_group_data(struct tor_entry *entry, struct tor_port *port, const struct tor_hdr *h,
		    const struct tor_bytes *payload, u32 pieces)
{
	struct tor_series *series;
	struct tor_group *group;
	struct tor_lane *lane;
	u32 rank;

	group = deliver_admit(entry, h, h->comm, &rank);
	if (!group) {
		deliver_refuse(entry, port, h, h->comm);
		return;
	}
	if (tor_comm_failed(&group->comm)) {
		/* a rank that still sends has not heard of the failure */
		tor_comm_send_abort(&entry->ctx, &group->comm, rank);
		return;
	}
	if (!find_ranks(&group, &rank, &h->where, false)) {
		tor_entry_drop(entry, TOR_C_DROP_RANGE);
		return;
	}
	series = find_series(group, rank, &h->where, false);
	if (!series && h->where.role)
		series = tor_series_missing(group, rank);
	if (!series && h->where.role) {
		tell_that_left(entry, group, h->op);
		tor_pair_refuse(&entry->ctx, &group->comm, rank, h);
		return;
	}
	if (!series) {
		tor_entry_drop(entry, TOR_C_DROP_RANGE);
		return;
	}
	lane = find_lane(series, h->op, &h->where);
	spin_lock(&lane->lock);
	tell_if_left(entry, group, lane, h->op);
	tor_chan_data(&entry->ctx, &lane->chan, rank, h, payload, pieces);
	spin_unlock(&lane->lock);
}

static void take_ack(struct tor_entry *entry, struct tor_group *group, u32 rank,
		     const struct tor_ack *ack)
{
	struct tor_series *series;
	struct tor_lane *lane;

	if (!find_ranks(&group, &rank, &ack->where, false))
		return;
	series = find_series(group, rank, &ack->where, false);
	if (!series) {
		if (!ack->where.role)
			return;
		if (ack->digest)
			tell_that_left(entry, group, ack->op);
		tor_pair_absent(&entry->ctx, &group->comm, rank, ack);
		return;
	}
	lane = find_lane(series, ack->op, &ack->where);
	spin_lock(&lane->lock);
	/*
	 * messages are invited although none may be sent: see tor_pair_invite()
	 */
	if (!series->role || ack->digest)
		tell_if_left(entry, group, lane, ack->op);
	tor_chan_ack(&entry->ctx, &lane->chan, rank, ack);
	spin_unlock(&lane->lock);
}

void tor_group_acks(struct tor_entry *entry, struct tor_port *port, const struct tor_hdr *h,
		    const void *frame)
{
	struct tor_group *group;
	enum tor_counter why;
	struct tor_ack ack;
	bool refused = false;
	u32 rank, i;

	for (i = 0; i < h->acks; i++) {
		if (!tor_wire_ack(frame, i, &ack, &why)) {
			tor_entry_drop(entry, why);
			continue;
		}
		group = deliver_admit(entry, h, ack.comm, &rank);
		/*
		 * a rank that has everything waits for nothing; one answer per
		 * frame is enough
		 */
		if (!group && !refused && ack.state != TORCOLL_ACK_DONE) {
			deliver_refuse(entry, port, h, ack.comm);
			refused = true;
		}
		if (group)
			take_ack(entry, group, rank, &ack);
	}
}

void tor_group_abort_rx(struct tor_entry *entry, struct tor_port *port, const struct tor_hdr *h,
			const void *p)
{
	struct tor_group *group;
	u32 rank;

	group = deliver_admit(entry, h, h->comm, &rank);
	if (!group)
		return;
	tor_comm_abort_rx(&entry->ctx, &group->comm, rank, p, h->length);
}

void tor_group_dropped(struct tor_entry *entry, struct tor_fabric *fabric,
		       const struct tor_hdr *h)
{
	struct tor_group *group = tor_group_find(fabric, h->comm);
	u32 rank = group ? tor_comm_rank(&group->comm, h->dst) : TOR_NO_RANK;
	struct tor_series *series;
	struct tor_lane *lane;

	if (rank == TOR_NO_RANK || !find_ranks(&group, &rank, &h->where, true))
		return;
	series = find_series(group, rank, &h->where, true);
	if (!series)
		return;
	lane = find_lane(series, h->op, &h->where);
	spin_lock(&lane->lock);
	tor_chan_dropped(&entry->ctx, &lane->chan, rank, h);
	spin_unlock(&lane->lock);
}
