// SPDX-License-Identifier: MIT
/* Types and operators: see types.hpp. */
#include "types.hpp"

#include <stdexcept>
#include <string>
#include <torch/version.h>

namespace tortorch {

using c10d::ReduceOp;

static torcoll_type type_of(at::ScalarType type)
{
	switch (type) {
	case at::kBool:		return TORCOLL_U8;
	case at::kByte:		return TORCOLL_U8;
	case at::kChar:		return TORCOLL_I8;
	case at::kShort:	return TORCOLL_I16;
	case at::kInt:		return TORCOLL_I32;
	case at::kLong:		return TORCOLL_I64;
	case at::kHalf:		return TORCOLL_F16;
	case at::kBFloat16:	return TORCOLL_BF16;
	case at::kFloat:	return TORCOLL_F32;
	case at::kDouble:	return TORCOLL_F64;
	default:		return TORCOLL_TYPE_NONE;
	}
}

Unit unit_of(at::ScalarType type)
{
	torcoll_type own = type_of(type);

	if (own != TORCOLL_TYPE_NONE)
		return {own, 1};
	return {TORCOLL_U8, c10::elementSize(type)};
}

static const char *op_name(ReduceOp::RedOpType op)
{
	static const char *const names[] = {
		"SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR", "PREMUL_SUM",
	};

	return op < sizeof(names) / sizeof(*names) ? names[op] : "unknown";
}

static torcoll_redop redop_of_number(ReduceOp::RedOpType op, bool integer)
{
	switch (op) {
	case ReduceOp::SUM:		return TORCOLL_SUM;
	case ReduceOp::AVG:		return TORCOLL_AVG;
	case ReduceOp::PRODUCT:		return TORCOLL_PROD;
	case ReduceOp::MIN:		return TORCOLL_MIN;
	case ReduceOp::MAX:		return TORCOLL_MAX;
	case ReduceOp::PREMUL_SUM:	return TORCOLL_PREMULSUM;
	case ReduceOp::BAND:		return integer ? TORCOLL_BAND : TORCOLL_REDOP_NONE;
	case ReduceOp::BOR:		return integer ? TORCOLL_BOR : TORCOLL_REDOP_NONE;
	case ReduceOp::BXOR:		return integer ? TORCOLL_BXOR : TORCOLL_REDOP_NONE;
	default:			return TORCOLL_REDOP_NONE;
	}
}

/* A sum of truth values is whether any is true, as adding tensors of them has it. */
static torcoll_redop redop_of_bool(ReduceOp::RedOpType op)
{
	switch (op) {
	case ReduceOp::SUM:
	case ReduceOp::MAX:
	case ReduceOp::BOR:	return TORCOLL_LOR;
	case ReduceOp::PRODUCT:
	case ReduceOp::MIN:
	case ReduceOp::BAND:	return TORCOLL_LAND;
	case ReduceOp::BXOR:	return TORCOLL_LXOR;
	default:		return TORCOLL_REDOP_NONE;
	}
}

/* The factor of a premultiplied sum, one element of any type. */
static at::Tensor factor_of(const ReduceOp &op)
{
	auto *factor = static_cast<c10d::NCCLPreMulSumSupplement *>(op.supplement_.get());
	at::Tensor given;

	if (!factor)
		throw std::invalid_argument("PREMUL_SUM has no factor");
#if TORCH_VERSION_MAJOR >= 2
	given = factor->tensor_factor;
#else
	if (!factor->tensor_factors.empty())
		given = factor->tensor_factors[0];
#endif
	if (!given.defined())
		return at::scalar_tensor(factor->double_factor, at::TensorOptions(at::kDouble));
	if (given.numel() != 1)
		throw std::invalid_argument("the factor of PREMUL_SUM has " +
					    std::to_string(given.numel()) + " elements, not one");
	return given.to(at::kCPU);
}

/* The same as one element of the tensors' type. Floats are rounded. */
static at::Tensor scalar_of(at::ScalarType type, const ReduceOp &op)
{
	at::Tensor given = factor_of(op), scalar = given.to(type);

	if (c10::isIntegralType(type, false) &&
	    scalar.item<double>() != given.item<double>())
		throw std::invalid_argument("the factor of PREMUL_SUM, " +
					    std::to_string(given.item<double>()) +
					    ", is no element of tensors of type " +
					    c10::toString(type));
	return scalar;
}

Reduction reduction_of(at::ScalarType type, const ReduceOp &op)
{
	auto kind = static_cast<ReduceOp::RedOpType>(op);
	Reduction r = {type_of(type), TORCOLL_REDOP_NONE, {}};

	if (type == at::kBool)
		r.redop = redop_of_bool(kind);
	else if (r.type != TORCOLL_TYPE_NONE)
		r.redop = redop_of_number(kind, c10::isIntegralType(type, false));
	if (r.redop == TORCOLL_REDOP_NONE)
		throw std::invalid_argument(std::string("there is no ") + op_name(kind) +
					    " of tensors of type " + c10::toString(type));
	if (r.redop == TORCOLL_PREMULSUM)
		r.scalar = scalar_of(type, op);
	return r;
}

}  // namespace tortorch
