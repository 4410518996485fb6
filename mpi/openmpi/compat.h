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
 * Return whether processes go on before all have published: then what one of
 * them gets in a limited time is not what others get.
 */
static inline bool coll_torcoll_is_early(void)
{
#ifdef OPAL_MODEX_RECV_IMMEDIATE
	return opal_pmix_base_async_modex;
#else
	return false;
#endif
}

/*
 * Get what the component of another process has published, which the caller
 * frees. 5.0 waits without limit for what a process has not published, such as
 * one without the component, and to ask only this host's server would give some
 * ranks what others do not get: it has what somebody on this host has asked for.
 */
static inline int coll_torcoll_recv(const mca_base_component_t *component,
				    const opal_process_name_t *name, void **data, size_t *size)
{
	int ret;
#ifdef OPAL_MODEX_RECV_IMMEDIATE
	char *key = mca_base_component_to_string(component);
	pmix_value_t *value = NULL;
	int seconds = 20;
	pmix_proc_t proc;
	pmix_info_t info;

	if (!key)
		return OPAL_ERR_OUT_OF_RESOURCE;
	OPAL_PMIX_CONVERT_NAME(&proc, name);
	PMIX_INFO_LOAD(&info, PMIX_TIMEOUT, &seconds, PMIX_INT);
	ret = opal_pmix_convert_status(PMIx_Get(&proc, key, &info, 1, &value));
	PMIX_INFO_DESTRUCT(&info);
	free(key);
	if (!value)
		return ret ? ret : OPAL_ERR_NOT_FOUND;
	if (!ret) {
		*data = value->data.bo.bytes;
		*size = value->data.bo.size;
		value->data.bo.bytes = NULL;
	}
	PMIX_VALUE_RELEASE(value);
#else
	OPAL_MODEX_RECV(ret, component, name, data, size);
#endif
	return ret;
}

#if __has_include("ompi/mca/rte/rte.h")
#include "ompi/mca/rte/rte.h"
#else
#include "ompi/runtime/ompi_rte.h"
#endif

/*
 * The interface of components for collectives. That a request of theirs has failed
 * 5.0 tells its communicator, when it has freed the request.
 */
#ifdef MCA_COLL_BASE_VERSION_2_4_0
#define COLL_TORCOLL_TELLS_COMM		true
#define COLL_TORCOLL_BASE_VERSION	MCA_COLL_BASE_VERSION_2_4_0
typedef mca_coll_base_component_2_4_0_t coll_torcoll_base_t;
#else
#define COLL_TORCOLL_TELLS_COMM		false
#define COLL_TORCOLL_BASE_VERSION	MCA_COLL_BASE_VERSION_2_0_0
typedef mca_coll_base_component_2_0_0_t coll_torcoll_base_t;
#endif

#endif
