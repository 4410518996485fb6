// SPDX-License-Identifier: GPL-2.0
/* Prefixes of IP addresses, of which every node of a fabric has one. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "prefix.h"

size_t prefix_bytes(int family)
{
	return family == AF_INET ? 4 : 16;
}

static bool bit_of(const uint8_t *address, unsigned int bit)
{
	return address[bit / 8] & 0x80 >> bit % 8;
}

/* Return whether all bits of an address behind the prefix are @set. */
static bool is_host_part(const struct prefix *p, const uint8_t *address, bool set)
{
	unsigned int bit;

	for (bit = p->len; bit < 8 * prefix_bytes(p->family); bit++)
		if (bit_of(address, bit) != set)
			return false;
	return true;
}

/* Add to an address. Return false: the sum is larger than any address. */
static bool address_add(uint8_t *address, size_t bytes, uint32_t n)
{
	uint64_t carry = n;

	while (bytes--) {
		carry += address[bytes];
		address[bytes] = carry;
		carry >>= 8;
	}
	return !carry;
}

/* Return why no host of a network may have addresses like @base, or NULL. */
static const char *refusal(const struct prefix *p)
{
	const uint8_t *b = p->base;

	if (p->family == AF_INET && (!b[0] || b[0] == 127))
		return "belongs to the host itself";
	if (p->family == AF_INET ? b[0] >= 224 : b[0] == 0xff)
		return "is multicast or reserved";
	if (p->family == AF_INET6 && b[0] == 0xfe && (b[1] & 0xc0) == 0x80)
		return "is link-local: every node has such an address by itself";
	if (p->family == AF_INET6 && !b[0])
		return "is reserved";
	return NULL;
}

static bool parse_length(struct prefix *p, const char *text)
{
	unsigned long len;
	char *end;

	if (*text < '1' || *text > '9')
		return false;
	len = strtoul(text, &end, 10);
	/* two addresses of a network are no host's */
	if (*end || len > 8 * prefix_bytes(p->family) - 2)
		return false;
	p->len = len;
	return true;
}

bool prefix_parse(struct prefix *p, int family, const char *text, const char **why)
{
	char address[INET6_ADDRSTRLEN] = "";
	size_t len = strcspn(text, "/");

	*p = (struct prefix){ .family = family };
	if (len < sizeof(address))
		memcpy(address, text, len);
	if (!text[len] || inet_pton(family, address, p->base) != 1 ||
	    !parse_length(p, text + len + 1)) {
		*why = family == AF_INET ? "is no IPv4 prefix such as 10.7.0.0/24" :
					   "is no IPv6 prefix such as fd00:7::/64";
		return false;
	}
	*why = refusal(p);
	if (*why)
		return false;
	if (is_host_part(p, p->base, false))
		address_add(p->base, prefix_bytes(family), 1);
	return true;
}

bool prefix_holds(const struct prefix *p, uint32_t nodes)
{
	uint8_t last[16];
	unsigned int bit;

	memcpy(last, p->base, sizeof(last));
	if (!address_add(last, prefix_bytes(p->family), nodes - 1))
		return false;
	for (bit = 0; bit < p->len; bit++)
		if (bit_of(last, bit) != bit_of(p->base, bit))
			return false;
	/* the last address of an IPv4 network is its broadcast */
	return p->family == AF_INET6 || !is_host_part(p, last, true);
}

void prefix_address(const struct prefix *p, uint32_t node, uint8_t address[16])
{
	memcpy(address, p->base, sizeof(p->base));
	address_add(address, prefix_bytes(p->family), node);
}

const char *prefix_address_text(const struct prefix *p, uint32_t node, char text[PREFIX_TEXT_SIZE])
{
	uint8_t address[16];

	prefix_address(p, node, address);
	return inet_ntop(p->family, address, text, PREFIX_TEXT_SIZE);
}

const char *prefix_text(const struct prefix *p, char text[PREFIX_TEXT_SIZE])
{
	struct prefix shown = *p;
	size_t at, last = prefix_bytes(p->family) - 1;

	/* node 0 has the first address of the network: the network says so */
	shown.base[last] &= ~1;
	if (!(p->base[last] & 1) || !is_host_part(&shown, shown.base, false))
		shown.base[last] = p->base[last];
	inet_ntop(p->family, shown.base, text, PREFIX_TEXT_SIZE);
	at = strlen(text);
	snprintf(text + at, PREFIX_TEXT_SIZE - at, "/%u", p->len);
	return text;
}

bool prefix_equal(const struct prefix *a, const struct prefix *b)
{
	if (!a->len || !b->len)
		return a->len == b->len;
	return a->family == b->family && a->len == b->len &&
	       !memcmp(a->base, b->base, prefix_bytes(a->family));
}
