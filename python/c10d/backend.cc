// SPDX-License-Identifier: MIT
/* Process groups: making one, and what its functions have in common. */
#include "backend.hpp"

#include <stdexcept>

#include "progress.hpp"

namespace tortorch {

Backend::Backend(const c10::intrusive_ptr<c10d::Store> &store, int rank, int size,
		 Milliseconds timeout)
	: Base(rank, size), comm_(std::make_shared<Comm>(store, rank, size, timeout)),
	  timeout_(timeout)
{
}

uint64_t Backend::deadline(Milliseconds timeout) const
{
	if (timeout == c10d::kUnsetTimeout)
		timeout = timeout_;
	return deadline_in(timeout);
}

Backend::Description Backend::describe(const char *name, const char *title, c10d::OpType type,
				       Milliseconds timeout)
{
	return {name, title, type, deadline(timeout), std::make_unique<Call>(comm_)};
}

/*
 * The kernel has as many ops of a comm as it has slots, which complete ops keep
 * until the other ranks need them no more; the library starts others when a thread
 * looks for any. Nobody may, so a progress thread does.
 */
WorkPtr Backend::run(Description d, const Tensors &inputs, Tensors results)
{
	c10::intrusive_ptr<Work> work;
	bool queued;

	d.call->results = std::move(results);
	try {
		d.call->start();
	} catch (const std::exception &) {
		/* its results are not all there */
		d.call->forget_results();
		settle(std::move(d.call));
		throw;
	}
	/* what ranks compare */
	if (!c10d::isP2POp(d.type))
		sequence_++;
	queued = d.call->is_queued();
	work = c10::make_intrusive<Work>(rank_, d.type, d.title, inputs, std::move(d.call));
	if (!queued)
		return work;
	try {
		work->hand_over();
	} catch (const std::exception &) {
		/* no thread: who waits for the work, or drops it, starts the op, on which other ranks count */
	}
	return work;
}

/* ---- arguments ---- */

void refuse(const char *name, const std::string &why)
{
	throw std::invalid_argument("torcoll: " + std::string(name) + ": " + why);
}

static void check_tensor(const char *name, const Tensor &tensor)
{
	if (tensor.layout() != c10::kStrided)
		refuse(name, "tensors are dense, not sparse");
}

const Tensor &only(const char *name, const Tensors &tensors)
{
	if (tensors.size() != 1)
		refuse(name, "takes one tensor, not " + std::to_string(tensors.size()));
	check_tensor(name, tensors[0]);
	return tensors[0];
}

const Tensors &only(const char *name, const std::vector<Tensors> &lists)
{
	if (lists.size() != 1)
		refuse(name, "takes one list of tensors, not " + std::to_string(lists.size()));
	return lists[0];
}

void Backend::check_root(const Description &d, int64_t root) const
{
	if (root < 0 || root >= size_)
		refuse(d.name, "there is no rank " + std::to_string(root) + ", but 0 to " +
				       std::to_string(size_ - 1));
}

static void check_type(const char *name, const Tensor &tensor, const Tensor &other)
{
	check_tensor(name, tensor);
	if (tensor.scalar_type() != other.scalar_type())
		refuse(name, std::string("tensors of one type, not ") +
				     c10::toString(tensor.scalar_type()) + " and " +
				     c10::toString(other.scalar_type()));
}

/* A block for each rank, of one type; this rank's is as long as its other tensor. */
void Backend::check_blocks(const Description &d, const Tensors &blocks, const Tensor &own) const
{
	if (blocks.size() != static_cast<size_t>(size_))
		refuse(d.name, "takes a tensor for each of " + std::to_string(size_) +
				       " ranks, not " + std::to_string(blocks.size()));
	for (const Tensor &block : blocks)
		check_type(d.name, block, own);
	if (blocks[rank_].numel() != own.numel())
		refuse(d.name, "the block of this rank has " +
				       std::to_string(blocks[rank_].numel()) + " elements, not " +
				       std::to_string(own.numel()));
}

/* A tensor that has a block for each rank. */
void Backend::check_whole(const Description &d, const Tensor &whole, const Tensor &block) const
{
	check_tensor(d.name, block);
	check_type(d.name, whole, block);
	if (whole.numel() != block.numel() * size_)
		refuse(d.name, "a tensor of " + std::to_string(block.numel() * size_) +
				       " elements, " + std::to_string(size_) + " times " +
				       std::to_string(block.numel()) + ", not of " +
				       std::to_string(whole.numel()));
}

}  // namespace tortorch
