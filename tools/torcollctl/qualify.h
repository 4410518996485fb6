/* SPDX-License-Identifier: GPL-2.0 */
/* torcollctl qualify: its two commands. */
#ifndef _CTL_QUALIFY_H
#define _CTL_QUALIFY_H

/*
 * Test and show the cables of all hosts; @file: a survey with tests that was
 * written before, or NULL. Return an exit code.
 */
int qualify_all(const char *file);

#endif
