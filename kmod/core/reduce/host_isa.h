/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What the CPU of a program can do. Not for the module, which asks the kernel. */
#ifndef _TOR_CORE_HOST_ISA_H
#define _TOR_CORE_HOST_ISA_H

#ifdef __aarch64__
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

#include "core/reduce/reduce.h"

/* Return whether this CPU has what the kernels of @isa need. */
static inline bool host_has_isa(enum tor_isa isa)
{
#if defined(__x86_64__)
	if (isa == TOR_ISA_AVX2)
		return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c") &&
		       __builtin_cpu_supports("fma");
	if (isa == TOR_ISA_AVX512)
		return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
		       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#elif defined(__aarch64__)
	if (isa == TOR_ISA_FP16)
		return getauxval(AT_HWCAP) & HWCAP_ASIMDHP;
#endif
	return isa == 0;
}

#endif
