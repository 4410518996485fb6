// SPDX-License-Identifier: GPL-2.0
/* Network devices as the file of a fabric names them: by name, address, path. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"

#define UDEV_DATA	"/run/udev/data/n%u"
#define SYS_IFINDEX	"/sys/class/net/%s/ifindex"
#define PATH_LINE	"E:ID_PATH="

const struct device *devices_at(const struct devices *d, uint32_t ifindex)
{
	size_t i;

	for (i = 0; i < d->n; i++)
		if (d->list[i].ifindex == ifindex)
			return &d->list[i];
	return NULL;
}

static bool is_name(const struct device *device, const char *name)
{
	return !strcmp(device->name, name);
}

static bool mac_is(const uint8_t mac[6], const char *text)
{
	char own[18];

	snprintf(own, sizeof(own), "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3],
		 mac[4], mac[5]);
	return !strcmp(own, text);
}

static bool is_permanent(const struct device *device, const char *mac)
{
	return mac_is(device->permanent, mac);
}

static bool is_address(const struct device *device, const char *mac)
{
	return mac_is(device->mac, mac);
}

/*
 * Return whether /sys has this device: if not, /sys, like udev, is of another
 * network namespace, and its device of that number another one.
 */
static bool is_in_sys(const struct device *device)
{
	unsigned int ifindex = 0;
	char name[64];
	FILE *file;

	snprintf(name, sizeof(name), SYS_IFINDEX, device->name);
	file = fopen(name, "re");
	if (!file)
		return false;
	if (fscanf(file, "%u", &ifindex) != 1)
		ifindex = 0;
	fclose(file);
	return ifindex == device->ifindex;
}

/* udev keeps properties of a device in a file of lines. */
static bool is_path(const struct device *device, const char *path)
{
	char name[64], *line = NULL;
	bool found = false;
	size_t size = 0;
	FILE *file;

	snprintf(name, sizeof(name), UDEV_DATA, device->ifindex);
	file = fopen(name, "re");
	if (!file)
		return false;
	while (!found && getline(&line, &size, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		found = !strncmp(line, PATH_LINE, strlen(PATH_LINE)) &&
			!strcmp(line + strlen(PATH_LINE), path);
	}
	free(line);
	fclose(file);
	return found && is_in_sys(device);
}

/* Find the only device that is it. Return NULL with @why "" if there is none. */
static const struct device *find(const struct devices *d, const char *word,
				 bool (*is)(const struct device *device, const char *word),
				 char *why, size_t size)
{
	const struct device *found = NULL;
	size_t i;

	*why = '\0';
	for (i = 0; i < d->n; i++) {
		if (!is(&d->list[i], word))
			continue;
		if (found) {
			snprintf(why, size, "it is both %s and %s: name one of them", found->name,
				 d->list[i].name);
			return NULL;
		}
		found = &d->list[i];
	}
	return found;
}

const struct device *devices_find(const struct devices *d, const char *word, char *why,
				  size_t size)
{
	const struct device *found;

	if (!strncmp(word, "path:", 5)) {
		found = find(d, word + 5, is_path, why, size);
	} else if (!strncmp(word, "mac:", 4)) {
		found = find(d, word + 4, is_permanent, why, size);
		if (!found && !*why)
			found = find(d, word + 4, is_address, why, size);
	} else {
		found = find(d, word, is_name, why, size);
	}
	if (!found && !*why)
		snprintf(why, size, "there is no such device in this network namespace (yet)");
	return found;
}
