/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The file of a fabric, torcoll.conf(5): all its nodes with their ports, its
 * settings and rates. Parsing and printing are pure; torcollctl apply makes a
 * host as the file says.
 */
#ifndef _CTL_CONF_H
#define _CTL_CONF_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/host_shape.h"
#include "core/link/cable.h"
#include "prefix.h"

#define CONF_NAME_SIZE		65	/* of a host, HOST_NAME_MAX and a NUL */
#define CONF_DEVICE_SIZE	128
#define CONF_PATH_SIZE		128
#define CONF_RATES		6	/* in the order of rates_table */
#define CONF_LIMITS		7	/* in the order of limits_table */
#define CONF_ETHERTYPE		0x88b5	/* what the module takes if told nothing */
#define CONF_HELLO_MS		200
#define CONF_MTU_MIN		384
#define CONF_MTU_MAX		65535

/**
 * struct conf_fabric - what cannot change while a fabric exists
 * @key: of the fabric
 * @torus: its shape
 * @ethertype: of its frames
 * @hello_ms: between hellos
 * @frame_size: largest frame, 0: as the ports allow
 * @checksum_header: checksums do not cover the payload
 */
struct conf_fabric {
	uint64_t key;
	struct tor_torus torus;
	uint32_t ethertype;
	uint32_t hello_ms;
	uint32_t frame_size;
	bool checksum_header;
};

/* Families of addresses, by their place in tables; names of prefixes on command lines. */
enum ip_family {
	IP_4,
	IP_6,
	IP_FAMILIES
};

/**
 * struct conf_ip - the network device of a fabric as it is to be
 * @on: it is to be at all; else it is left as it is
 * @name: its name; "": any
 * @prefix: of the nodes' addresses, by enum ip_family
 */
struct conf_ip {
	bool on;
	char name[IFNAMSIZ];
	struct prefix prefix[IP_FAMILIES];
};

/**
 * struct conf_node - a section [node NAME]
 * @line: of its header
 * @name: of the host
 * @index: in the fabric
 * @has_index: @index was given
 * @mtu: of the ports' devices; 0: that of the fabric
 */
struct conf_node {
	unsigned int line;
	char name[CONF_NAME_SIZE];
	uint32_t index;
	bool has_index;
	uint32_t mtu;
};

/**
 * struct conf_port - a device of a line "port DIM DIR = DEVICE..."
 * @line: where it stands
 * @node: place of its section in struct conf's @node
 * @dim, @dir: its name, see tor_port_dir()
 * @port: its number, after conf_check()
 * @cable: which device of the line
 * @device: name of a device, or mac:... or path:...
 */
struct conf_port {
	unsigned int line;
	size_t node;
	uint32_t dim, dir;
	uint32_t port;
	uint32_t cable;
	char device[CONF_DEVICE_SIZE];
};

/**
 * struct conf - a file
 * @fabric: section [fabric]
 * @mtu: of all ports' devices; 0: leave devices as they are
 * @ip: the network device
 * @hosts: file that gets the names of all nodes, "": none
 * @suffix: of these names' first labels
 * @node: sections [node NAME], @nodes of them
 * @port: ports of all nodes, in the order of the file, @ports of them
 * @rate: section [rates]
 * @has_rates: there is one
 * @limit: section [limits]; ~0: no limit
 * @limits: bits of the limits given
 */
struct conf {
	struct conf_fabric fabric;
	uint32_t mtu;
	struct conf_ip ip;
	char hosts[CONF_PATH_SIZE];
	char suffix[CONF_NAME_SIZE];
	struct conf_node *node;
	size_t nodes;
	struct conf_port *port;
	size_t ports;
	uint64_t rate[CONF_RATES];
	bool has_rates;
	uint64_t limit[CONF_LIMITS];
	uint32_t limits;
};

/**
 * conf_parse - parse and check a whole file
 * @conf: filled in; to be freed with conf_free(), also after an error
 * @name: of the file, for errors
 * @text: its bytes, whatever they are
 * @len: their number
 * @error: out: a sentence that begins with "FILE:LINE: "
 * @size: of @error
 *
 * Return: 0; -EINVAL or -ENOMEM with @error.
 */
int conf_parse(struct conf *conf, const char *name, const char *text, size_t len, char *error,
	       size_t size);
void conf_free(struct conf *conf);

/* Return whether a section [node NAME] may have that name. */
bool conf_is_host_name(const char *name);

/* Return whether the kernel allows that name of a device. */
bool conf_is_device_name(const char *name);

/* Return whether a file can have that name of a device, which the kernel allows. */
bool conf_is_plain_device(const char *name);

/*
 * Write how a file names a device: by its name, if that can stand in a file, as
 * the kernel allows any bytes, and stays the device's; or else by its address.
 */
void conf_name_device(char text[CONF_DEVICE_SIZE], const char *name, const uint8_t mac[6]);

/**
 * conf_node_of - find the section of a host
 * @conf: file
 * @host: its name
 *
 * A section of exactly that name comes first, then one of that name without its
 * domain. Case does not matter.
 *
 * Return: place in @conf->node, or -1 if the file has none.
 */
long conf_node_of(const struct conf *conf, const char *host);

/* The same by the node's index. */
long conf_node_at(const struct conf *conf, uint32_t index);

/* Return the MTU that the file gives the devices of a node; 0: none. */
uint32_t conf_mtu(const struct conf *conf, size_t node);

/*
 * Write a file in this form. What has its default value is left out, as is what
 * no file can have.
 */
void conf_print(FILE *out, const struct conf *conf);

/* Write "[rates]" and its lines. */
void conf_print_rates(FILE *out, const uint64_t rate[CONF_RATES]);

/* Return whether the text has a section [fabric]: is it a file of a fabric? */
bool conf_is_fabric(const char *text, size_t len);

/**
 * conf_with_rates - replace the rates in the text of a file
 * @out: where to write the text
 * @text: its bytes
 * @len: their number
 * @rate: the rates
 *
 * Comments and all other sections stay as they are; a section [rates] that is
 * not there comes at the end.
 */
void conf_with_rates(FILE *out, const char *text, size_t len, const uint64_t rate[CONF_RATES]);

/* --- conf_check.c: of conf_parse() --- */

/**
 * struct conf_parse - state of the parser
 * @conf: being filled in
 * @name: of the file
 * @line: present line, from 1
 * @section: of enum conf_section
 * @header: line of each section's first header, 0: there was none
 * @seen: settings of the present section, by their place in its table
 * @given: settings of [fabric], and of [rates], as @seen
 * @side, @sides: value of dims, with kinds, as a shape needs cables as well
 * @cables: value of cables
 */
struct conf_parse {
	struct conf *conf;
	const char *name;
	unsigned int line;
	unsigned int section;
	unsigned int header[5];
	uint32_t seen;
	uint32_t given[5];
	uint32_t side[TOR_MAX_DIMS];
	uint32_t sides;
	uint32_t cables;
	char *error;
	size_t size;
};

enum conf_section {
	CONF_NONE,
	CONF_FABRIC,
	CONF_NODE,
	CONF_RATE,
	CONF_LIMIT,
};

/* Set the error of a line; @line 0: of the file as a whole. Return -EINVAL. */
int conf_fail(const struct conf_parse *p, unsigned int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Check what only the whole file shows. Return 0, -EINVAL or -ENOMEM. */
int conf_check(struct conf_parse *p);

/* --- conf_value.c: of conf_parse() --- */

/**
 * struct conf_setting - a setting
 * @name: before the "="
 * @set: parses the value
 * @offset: of the value in struct conf_parse, conf or conf_node
 * @min, @max: of a number
 */
struct conf_setting {
	const char *name;
	int (*set)(struct conf_parse *p, const struct conf_setting *s, const char *value);
	size_t offset;
	uint64_t min, max;
};

/* Return the settings of a section. */
const struct conf_setting *conf_settings(enum conf_section section, size_t *n);

/* Parse "port 0+ = DEVICE...". */
int conf_set_port(struct conf_parse *p, const char *word, const char *value);

#endif
