/* SPDX-License-Identifier: MIT */
/*
 * A work: what a function of a process group returns.
 *
 * The thread that waits for a work waits for its ops in the kernel, and has the
 * call meanwhile; others wait until that is complete, or given up. A future has
 * to be completed by a thread, though nobody may wait: so the progress threads
 * take over the call of a work whose future is asked for, unless a thread has it,
 * and of one that is dropped before it is complete.
 *
 * Locking: c10d::Work::mutex_ is also of the members here. Nobody holds it who
 * waits for an op, or runs what may be the program's.
 */
#pragma once

#include <torch/csrc/distributed/c10d/Work.hpp>

#include "call.hpp"

namespace tortorch {

class Work : public c10d::Work {
public:
	Work(int rank, c10d::OpType type, const char *title, const std::vector<at::Tensor> &inputs,
	     std::unique_ptr<Call> call);
	~Work() override;

	bool isCompleted() override;
	bool wait(std::chrono::milliseconds timeout) override;
	std::vector<at::Tensor> result() override;
	c10::intrusive_ptr<c10::ivalue::Future> getFuture() override;

	/* The ops of the call are complete. Called once. */
	void complete(std::unique_ptr<Call> call);

	/* Let the progress threads take the call over. */
	void hand_over();

	/* Have it back from them, for whoever waits for the work. */
	void take_back(std::unique_ptr<Call> call);

private:
	c10::intrusive_ptr<Work> self();
	void tell_future();
	std::unique_ptr<Call> await_call(std::chrono::milliseconds timeout);
	void give_back(std::unique_ptr<Call> call);
	void drop_future(c10::intrusive_ptr<c10::ivalue::Future> future);
	bool is_wanted();

	std::unique_ptr<Call> call_;	/* until it is complete, handed over or waited for */
	std::vector<at::Tensor> results_;
	c10::intrusive_ptr<c10::ivalue::Future> future_;
	bool told_ = false;		/* future_ is complete, or is being completed */
};

}  // namespace tortorch
