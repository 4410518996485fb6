/* SPDX-License-Identifier: GPL-2.0 */
/* One command at a time changes what files of fabrics and of hosts are about. */
#ifndef _CTL_LOCK_H
#define _CTL_LOCK_H

/**
 * lock_take - wait until no other command has the lock
 * @fd: out: to be given to lock_drop(), also after an error
 *
 * It is that of all fabrics, in whatever network namespace: a descriptor of one
 * file that is never replaced, and that only root can open, so that nobody else
 * can keep commands waiting. Other users change nothing but files of their own,
 * and take none. Must not be taken twice.
 *
 * Return: an exit code, after printing the reason.
 */
int lock_take(int *fd);

/* @fd: -1: there is none */
void lock_drop(int fd);

#endif
