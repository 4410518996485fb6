// SPDX-License-Identifier: GPL-2.0
/* The largest frame that all nodes of a fabric accept. See fabric.h. */
#include "net/fabric.h"
#include "net/port.h"

/* Return the frame size that all reachable nodes accept. */
static u32 frame_reached(struct tor_fabric *fabric)
{
	const struct tor_node *node = &fabric->node;
	u16 frame = U16_MAX;
	u32 first;

	for (first = 0; first < node->torus.nodes; first += TOR_BUDGET.steps) {
		u16 some;

		rcu_read_lock();
		spin_lock_bh(&fabric->lock);
		some = tor_view_frame_reached(&node->view, rcu_dereference(fabric->routes), first,
					      TOR_BUDGET.steps);
		spin_unlock_bh(&fabric->lock);
		rcu_read_unlock();
		frame = min(frame, some);
		cond_resched();
	}
	return frame;
}

u32 tor_fabric_frame(struct tor_fabric *fabric)
{
	u32 frame = fabric->frame_size ? fabric->frame_size : U32_MAX;
	u32 ports = 0;
	u32 i, said;

	spin_lock_bh(&fabric->lock);
	said = tor_view_frame(&fabric->node.view);
	spin_unlock_bh(&fabric->lock);

	rcu_read_lock();
	for (i = 0; i < TOR_MAX_CABLES; i++) {
		const struct tor_port *port = rcu_dereference(fabric->port[i]);
		u32 takes = READ_ONCE(fabric->node.cable[i].takes);

		if (!port)
			continue;
		takes = takes ? takes : READ_ONCE(port->dev->mtu);
		if (!tor_wire_unit(takes))
			continue;
		frame = min(frame, takes);
		ports++;
	}
	rcu_read_unlock();
	if (!ports)
		return 0;
	/*
	 * usually all nodes accept this size, and the search for smaller ones
	 * is not needed
	 */
	return said >= frame ? frame : min(frame, frame_reached(fabric));
}

u32 tor_fabric_unit(struct tor_fabric *fabric)
{
	return tor_wire_unit(tor_fabric_frame(fabric));
}
