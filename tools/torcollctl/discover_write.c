// SPDX-License-Identifier: GPL-2.0
/* torcollctl discover write: the file of a fabric, see torcoll.conf(5). */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "conf.h"
#include "ctl.h"
#include "discover.h"
#include "file.h"

/* Write the line of a port, with all devices of its role: @port is the first. */
static void write_port(const struct discovery *d, FILE *file, uint32_t port)
{
	const struct graph_host *host = &d->graph->host[d->graph->port[port].host];
	char device[CONF_DEVICE_SIZE];
	uint32_t i;

	fprintf(file, "port %s =", discovery_role(d, port));
	for (i = host->port; i < host->port + host->nports; i++) {
		const struct survey_end *own = &d->graph->port[i].port->own;

		if (d->roles.role[i] != d->roles.role[port])
			continue;
		conf_name_device(device, own->device, own->mac);
		fprintf(file, " %s", device);
	}
	fputc('\n', file);
}

static void write_node(const struct discovery *d, FILE *file, uint32_t node)
{
	const struct tor_torus *t = &d->wiring.place.t;
	char name[HOST_PORT_TEXT];
	uint32_t role;

	fprintf(file, "\n[node %s]\nindex = %u\n",
		d->graph->host[d->wiring.place.who[node]].host->name, node);
	for (role = 0; role < t->ports; role++) {
		uint32_t port = roles_port(&d->roles, node, role);

		if (port != GRAPH_NONE)
			write_port(d, file, port);
		else if (tor_torus_has_port(t, node, role))
			fprintf(file, "# port %s: no device\n",
				host_port_print(name, tor_port_dim(t, role), tor_port_dir(t, role)));
	}
}

static void write_file(FILE *file, const void *arg)
{
	const struct discovery *d = arg;
	const struct tor_torus *t = &d->wiring.place.t;
	char sides[FAULT_SHAPE];
	uint32_t node;

	fprintf(file, "# found by torcollctl discover; the same on all hosts: see torcoll.conf(5)\n");
	fprintf(file, "[fabric]\nkey = %llu\ndims = %s\n", (unsigned long long)d->key,
		fault_sides(t, sides, sizeof(sides)));
	if (t->cables != 1)
		fprintf(file, "cables = %u\n", t->cables);
	/* by it, apply switches the devices on after a boot, too */
	if (d->faults.mtu)
		fprintf(file, "mtu = %u\n", d->faults.mtu);
	for (node = 0; node < t->nodes; node++)
		write_node(d, file, node);
}

/* Return an error if the file cannot be written for lack of something. */
static int check_writable(const struct discovery *d)
{
	if (d->wiring.kind == WIRING_NONE)
		other_error("not written: the hosts form no ring, torus or full mesh");
	else if (d->faults.no_file)
		other_error("not written: it needs the names of all hosts, no two the same");
	else
		return 0;
	return CTL_WRONG;
}

int discovery_write(const struct discovery *d, const char *path)
{
	char *inside = NULL;
	struct stat st;
	int ret = check_writable(d);

	if (ret)
		return ret;
	if (!stat(path, &st) && S_ISDIR(st.st_mode)) {
		if (asprintf(&inside, "%s/%llu.conf", path, (unsigned long long)d->key) < 0)
			err(CTL_REFUSED, "discover");
		path = inside;
	}
	ret = file_print(path, write_file, d);
	if (!ret && !opt.json)
		printf("\nWritten: %s%s\nNext: copy it to all hosts; on each: torcollctl apply %s\n",
		       path, d->fits ? "" : ", as it will fit when that is put right", path);
	free(inside);
	return ret;
}
