/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Prefixes of IP addresses, of which every node of a fabric has one. Pure: no
 * kernel is asked.
 */
#ifndef _CTL_PREFIX_H
#define _CTL_PREFIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PREFIX_TEXT_SIZE	50	/* an IPv6 address, "/128" and a NUL */

/**
 * struct prefix - addresses of a fabric's nodes
 * @family: AF_INET or AF_INET6
 * @len: bits of the prefix, two fewer than an address has at most; 0: there is
 *	none
 * @base: address of node 0, in network order; node n has @base + n
 */
struct prefix {
	int family;
	uint8_t len;
	uint8_t base[16];
};

/* Return the bytes of an address of a family. */
size_t prefix_bytes(int family);

/**
 * prefix_parse - read "10.7.0.0/24", or with the address of node 0 "10.7.0.100/24"
 * @p: filled in
 * @family: of which it must be
 * @text: the prefix
 * @why: out: the end of a sentence about @text, a static string
 *
 * An address without bits behind the prefix stands for the first one that a
 * host may have: node 0 gets 10.7.0.1.
 *
 * Return: whether it is one.
 */
bool prefix_parse(struct prefix *p, int family, const char *text, const char **why);

/*
 * Return whether so many nodes have an address of the prefix that a host may
 * have.
 */
bool prefix_holds(const struct prefix *p, uint32_t nodes);

/* Write the address of a node, in network order; prefix_bytes() of them. */
void prefix_address(const struct prefix *p, uint32_t node, uint8_t address[16]);

/* The same as text, without the length of the prefix. Return @text. */
const char *prefix_address_text(const struct prefix *p, uint32_t node,
				char text[PREFIX_TEXT_SIZE]);

/* Write the prefix in its shortest form, as prefix_parse() reads it. Return @text. */
const char *prefix_text(const struct prefix *p, char text[PREFIX_TEXT_SIZE]);

/* Return whether both are the same, or none. */
bool prefix_equal(const struct prefix *a, const struct prefix *b);

#endif
