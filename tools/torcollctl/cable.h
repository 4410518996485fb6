/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A cable under test: frames to the neighbour's module and its answers, by a packet socket beside the module's own
 * traffic. See core's echo.h for the other end.
 */
#ifndef _CTL_CABLE_H
#define _CTL_CABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CABLE_WINDOW	64		/* frames under way at most */
#define CABLE_SAMPLES	(1 << 16)	/* round trips remembered: the last ones */

/**
 * struct cable_spec - whose cable
 * @ifindex: of the port's device
 * @ethertype, @tag: of the fabric
 * @self, @neighbour: the nodes at its ends
 * @self_mac, @neighbour_mac: their addresses
 */
struct cable_spec {
	unsigned int ifindex;
	uint16_t ethertype;
	uint32_t tag;
	uint32_t self, neighbour;
	uint8_t self_mac[6], neighbour_mac[6];
};

/**
 * struct cable_result - what became of frames that were sent
 * @sent: test frames
 * @arrived: of them, by the neighbour's count
 * @answered: of them, answers that came back
 * @late: answers that came after they had been given up; they count as answered
 * @missed: answers that came, and that this process was too slow to take; they may be among those not answered
 * @ns: until the last of them
 * @bytes: of frames that were answered, MAC headers included
 * @rtt: round trips in ns, sorted; @rtts of them
 */
struct cable_result {
	uint64_t sent, arrived, answered, late, missed;
	uint64_t ns;
	uint64_t bytes;
	uint32_t *rtt;
	size_t rtts;
};

struct cable;

/* Return: NULL with errno. */
struct cable *cable_open(const struct cable_spec *spec);
void cable_close(struct cable *cable);

/**
 * cable_test - send test frames, and take the answers
 * @cable: to test
 * @bytes: of each frame behind the MAC header, 64 to what the port takes
 * @window: how many may be under way, 1 to CABLE_WINDOW; 1 measures a cable at rest
 * @frames: how many to send at most, 0: any number
 * @ns: for how long to send at most
 * @result: to fill; its rtt is to be freed
 *
 * Frames are filled with zeros, ones, alternating bits and noise in turn. What is not answered within a quarter of a second
 * is given up.
 *
 * Return: 0 or a negative errno: frames could not be sent.
 */
int cable_test(struct cable *cable, uint32_t bytes, uint32_t window, uint64_t frames, uint64_t ns,
	       struct cable_result *result);

#endif
