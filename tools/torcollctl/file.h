/* SPDX-License-Identifier: GPL-2.0 */
/* Files that commands write: never half, and not in place of what is no file. */
#ifndef _CTL_FILE_H
#define _CTL_FILE_H

#include <stddef.h>
#include <stdio.h>

/**
 * file_replace - write a file anew: whoever reads it sees the old text or the new one
 * @name: of the file, which exists; the new one has its owner and mode
 * @text: the new text
 * @len: its bytes
 *
 * Context: lock_take(), and since the old text was read.
 * Return: an exit code.
 */
int file_replace(const char *name, const char *text, size_t len);

/**
 * file_print - write a file, whether it exists or not
 * @name: of the file: one that exists is replaced as by file_replace(), not a
 *	  link to it; what is no file, such as a terminal, is written to
 * @print: writes its text
 * @arg: for @print
 *
 * Return: an exit code, after printing the reason.
 */
int file_print(const char *name, void (*print)(FILE *out, const void *arg), const void *arg);

/**
 * file_check - see whether file_print() could write a file, before a long run
 * @name: of the file
 *
 * Return: an exit code, after printing the reason.
 */
int file_check(const char *name);

/**
 * file_publish - the same for a file that is made anew time and again
 * @name: of the file
 * @text: its text
 * @len: its bytes
 *
 * It is this user's, and everybody may read it. It may lie in the folder of
 * another user, whose link it replaces.
 */
int file_publish(const char *name, const char *text, size_t len);

#endif
