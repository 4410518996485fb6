// SPDX-License-Identifier: MIT
/* The component: its parameters, its beginning and its end. */
#include "coll_torcoll.h"

#include <errno.h>
#include <inttypes.h>

#include "opal/runtime/opal_progress.h"

static int component_register(void);
static int component_open(void);
static int component_close(void);
static int component_init_query(bool progress_threads, bool mpi_threads);

struct coll_torcoll_component mca_coll_torcoll_component = {
	.super = {
		.collm_version = {
			COLL_TORCOLL_BASE_VERSION,
			.mca_component_name = "torcoll",
			MCA_BASE_MAKE_VERSION(component, OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION,
					      OMPI_RELEASE_VERSION),
			.mca_open_component = component_open,
			.mca_close_component = component_close,
			.mca_register_component_params = component_register,
		},
		.collm_data = { MCA_BASE_METADATA_PARAM_NONE },
		.collm_init_query = component_init_query,
		.collm_comm_query = coll_torcoll_comm_query,
	},
};

static void register_var(const char *name, const char *help, mca_base_var_type_t type,
			 mca_base_var_info_lvl_t level, void *storage)
{
	mca_base_component_var_register(&coll_torcoll.super.collm_version, name, help, type, NULL,
					0, 0, level, MCA_BASE_VAR_SCOPE_READONLY, storage);
}

static int component_register(void)
{
	coll_torcoll.priority = 95;
	register_var("priority", "Priority of the component among those for collectives",
		     MCA_BASE_VAR_TYPE_INT, OPAL_INFO_LVL_5, &coll_torcoll.priority);
	coll_torcoll.enable = false;
	register_var("enable",
		     "Run collectives in the kernel of the hosts, over the cables of a torcoll fabric",
		     MCA_BASE_VAR_TYPE_BOOL, OPAL_INFO_LVL_2, &coll_torcoll.enable);
	coll_torcoll.verbose = 0;
	register_var("verbose",
		     "What is reported: 1: communicators that are taken or not, and at the end how many calls ran in the kernel; 2: also each call that is left to another component",
		     MCA_BASE_VAR_TYPE_INT, OPAL_INFO_LVL_2, &coll_torcoll.verbose);
	coll_torcoll.min_nodes = 2;
	register_var("min_nodes",
		     "Communicators whose ranks are on fewer nodes are left to other components",
		     MCA_BASE_VAR_TYPE_INT, OPAL_INFO_LVL_4, &coll_torcoll.min_nodes);
	coll_torcoll.fabric = NULL;
	register_var("fabric", "Key of the fabric to use, where a host is a node of several",
		     MCA_BASE_VAR_TYPE_STRING, OPAL_INFO_LVL_3, &coll_torcoll.fabric);
	coll_torcoll.min_bytes = 0;
	register_var("min_bytes",
		     "Calls on fewer bytes are left to other components (the whole vector; not barriers, and not calls whose length differs by rank)",
		     MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG, OPAL_INFO_LVL_4, &coll_torcoll.min_bytes);
	coll_torcoll.max_bytes = 0;
	register_var("max_bytes",
		     "Calls on more bytes are left to other components, as with min_bytes (0: no limit)",
		     MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG, OPAL_INFO_LVL_4, &coll_torcoll.max_bytes);
	coll_torcoll.timeout = 30;
	register_var("timeout",
		     "Seconds that a communicator may take to be made, when all ranks are in its first blocking call, before it is left to other components (0: no limit)",
		     MCA_BASE_VAR_TYPE_INT, OPAL_INFO_LVL_5, &coll_torcoll.timeout);
	return OMPI_SUCCESS;
}

static int component_open(void)
{
	int err;

	if (!coll_torcoll.enable)
		return OMPI_ERR_NOT_AVAILABLE;
	OBJ_CONSTRUCT(&coll_torcoll.lock, opal_mutex_t);
	OBJ_CONSTRUCT(&coll_torcoll.active, opal_list_t);
	coll_torcoll.output = opal_output_open(NULL);
	opal_output_set_verbosity(coll_torcoll.output, coll_torcoll.verbose);
	err = torcoll_open(&coll_torcoll.t);
	if (err) {
		opal_output(0, "coll:torcoll: not used: %s", torcoll_last_error());
		return OMPI_ERR_NOT_AVAILABLE;
	}
	return coll_torcoll_place_publish();
}

static int component_init_query(bool progress_threads, bool mpi_threads)
{
	return OMPI_SUCCESS;
}

static int component_close(void)
{
	uint64_t *left = coll_torcoll.left;

	if (!coll_torcoll.t)
		return OMPI_SUCCESS;
	if (coll_torcoll.progressing)
		opal_progress_unregister(coll_torcoll_progress);
	coll_torcoll.progressing = false;
	opal_output_verbose(1, coll_torcoll.output,
			    "coll:torcoll: %" PRIu32 " communicators; %" PRIu64 " calls in the kernel, %" PRIu64 " by other components: %" PRIu64 " for their operator or type, %" PRIu64 " for their size, %" PRIu64 " before the first blocking one",
			    coll_torcoll.comms, coll_torcoll.taken,
			    left[TMPI_OPERATOR] + left[TMPI_SIZE] +
			    left[TMPI_EARLY],
			    left[TMPI_OPERATOR], left[TMPI_SIZE],
			    left[TMPI_EARLY]);
	torcoll_close(coll_torcoll.t);
	coll_torcoll.t = NULL;
	OBJ_DESTRUCT(&coll_torcoll.active);
	OBJ_DESTRUCT(&coll_torcoll.lock);
	opal_output_close(coll_torcoll.output);
	return OMPI_SUCCESS;
}
