/* SPDX-License-Identifier: GPL-2.0 */
/* A host on its way to what the file of a fabric says. */
#ifndef _CTL_APPLY_H
#define _CTL_APPLY_H

#include "change.h"
#include "ctl.h"

/**
 * struct apply - a command
 * @file: name of the file
 * @as: name of the section, NULL: this host's
 * @force, @remove, @dry: words of the command line
 * @c, @route: connections
 * @conf: the file
 * @node: place of this host's section in it
 * @now: what runs
 * @changes: what differs
 * @commands: for JSON: what was done, or would be
 * @ret: worst exit code so far
 */
struct apply {
	const char *file;
	const char *as;
	bool force, remove, dry;
	struct conn c, route;
	struct conf conf;
	size_t node;
	struct running now;
	struct changes changes;
	struct json_object *commands;
	int ret;
};

/**
 * apply_change - make a change, and print it as a command
 * @ap: command; with @dry it only prints
 * @change: one of its @changes
 *
 * After a failure @ap->ret is set and the reason was printed.
 *
 * Return: whether the others can follow: there are no ports without a fabric.
 */
bool apply_change(struct apply *ap, const struct change *change);

#endif
