/* SPDX-License-Identifier: MIT */
/* Numbers in variables of the environment. Where there is none, or an empty one, the value is left as it is. */
#ifndef TORCOLL_PRELOAD_ENV_H
#define TORCOLL_PRELOAD_ENV_H

#include <stdbool.h>
#include <stdint.h>

/* Return false if there is something else than a number. */
bool preload_env_number(const char *name, uint64_t *value);

#endif
