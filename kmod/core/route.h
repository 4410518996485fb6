/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Routes: by which port a frame leaves for a node.
 */
#ifndef _TOR_CORE_ROUTE_H
#define _TOR_CORE_ROUTE_H

#include "torus.h"

#define TOR_NO_PORT	(~0U)

/**
 * tor_route_port - the first port of a shortest way, dimension 0 first
 * @t: shape
 * @self: where the frame is
 * @dst: where it goes, not @self
 * @tie: 0 or 1: which way round if both are equally long
 *
 * Return: port, or TOR_NO_PORT if @dst is @self or no node.
 */
u32 tor_route_port(const struct tor_torus *t, u32 self, u32 dst, u32 tie);

#endif
