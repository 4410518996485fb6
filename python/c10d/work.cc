// SPDX-License-Identifier: MIT
/* Works: see work.hpp. */
#include "work.hpp"

#include "progress.hpp"

namespace tortorch {

using c10::ivalue::Future;

Work::Work(int rank, c10d::OpType type, const char *title, const std::vector<at::Tensor> &inputs,
	   std::unique_ptr<Call> call)
	: c10d::Work(rank, type, title, inputs), call_(std::move(call)), results_(call_->results)
{
}

/*
 * The kernel may still write to the tensors; not to those of a child of fork(),
 * where a test fails, and the lock of the progress threads may be held for ever.
 */
Work::~Work()
{
	if (call_ && !call_->test())
		call_->comm().context->progress->add(call_, {});
}

/* Complete the future once there is one, and the call is complete. */
void Work::tell_future()
{
	{
		std::lock_guard<std::mutex> guard(mutex_);

		if (!future_ || !completed_ || told_)
			return;
		told_ = true;
	}
	if (exception_)
		future_->setError(exception_);
	else
		future_->markCompleted(c10::IValue(results_));
}

void Work::complete(std::unique_ptr<Call> call)
{
	finish(call->finish());
	tell_future();
}

bool Work::isCompleted()
{
	std::unique_lock<std::mutex> own(lock_, std::try_to_lock);

	/* otherwise a thread waits for it */
	if (own && call_ && call_->test())
		complete(std::move(call_));
	return c10d::Work::isCompleted();
}

static std::string after(std::chrono::milliseconds timeout)
{
	return "wait: not complete after " + std::to_string(timeout.count()) +
	       " ms; the call goes on";
}

/* Whether the call was this thread's to wait for. */
bool Work::wait_here(std::chrono::milliseconds timeout)
{
	std::lock_guard<std::mutex> own(lock_);

	if (!call_)
		return false;
	if (!call_->wait(timeout > kNoTimeout ? torcoll_deadline(timeout.count()) : 0))
		fail(after(timeout));
	complete(std::move(call_));
	return true;
}

void Work::wait_there(std::chrono::milliseconds timeout)
{
	std::unique_lock<std::mutex> guard(mutex_);
	auto is_complete = [this] { return completed_; };

	if (timeout <= kNoTimeout)
		cv_.wait(guard, is_complete);
	else if (!cv_.wait_for(guard, timeout, is_complete))
		fail(after(timeout));
}

bool Work::wait(std::chrono::milliseconds timeout)
{
	if (!wait_here(timeout))
		wait_there(timeout);
	if (exception())
		std::rethrow_exception(exception());
	return true;
}

std::vector<at::Tensor> Work::result()
{
	return results_;
}

c10::intrusive_ptr<Work> Work::self()
{
	return c10::intrusive_ptr<Work>::reclaim_copy(this);
}

void Work::hand_over()
{
	std::lock_guard<std::mutex> own(lock_);

	/* in a child of fork it has ended, and the lock may be held for ever */
	if (call_ && (call_->test() || !call_->comm().context->progress->add(call_, self())))
		complete(std::move(call_));
}

c10::intrusive_ptr<Future> Work::getFuture()
{
	{
		std::lock_guard<std::mutex> guard(mutex_);

		if (future_)
			return future_;
		future_ = c10::make_intrusive<Future>(
			c10::ListType::create(c10::TensorType::get()));
	}
	hand_over();
	tell_future();
	return future_;
}

}  // namespace tortorch
