/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A survey: what all hosts that cables reach say of themselves, their devices
 * and their cables, as the frames of linux/torcoll_survey.h report it, in host
 * byte order and with both ends of each cable linked to each other.
 *
 * All text that came by a cable is printable here: survey_add_report() has
 * replaced what is not.
 */
#ifndef _CTL_SURVEY_H
#define _CTL_SURVEY_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "linux/torcoll_survey.h"

/* A test that was so long before the survey says nothing about the cable then. */
#define SURVEY_TEST_MS	60000

/*
 * What is believed. Any host can claim to be many, and rules compare all with
 * all: what exceeds this is left out, and survey_say_rest() says so. Hosts: eight
 * times those whose reports a host passes on at once; ports, fabrics of a host:
 * what the frames of a report have room for.
 */
#define SURVEY_HOSTS_MAX	32768
#define SURVEY_PORTS_MAX	384
#define SURVEY_NODES_MAX	896

struct survey_host;

/* One end of a cable, as somebody names it. */
struct survey_end {
	uint64_t host;		/* 0: not known */
	uint8_t mac[6];
	char device[17];
	uint32_t mtu;
	uint32_t fabric;	/* tag, 0: none */
};

struct survey_port {
	struct survey_host *owner;
	struct survey_port *other;	/* at the other end of the cable; NULL: not known */
	struct survey_end own, peer;
	uint16_t flags;			/* TORCOLL_SURVEY_UP and the like */
	uint8_t state;			/* enum torcoll_link_state, of a member */
	uint8_t dim, dir;
	uint64_t key;
	uint32_t speed, expected, heard, heard_tag, since_ms, downs;
	uint64_t rx_frames, tx_frames, lost, damaged, resent;
	uint32_t pings, pongs, pinged, rtt_min_ns, rtt_median_ns, rate, train, trains, bad,
		 tested_ms;
};

struct survey_node {
	uint64_t key;
	uint32_t tag, node, epoch;
	uint32_t ndim, side[6];			/* sides with their kinds */
	uint32_t cables, hello_ms, rates, comms, ops, reached, dead_links, view;
	uint16_t ethertype;
	uint8_t checksum, byte_order;
	uint64_t retransmits;
};

struct survey_host {
	uint64_t id;
	char name[TORCOLL_SURVEY_NAME + 1];
	char version[17];
	struct survey_node *nodes;
	struct survey_port *ports;
	unsigned int nnodes, nports;
	uint64_t rest;			/* devices and fabrics that its report has no room for */
	bool overfull;			/* it reported more than is believed */
	unsigned int at;		/* by survey_number() */
};

/**
 * struct survey - the hosts that answered
 * @hosts: pointers, sorted by name, then id; @hosts[i]->ports[] are sorted by
 *	device name
 * @self: the host that asked; NULL: not known
 * @overfull: more hosts answered than are believed
 * @slot: the hosts by id, of survey_add_host(): @nslots, of which most are NULL
 */
struct survey {
	struct survey_host **hosts;
	unsigned int nhosts;
	struct survey_host *self;
	bool overfull;
	struct survey_host **slot;
	unsigned int nslots;
};

struct conn;

/* Empty; no memory ends the program. */
struct survey *survey_new(void);
void survey_free(struct survey *s);

/**
 * survey_add_report - add what a host reported
 * @s: survey
 * @records: of a report of linux/torcoll_survey.h
 * @len: bytes of them
 *
 * Reports of earlier rounds than the last one of that host change nothing.
 *
 * Return: the host, or NULL if it is no report, or of one host too many.
 */
struct survey_host *survey_add_report(struct survey *s, const void *records, size_t len);

/* Say on stderr what the survey lacks, though it was there. */
void survey_say_rest(const struct survey *s);

/* Return how many hosts have reported all of that round. */
unsigned int survey_complete(const struct survey *s, uint32_t round);

/*
 * Add a host, or return the one of that number; its name is still empty. These
 * three return NULL if there is one too many, and note that.
 */
struct survey_host *survey_add_host(struct survey *s, uint64_t id);
/* Add a port, or return the one of that device, whose members remain. */
struct survey_port *survey_add_port(struct survey_host *host, const char *device);
/* Add a node, or return the one in the fabric of that key. */
struct survey_node *survey_add_node(struct survey_host *host, uint64_t key);

/**
 * survey_take - ask all hosts
 * @s: filled in
 * @c: connection to the kernel
 * @test: every host tests its cables first
 * @progress: says on stderr how many hosts have answered, if that is a terminal
 *
 * Asks again until nothing new comes, for 10 s at most.
 *
 * Return: 0 or a negative errno with c->text.
 */
int survey_take(struct survey *s, struct conn *c, bool test, bool progress);

/*
 * Read a survey that "torcollctl -j survey show" printed. Return CTL_OK, or
 * another exit code after printing the reason.
 */
int survey_load(struct survey *s, const char *file);

/*
 * Load a survey from @file, or without one take it. Return CTL_OK, or another
 * exit code after printing the reason.
 */
int survey_get(struct survey *s, const char *file, bool test);

/* To be put. */
struct json_object *survey_json(const struct survey *s);

/*
 * Sort, and link both ends of each cable; after the last host was added. A
 * cable on which several hosts are heard has no other end.
 */
void survey_link(struct survey *s);

/* Note in each host its place in @s->hosts, until that is changed. */
static inline void survey_number(const struct survey *s)
{
	unsigned int i;

	for (i = 0; i < s->nhosts; i++)
		s->hosts[i]->at = i;
}

/* The place of a host in @s->hosts as noted, or s->nhosts if it is none of them. */
static inline unsigned int survey_place(const struct survey *s, const struct survey_host *host)
{
	return host->at < s->nhosts && s->hosts[host->at] == host ? host->at : s->nhosts;
}

/* The host of that number, or NULL. */
struct survey_host *survey_find(const struct survey *s, uint64_t id);

/* The port of @host with that device name, or NULL. */
struct survey_port *survey_device(const struct survey_host *host, const char *device);

/* Return whether the port has been tested, and lately. */
bool survey_is_tested(const struct survey_port *port);

/* The host's node in the fabric of that key, or NULL. */
const struct survey_node *survey_node(const struct survey_host *host, uint64_t key);

#endif
