/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef _TOR_CORE_VERSION_H
#define _TOR_CORE_VERSION_H

#define TOR_VERSION	"0.2.0"

#endif
