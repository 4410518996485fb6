// SPDX-License-Identifier: GPL-2.0
/* Names that a file of a fabric may have: of hosts and devices. */
#include <net/if.h>
#include <stdio.h>
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

/* Of hosts elsewhere, ? and \ stand for other characters: it is to be what it seems to be. */
bool conf_is_plain_device(const char *name)
{
	size_t i;

	for (i = 0; name[i] > ' ' && name[i] <= '~'; i++)
		;
	return conf_is_device_name(name) && !name[i] && *name != '#' && !strpbrk(name, "?\\");
}

/* Thunderbolt's devices are numbered in the order in which hosts at the other ends come. */
static bool has_passing_name(const char *name)
{
	return !strncmp(name, "thunderbolt", strlen("thunderbolt"));
}

void conf_name_device(char text[CONF_DEVICE_SIZE], const char *name, const uint8_t mac[6])
{
	if (conf_is_plain_device(name) && !has_passing_name(name))
		snprintf(text, CONF_DEVICE_SIZE, "%s", name);
	else
		snprintf(text, CONF_DEVICE_SIZE, "mac:%02x:%02x:%02x:%02x:%02x:%02x", mac[0],
			 mac[1], mac[2], mac[3], mac[4], mac[5]);
}
