// SPDX-License-Identifier: MIT
/* The fabrics that this host is part of. */
#include <string.h>

#include "internal.h"

static void describe_fabric(const struct torcoll_sys_fabric *from, struct torcoll_fabric *to)
{
	_Static_assert(sizeof(from->side) == sizeof(to->side), "the same number of dimensions");
	*to = (struct torcoll_fabric){
		.key = from->key,
		.node = from->node,
		.nodes = from->nodes,
		.ndim = from->ndim,
	};
	memcpy(to->side, from->side, sizeof(to->side));
}

int torcoll_fabrics(struct torcoll_fabric *fabrics, uint32_t room)
{
	struct torcoll_sys_fabric *list = calloc(room ? room : 1, sizeof(*list));
	int found;

	if (!list)
		return torcoll__fail(-ENOMEM, "fabrics of this host: out of memory");
	found = torcoll_sys_fabrics(list, room);
	for (int i = 0; i < found && (uint32_t)i < room; i++)
		describe_fabric(&list[i], &fabrics[i]);
	free(list);
	if (found == -ENOENT)
		return torcoll__fail(found, "fabrics of this host: the torcoll module is not loaded");
	if (found < 0)
		return torcoll__fail(found, "fabrics of this host: %s", strerror(-found));
	return found;
}
