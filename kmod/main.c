// SPDX-License-Identifier: GPL-2.0
/* torcoll: collectives over directly cabled tori. Module load and unload. */
#include "main.h"

#ifndef CONFIG_64BIT
#error "torcoll needs a kernel of 64 bits: it addresses all memory directly"
#endif

#include <linux/module.h>

#include "cdev/user.h"
#include "core/version.h"
#include "memory/spare.h"
#include "net/net.h"
#include "net/port.h"
#include "net/xmit.h"
#include "op/group.h"
#include "packet/device.h"
#include "packet/held.h"
#include "survey/survey.h"

static int __init torcoll_init(void)
{
	int err;

	err = tor_env_init();
	if (err)
		return err;
	tor_user_init();
	tor_xmit_init();
	err = tor_group_init();
	if (err)
		goto err_env;
	err = tor_net_init();
	if (err)
		goto err_group;
	err = tor_port_init();
	if (err)
		goto err_net;
	err = tor_survey_init();
	if (err)
		goto err_port;
	err = tor_packet_init();
	if (err)
		goto err_survey;
	err = tor_netlink_init();
	if (err)
		goto err_packet;
	err = tor_session_init();
	if (err)
		goto err_netlink;
	return 0;

err_netlink:
	tor_netlink_exit();
err_packet:
	tor_packet_exit();
err_survey:
	tor_survey_exit();
err_port:
	tor_port_exit();
err_net:
	tor_net_exit();
err_group:
	tor_group_exit();
	tor_held_exit();
err_env:
	/*
	 * callbacks of call_rcu() that free objects made meanwhile are code of
	 * this module
	 */
	rcu_barrier();
	tor_env_exit();
	return err;
}

static void __exit torcoll_exit(void)
{
	/*
	 * no file is open and none can be opened: only fabrics and their ports
	 * are left
	 */
	tor_session_exit();
	tor_netlink_exit();
	tor_packet_exit();
	tor_survey_exit();
	tor_port_exit();
	tor_net_exit();
	tor_group_exit();
	tor_held_exit();
	tor_spare_exit();
	/* callbacks of call_rcu() are code of this module */
	rcu_barrier();
	tor_env_exit();
}

module_init(torcoll_init);
module_exit(torcoll_exit);

MODULE_DESCRIPTION("Collectives over directly cabled Ethernet tori");
MODULE_AUTHOR("The torcoll authors");
MODULE_LICENSE("GPL");
MODULE_VERSION(TOR_VERSION);
