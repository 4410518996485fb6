/* SPDX-License-Identifier: GPL-2.0 */
/* Names of a fabric's nodes and their addresses, in the form of hosts(5). */
#ifndef _CTL_HOSTS_H
#define _CTL_HOSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "conf.h"

/*
 * Write a line for each node and family of addresses: the address, the name
 * with the file's suffix, and that name without its domain.
 */
void hosts_print(FILE *out, const struct conf *conf);

/**
 * hosts_merge - put these lines into a hosts file, or take them out of it
 * @out: where to write the text
 * @conf: the file of the fabric
 * @text: the hosts file
 * @len: its bytes
 * @remove: take them out
 *
 * They stand between two comments that name the fabric, where they stood, or
 * else at the end. All other lines stay as they are.
 */
void hosts_merge(FILE *out, const struct conf *conf, const char *text, size_t len, bool remove);

/**
 * hosts_update - do that to a file
 * @conf: the file of the fabric
 * @path: the hosts file; a missing one is empty
 * @remove: take the lines out
 * @dry: change nothing
 *
 * Context: lock_take(), unless @dry.
 * Return: 1: the file was changed, or would be; 0: it is as it is to be; -1
 * after printing the reason.
 */
int hosts_update(const struct conf *conf, const char *path, bool remove, bool dry);

#endif
