// SPDX-License-Identifier: GPL-2.0
/*
 * Payload bytes per frame, by the ports of this node and by what other nodes say
 * of theirs.
 */
#include "core/wire/wire.h"
#include "net/fabric.h"
#include "net/port.h"

/* Maximum number of view entries per portion. */
#define LOOK_AT		4096

/* Return the frame size that all reachable nodes accept. */
static u32 frame_reached(struct tor_fabric *fabric)
{
	const struct tor_node *node = &fabric->node;
	u16 frame = U16_MAX;
	u32 first;

	for (first = 0; first < node->torus.nodes; first += LOOK_AT) {
		u16 some;

		rcu_read_lock();
		spin_lock_bh(&fabric->lock);
		some = tor_view_frame_reached(&node->view, rcu_dereference(fabric->routes), first,
					      LOOK_AT);
		spin_unlock_bh(&fabric->lock);
		rcu_read_unlock();
		frame = min(frame, some);
	}
	return frame;
}

u32 tor_fabric_unit(struct tor_fabric *fabric)
{
	u32 unit = fabric->frame_size ? tor_wire_unit(fabric->frame_size) : U32_MAX;
	u32 ports = 0;
	u32 i, said;

	spin_lock_bh(&fabric->lock);
	said = tor_wire_unit(tor_view_frame(&fabric->node.view));
	spin_unlock_bh(&fabric->lock);

	rcu_read_lock();
	for (i = 0; i < TOR_MAX_PORTS; i++) {
		const struct tor_port *port = rcu_dereference(fabric->port[i]);
		u32 frame = READ_ONCE(fabric->node.link[i].takes);
		u32 takes;

		if (!port)
			continue;
		takes = tor_wire_unit(frame ? frame : READ_ONCE(port->dev->mtu));
		if (!takes)
			continue;
		unit = min(unit, takes);
		ports++;
	}
	rcu_read_unlock();
	if (!ports)
		return 0;
	/*
	 * usually all nodes accept this size, and the search for smaller ones
	 * is not needed
	 */
	return said >= unit ? unit : min(unit, tor_wire_unit(frame_reached(fabric)));
}
