/* SPDX-License-Identifier: MIT */
/* Types and operators of PyTorch as libtorcoll has them. */
#pragma once

#include <ATen/ATen.h>
#include <torch/csrc/distributed/c10d/Types.hpp>
#include <torcoll.h>

namespace tortorch {

/*
 * What moves n elements of a tensor: as its own type if the module has it, so
 * that ranks which disagree about it are noticed, else as bytes.
 */
struct Unit {
	torcoll_type type;
	uint64_t per_element;	/* units in an element of the tensor */
};

Unit unit_of(at::ScalarType type);

/* A reduction, and the factor that premultiplied sums have, else undefined. */
struct Reduction {
	torcoll_type type;
	torcoll_redop redop;
	at::Tensor scalar;
};

/* Throws std::invalid_argument if there is no such reduction of this type. */
Reduction reduction_of(at::ScalarType type, const c10d::ReduceOp &op);

}  // namespace tortorch
