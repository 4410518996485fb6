/* SPDX-License-Identifier: MIT */
/*
 * A call: the ops of one function of a process group, their requests, and the
 * tensors that they use.
 *
 * Ops use the memory of tensors as it is where that is one piece in this host's
 * memory. Other tensors, and lists of them, are copied to one piece, and from it
 * when the ops are complete.
 */
#pragma once

#include <ATen/ATen.h>
#include <c10/util/SmallVector.h>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "comm.hpp"
#include "types.hpp"

namespace tortorch {

/* Blocks of a vector: their lengths in elements of the op. */
using Counts = std::vector<uint64_t>;

/* Of a comm's ops, those that start in the order of their calls: collectives, or messages to or from a rank. */
using Series = std::tuple<const torcoll_comm *, torcoll_collective, uint32_t>;

class Call {
public:
	explicit Call(std::shared_ptr<Comm> comm) : comm_(std::move(comm)) {}
	Call(const Call &) = delete;
	Call &operator=(const Call &) = delete;

	/* What an op reads, writes, or both. Addresses stay valid until the call is over. */
	void *reads(const at::Tensor &tensor);
	void *writes(const at::Tensor &tensor);
	void *updates(const at::Tensor &tensor);
	void *reads(const std::vector<at::Tensor> &tensors);
	void *writes(const std::vector<at::Tensor> &tensors);

	/* Add an op, to fill in. */
	torcoll_op &add(torcoll_collective collective, uint64_t deadline_ns);
	torcoll_op &add(torcoll_collective collective, uint64_t deadline_ns, const Reduction &r);

	/* The lengths of blocks for the op that was added last, which differ from rank to rank. */
	const uint64_t *keep(Counts counts);

	/* Start the ops. Throws if one is refused; those before it are still under way. */
	void start();

	/* Its place among the calls of the comm, by when they were started. */
	uint64_t number() const { return number_; }

	/* Whether the library had to queue an op, which only a thread that waits or tests starts. */
	bool is_queued() const;

	/* Whether it still has one that waits for a slot, and with it all calls of the series that follow. */
	bool waits_for_slot() const;

	/* Of the ops, all of which are of one. There is one at least. */
	Series series() const;

	/* Look whether all ops are complete; wait for that, until a time of torcoll_deadline(), 0: none. */
	bool test();
	bool wait(uint64_t deadline_ns);

	/* Sleep until an op is complete, a descriptor is readable, or a time of torcoll_deadline(); 0: none. */
	void sleep(int fd, uint64_t deadline_ns);

	/* Leave the tensors of which the ops have copies as they are, and what @check sets as well. */
	void forget_results()
	{
		pieces_.clear();
		check = nullptr;
	}

	/* Copy results to where they belong. What failed, or NULL. */
	std::exception_ptr finish();

	Comm &comm() { return *comm_; }

	/* What the results are, for futures. */
	std::vector<at::Tensor> results;

	/* What else is to be checked, or computed of the results, when the ops are complete; may throw. */
	std::function<void()> check;

private:
	/* Results in other memory than their tensor's. */
	struct Piece {
		at::Tensor tensor;
		char *from;
	};

	void *scratch(size_t bytes);
	void *copied(const at::Tensor &tensor, bool back);
	char *held_in_one_piece(const std::vector<at::Tensor> &tensors);
	bool ended(int status);

	std::shared_ptr<Comm> comm_;
	c10::SmallVector<torcoll_op, 1> ops_;
	c10::SmallVector<torcoll_request, 1> requests_;
	c10::SmallVector<at::Tensor, 4> held_;
	std::vector<Piece> pieces_;
	std::vector<Counts> counts_;
	uint64_t number_ = 0;
	uint32_t started_ = 0;
	uint32_t complete_ = 0;
	std::string error_;
};

}  // namespace tortorch
