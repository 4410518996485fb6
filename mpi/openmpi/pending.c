// SPDX-License-Identifier: MIT
/*
 * Whether Open MPI has something to make progress with: requests of
 * point-to-point messages that are not complete, or windows, whose targets
 * answer without a call. While it has, a collective must not sleep for long.
 */
#include "coll_torcoll.h"

#include <dlfcn.h>
#include <string.h>

#include "ompi/mca/pml/base/base.h"
#include "ompi/mca/pml/base/pml_base_request.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/runtime/params.h"
#include "ompi/win/win.h"

/*
 * Items that are counted in each call, which takes a few us. A process that once
 * had more requests at a time has as many items for ever.
 */
#define ITEMS_MAX	1024

/*
 * Where ob1 has the request that it keeps for blocking messages, which is not on
 * the list; NULL there: it is in use, or there is none.
 */
static void *const *kept_send, *const *kept_receive;
static bool kept_is_known;

static void find_kept(void)
{
	if (kept_is_known)
		return;
	kept_send = dlsym(RTLD_DEFAULT, "mca_pml_ob1_sendreq");
	kept_receive = dlsym(RTLD_DEFAULT, "mca_pml_ob1_recvreq");
	kept_is_known = true;
}

/*
 * Whether all items that a list has allocated are in it, or @kept. False if they
 * are too many to count: then there may always be something.
 */
static bool list_is_whole(opal_free_list_t *list, void *const *kept)
{
	opal_list_item_t *end = &list->super.opal_lifo_ghost;
	opal_list_item_t *item = (opal_list_item_t *)list->super.opal_lifo_head.data.item;
	size_t n = kept && *kept;

	if (list->fl_num_allocated > ITEMS_MAX)
		return false;
	for (; item != end && n < list->fl_num_allocated; n++)
		item = (opal_list_item_t *)item->opal_list_next;
	return n == list->fl_num_allocated;
}

static bool windows_exist(void)
{
	/* one is MPI_WIN_NULL */
	return ompi_mpi_windows.size - ompi_mpi_windows.number_free > 1;
}

/*
 * Other layers than ob1 keep their requests elsewhere, and with several threads
 * the lists change while they are read: then there may always be something.
 */
bool coll_torcoll_pending(void)
{
	if (ompi_mpi_thread_multiple ||
	    strcmp(mca_pml_base_selected_component.pmlm_version.mca_component_name, "ob1"))
		return true;
	find_kept();
	return windows_exist() || !list_is_whole(&mca_pml_base_send_requests, kept_send) ||
	       !list_is_whole(&mca_pml_base_recv_requests, kept_receive);
}
