/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Long tests: items of work done by several processes, with progress and one count at the end. */
#ifndef _PLANS_JOBS_H
#define _PLANS_JOBS_H

#include <stddef.h>

/**
 * jobs_run - do all items
 * @items: their number
 * @what: an item is, in the plural
 * @item: does one, in some process, calls jobs_passed() and jobs_failed(); 0 is begun first
 *
 * As many processes as processors. Shows progress, and in the last line "N passed, N failed".
 *
 * Return: an exit code.
 */
int jobs_run(size_t items, const char *what, void (*item)(size_t i));

void jobs_passed(unsigned long cases);

/* One case failed; says so. */
void jobs_failed(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
