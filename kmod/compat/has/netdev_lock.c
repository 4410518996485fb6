// SPDX-License-Identifier: GPL-2.0
/* What sets the classes of a device's locks is in a header of its own. */
#include <net/netdev_lock.h>
