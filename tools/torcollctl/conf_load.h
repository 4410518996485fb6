/* SPDX-License-Identifier: GPL-2.0 */
/* Files of fabrics on the disk. */
#ifndef _CTL_CONF_LOAD_H
#define _CTL_CONF_LOAD_H

#include "conf.h"

/**
 * conf_read - read a whole file
 * @name: of the file, "-" is standard input
 * @len: out: bytes
 *
 * Return: its text, to be freed; NULL after printing the reason.
 */
char *conf_read(const char *name, size_t *len);

/**
 * conf_load - read and parse a file
 * @conf: filled in; to be freed with conf_free()
 * @name: as for conf_read()
 *
 * Return: an exit code.
 */
int conf_load(struct conf *conf, const char *name);

/**
 * conf_save_rates - put rates into a fabric's file
 * @name: of the file
 * @rate: the rates
 *
 * Return: an exit code; -1, if there is no such file, as a terminal is none, or
 * it has no [fabric].
 */
int conf_save_rates(const char *name, const uint64_t rate[CONF_RATES]);

/**
 * conf_check_rates - see whether conf_save_rates() could, before a long run
 * @name: of the file
 *
 * Return: likewise.
 */
int conf_check_rates(const char *name);

#endif
