// SPDX-License-Identifier: GPL-2.0
/* The hosts that take part, and their ranks. */
#include "run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "torcollctl/netns_list.h"

/* No option of ssh, no second word, nothing that a shell would interpret. */
static bool name_is_good(const char *name)
{
	return *name && *name != '-' && strlen(name) < 256 &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-:@%") ==
	       strlen(name);
}

int hosts_add(struct hosts *hosts, const char *where, const char *name, uint32_t node)
{
	uint32_t i;

	if (!name_is_good(name))
		return complain("%s: \"%s\" is no name of a host", where, name);
	for (i = 0; i < hosts->count; i++)
		if (hosts->host[i].node == node)
			return complain("%s: node %u is %s already", where, node,
					hosts->host[i].name);
	hosts->host = need(reallocarray(hosts->host, hosts->count + 1, sizeof(*hosts->host)));
	hosts->host[hosts->count++] = (struct host){
		.name = need(strdup(name)),
		.node = node,
	};
	return 0;
}

static int read_list(struct hosts *hosts, const char *list)
{
	char *copy = need(strdup(list)), *rest = copy, *name;
	int err = 0;

	while (!err && (name = strsep(&rest, ",")))
		err = hosts_add(hosts, "--host", name, hosts->count);
	free(copy);
	return err;
}

static int read_namespaces(struct run *run)
{
	uint32_t *node, i, n = netns_list(run->prefix, &node);
	int err = 0;

	if (!n)
		return complain("there is no virtual torus of the prefix \"%s\": torcollctl netns up",
				run->prefix);
	for (i = 0; !err && i < n; i++) {
		char *name;

		if (asprintf(&name, "%s-%u", run->prefix, node[i]) < 0)
			name = NULL;
		err = hosts_add(&run->hosts, "--prefix", need(name), node[i]);
		free(name);
	}
	free(node);
	return err;
}

static int read_hosts(struct run *run)
{
	uint64_t key;

	if (!!run->list + !!run->hostfile + run->netns > 1)
		return complain("--host, --hostfile and --netns exclude each other");
	if (!run->list && !run->hostfile && !run->netns)
		return fabric_read(run, run->fabric);
	if (run->fabric) {
		if (!parse_number(run->fabric, UINT64_MAX, &key))
			return complain("--fabric: with hosts by name, the key of the fabric is a whole number, not \"%s\"",
					run->fabric);
		snprintf(run->key, sizeof(run->key), "%llu", (unsigned long long)key);
	}
	if (run->netns)
		return read_namespaces(run);
	return run->list ? read_list(&run->hosts, run->list) :
			   hostfile_read(&run->hosts, run->hostfile);
}

static int by_node(const void *a, const void *b)
{
	const struct host *x = a, *y = b;

	return (x->node > y->node) - (x->node < y->node);
}

/* Move the nodes of a range to the beginning, behind the first @kept. */
static int choose_range(struct hosts *hosts, uint32_t *kept, uint64_t first, uint64_t last)
{
	uint32_t i, found = 0;

	for (i = *kept; i < hosts->count; i++) {
		struct host host = hosts->host[i];

		if (host.node < first || host.node > last)
			continue;
		memmove(&hosts->host[*kept + 1], &hosts->host[*kept],
			(i - *kept) * sizeof(*hosts->host));
		hosts->host[(*kept)++] = host;
		found++;
	}
	if (found != last - first + 1)
		return complain("--nodes: %llu of the nodes %llu to %llu do not exist, or are named twice",
				(unsigned long long)(last - first + 1 - found),
				(unsigned long long)first, (unsigned long long)last);
	return 0;
}

/* "0-3,7": keep these nodes, in that order. */
static int choose_nodes(struct hosts *hosts, const char *list)
{
	char *copy = need(strdup(list)), *rest = copy, *part;
	uint32_t kept = 0;
	int err = 0;

	while (!err && (part = strsep(&rest, ","))) {
		char *dash = strchr(part, '-');
		uint64_t first, last;

		if (dash)
			*dash++ = '\0';
		if (!parse_number(part, UINT32_MAX, &first) ||
		    !parse_number(dash ? dash : part, UINT32_MAX, &last) || last < first)
			err = complain("--nodes: \"%s\" is no list of nodes, as 0-3,7", list);
		else
			err = choose_range(hosts, &kept, first, last);
	}
	free(copy);
	hosts->count = kept;
	return err;
}

/* Give each host its ranks, and leave out those that have none. */
static int place_ranks(struct run *run)
{
	uint64_t ppn = run->ppn ? run->ppn : 1, room = ppn * run->hosts.count;
	uint32_t i, next = 0;

	if (!run->ranks && room > RANKS_MAX)
		return complain("%llu ranks are too many", (unsigned long long)room);
	if (!run->ranks)
		run->ranks = room;
	if (run->ranks > room)
		return complain("%u ranks are too many for %u nodes with --ppn %llu", run->ranks,
				run->hosts.count, (unsigned long long)ppn);
	for (i = 0; next < run->ranks; i++) {
		struct host *host = &run->hosts.host[i];

		host->first = next;
		host->ranks = run->ranks - next < ppn ? run->ranks - next : ppn;
		next += host->ranks;
	}
	run->hosts.count = i;
	return 0;
}

int hosts_find(struct run *run)
{
	int err = read_hosts(run);

	if (err)
		return err;
	qsort(run->hosts.host, run->hosts.count, sizeof(*run->hosts.host), by_node);
	if (run->nodes)
		err = choose_nodes(&run->hosts, run->nodes);
	return err ? err : place_ranks(run);
}
