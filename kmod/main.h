/* SPDX-License-Identifier: GPL-2.0 */
/* Functions that main.c calls at load and unload. */
#ifndef _TOR_MAIN_H
#define _TOR_MAIN_H

int tor_env_init(void);
void tor_env_exit(void);
int tor_session_init(void);
void tor_session_exit(void);
int tor_netlink_init(void);
void tor_netlink_exit(void);

#endif
