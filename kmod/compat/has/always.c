// SPDX-License-Identifier: GPL-2.0
/* Compiles for every kernel: if it does not, no other answer counts. */
#include <linux/module.h>
#include <linux/netdevice.h>
