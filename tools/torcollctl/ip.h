/* SPDX-License-Identifier: GPL-2.0 */
/* The commands "fabric KEY ip ...". */
#ifndef _CTL_IP_H
#define _CTL_IP_H

#include "ctl.h"

/* Execute the words behind "ip". Return an exit code. */
int ip_main(struct args *a, uint64_t key);

#endif
