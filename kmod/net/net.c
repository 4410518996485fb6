// SPDX-License-Identifier: GPL-2.0
/* Network namespaces: their beginning, their end, and their name. See net.h. */
#include "net/net.h"

#include <linux/rtnetlink.h>
#include <linux/utsname.h>
#include <linux/wait_bit.h>
#include <net/netns/generic.h>

#include "net/fabric.h"

static unsigned int net_id __read_mostly;

struct tor_net *tor_net(const struct net *net)
{
	return net_generic(net, net_id);
}

void tor_net_name(struct tor_net *tn, char *name)
{
	spin_lock_bh(&tn->name_lock);
	strscpy(name, *tn->name ? tn->name : init_utsname()->nodename, TORCOLL_HOST_NAME + 1);
	spin_unlock_bh(&tn->name_lock);
}

void tor_net_set_name(struct tor_net *tn, const char *name, u32 len)
{
	spin_lock_bh(&tn->name_lock);
	memcpy(tn->name, name, len);
	memset(tn->name + len, 0, sizeof(tn->name) - len);
	spin_unlock_bh(&tn->name_lock);
}

void tor_env_host_name(const struct tor_node *node, char *name)
{
	tor_net_name(container_of(node, struct tor_fabric, node)->tn, name);
}

static int __net_init net_init(struct net *net)
{
	struct tor_net *tn = tor_net(net);

	tn->net = net;
	INIT_LIST_HEAD(&tn->fabrics);
	spin_lock_init(&tn->name_lock);
	return 0;
}

/*
 * Called for all namespaces that go together, before any of them is waited for.
 */
static void __net_exit net_pre_exit(struct net *net)
{
	struct tor_net *tn = tor_net(net);
	LIST_HEAD(kill);

	rtnl_lock();
	while (!list_empty(&tn->fabrics)) {
		struct tor_fabric *fabric = list_first_entry(&tn->fabrics, struct tor_fabric,
							     list);

		/* an open file would hold the namespace */
		WARN_ON(tor_fabric_del(fabric, false, &kill));
	}
	/* one wait for all of their devices */
	unregister_netdevice_many(&kill);
	rtnl_unlock();
}

static void __net_exit net_exit(struct net *net)
{
	struct tor_net *tn = tor_net(net);

	wait_var_event(&tn->held, !atomic_read(&tn->held));
}

static struct pernet_operations net_ops = {
	.init = net_init,
	.pre_exit = net_pre_exit,
	.exit = net_exit,
	.id = &net_id,
	.size = sizeof(struct tor_net),
};

int tor_net_init(void)
{
	return register_pernet_subsys(&net_ops);
}

void tor_net_exit(void)
{
	unregister_pernet_subsys(&net_ops);
}
