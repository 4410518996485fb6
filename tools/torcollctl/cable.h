/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A cable under test: frames to the neighbour's module and its answers, by a
 * packet socket, beside the module's own traffic. core's echo.h is the other
 * end.
 */
#ifndef _CTL_CABLE_H
#define _CTL_CABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CABLE_WINDOW	64		/* maximum of unanswered frames */
#define CABLE_SAMPLES	(1 << 16)	/* round trips kept: the latest ones */

/**
 * struct cable_spec - a cable
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
 * struct cable_result - results of a test
 * @sent: test frames
 * @arrived: of those, by the neighbour's count
 * @answered: of those, answers that came back
 * @late: answers that came after their frame was given up; included in
 *	@answered
 * @missed: answers that came, but that this process was too slow to take; their
 *	frames may count as unanswered
 * @damaged_there: frames that arrived damaged at the neighbour, other traffic's
 *	included, if @damage_known: older modules do not report it
 * @damaged_back: answers that arrived damaged here
 * @ns: until the last answer
 * @bytes: of answered frames, MAC headers included
 * @rtt: round trips in ns, sorted; @rtts of them
 */
struct cable_result {
	uint64_t sent, arrived, answered, late, missed;
	uint64_t damaged_there, damaged_back;
	bool damage_known;
	uint64_t ns;
	uint64_t bytes;
	uint32_t *rtt;
	size_t rtts;
};

struct cable;

/* Return NULL with errno on failure. */
struct cable *cable_open(const struct cable_spec *spec);
void cable_close(struct cable *cable);

/**
 * cable_test - send test frames and receive the answers
 * @cable: to test
 * @bytes: of each frame behind the MAC header, 64 to what the port takes
 * @window: maximum of unanswered frames, 1 to CABLE_WINDOW; 1 measures an idle
 *	cable
 * @frames: maximum number of frames, 0: any
 * @ns: maximum duration of sending
 * @result: to be filled in; its rtt is to be freed
 *
 * Frames are filled with zeros, ones, alternating bits and noise in turn. A
 * frame without an answer is given up when later ones have one, or after a
 * quarter of a second, unless the answers to those before it still come: a slow
 * cable loses nothing.
 *
 * Return: 0 or a negative errno: frames could not be sent.
 */
int cable_test(struct cable *cable, uint32_t bytes, uint32_t window, uint64_t frames, uint64_t ns,
	       struct cable_result *result);

#endif
