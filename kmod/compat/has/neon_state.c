// SPDX-License-Identifier: GPL-2.0
/* On arm64, whoever uses the FPU lends memory for the state that it interrupts. */
#include <asm/neon.h>

static void __maybe_unused has(struct user_fpsimd_state *state)
{
	kernel_neon_begin(state);
}
