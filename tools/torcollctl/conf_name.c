// SPDX-License-Identifier: GPL-2.0
/* Names that a file of a fabric may have: of hosts and devices. */
#include <net/if.h>
#include <string.h>

#include "conf.h"

bool conf_is_host_name(const char *name)
{
	static const char ok[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";

	return *name && strlen(name) < CONF_NAME_SIZE && !name[strspn(name, ok)];
}

bool conf_is_device_name(const char *name)
{
	return *name && strlen(name) < IFNAMSIZ && !strpbrk(name, "/:% \t") && strcmp(name, ".") &&
	       strcmp(name, "..");
}
