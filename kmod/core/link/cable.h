/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Numbers of cables. A link, which joins a node with its neighbour in a
 * dimension and direction, consists of up to TOR_LINK_CABLES cables, each with a
 * network device at either end. Routes and views know links only; a cable is
 * chosen by each hop for each frame.
 *
 * Cable @k of the link at @port (torus.h) has the number k * TOR_MAX_PORTS +
 * port, so the first cable has its link's number. Nodes number their cables by
 * themselves, and no frame names one: that the second cable here is the first
 * one there makes no difference.
 */
#ifndef _TOR_CORE_CABLE_H
#define _TOR_CORE_CABLE_H

#include "core/torus.h"

#define TOR_LINK_CABLES	4
#define TOR_MAX_CABLES	(TOR_LINK_CABLES * TOR_MAX_PORTS)

static inline u32 tor_cable(u32 port, u32 k)
{
	return k * TOR_MAX_PORTS + port;
}

/* Return the number of a cable's link. */
static inline u32 tor_cable_port(u32 cable)
{
	return cable % TOR_MAX_PORTS;
}

/* Return which cable of its link it is. */
static inline u32 tor_cable_rank(u32 cable)
{
	return cable / TOR_MAX_PORTS;
}

#endif
