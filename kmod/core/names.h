/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Names of the enumerators of <linux/torcoll.h> as tools accept and print them,
 * by value. Includes no header of core, because libtorcoll and torcollctl use
 * it as well.
 */
#ifndef _TOR_CORE_NAMES_H
#define _TOR_CORE_NAMES_H

#include <linux/torcoll.h>

extern const char *const tor_collective_names[TORCOLL_COLL_COUNT];
extern const char *const tor_type_names[TORCOLL_TYPE_COUNT];
extern const char *const tor_redop_names[TORCOLL_REDOP_COUNT];
extern const char *const tor_algorithm_names[TORCOLL_ALGO_COUNT];

#endif
