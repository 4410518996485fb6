/* SPDX-License-Identifier: GPL-2.0 */
/* The ioctls of /dev/torcoll. */
#ifndef _TOR_IOCTL_H
#define _TOR_IOCTL_H

struct file;

/* See linux/torcoll.h. Context: process. Return: 0 or a negative errno. */
long tor_session_ioctl(struct file *file, unsigned int cmd, unsigned long arg);

#endif
