// SPDX-License-Identifier: GPL-2.0
/* Names and secrets that no other run has. */
#include <errno.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

#include "job.h"

#define BYTES_MAX	16

/* Write 2 * @bytes digits and the terminator. */
static int random_hex(char *s, size_t bytes)
{
	uint8_t b[BYTES_MAX];
	size_t i;

	if (getrandom(b, bytes, 0) != (ssize_t)bytes)
		return errno ? -errno : -EIO;
	for (i = 0; i < bytes; i++)
		sprintf(s + 2 * i, "%02x", b[i]);
	return 0;
}

int fresh_name(char name[FRESH_NAME_SIZE])
{
	char hex[2 * 8 + 1];
	int err = random_hex(hex, 8);

	if (!err)
		snprintf(name, FRESH_NAME_SIZE, "run-%d-%s", getpid(), hex);
	return err;
}

int fresh_secret(char secret[FRESH_SECRET_SIZE])
{
	return random_hex(secret, (FRESH_SECRET_SIZE - 1) / 2);
}
