/* SPDX-License-Identifier: MIT */
/*
 * What differs between Open MPI 4.1 and 5.0, chosen by what the headers have.
 * Nothing else asks which one it is.
 */
#ifndef COLL_TORCOLL_COMPAT_H
#define COLL_TORCOLL_COMPAT_H

#include "ompi_config.h"

#include "ompi/mca/coll/coll.h"

#if __has_include("opal/mca/threads/mutex.h")
#include "opal/mca/threads/mutex.h"
#else
#include "opal/threads/mutex.h"
#endif

/* PMIx is of Open MPI's own names in 4.1. */
#if __has_include("opal/mca/pmix/pmix-internal.h")
#include "opal/mca/pmix/pmix-internal.h"
#define COLL_TORCOLL_TO_ALL		PMIX_GLOBAL
#else
#include "opal/mca/pmix/pmix.h"
#define COLL_TORCOLL_TO_ALL		OPAL_PMIX_GLOBAL
#endif

/*
 * 5.0 waits without limit for what a process has not published, as one without
 * the component, unless only this host's server is asked. Once MPI_Init is over
 * that has everything, if processes exchange everything there.
 */
#ifdef OPAL_MODEX_RECV_IMMEDIATE
#define COLL_TORCOLL_RECV		OPAL_MODEX_RECV_IMMEDIATE
#define COLL_TORCOLL_RECV_ALL		(opal_pmix_collect_all_data && !opal_pmix_base_async_modex)
#else
#define COLL_TORCOLL_RECV		OPAL_MODEX_RECV
#define COLL_TORCOLL_RECV_ALL		true
#endif

#if __has_include("ompi/mca/rte/rte.h")
#include "ompi/mca/rte/rte.h"
#else
#include "ompi/runtime/ompi_rte.h"
#endif

/* The interface of components for collectives. */
#ifdef MCA_COLL_BASE_VERSION_2_4_0
#define COLL_TORCOLL_BASE_VERSION	MCA_COLL_BASE_VERSION_2_4_0
typedef mca_coll_base_component_2_4_0_t coll_torcoll_base_t;
#else
#define COLL_TORCOLL_BASE_VERSION	MCA_COLL_BASE_VERSION_2_0_0
typedef mca_coll_base_component_2_0_0_t coll_torcoll_base_t;
#endif

#endif
