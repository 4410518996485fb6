// SPDX-License-Identifier: MIT
/* Works: see work.hpp. */
#include "work.hpp"

#include "progress.hpp"

namespace tortorch {

using c10::ivalue::Future;

/* What is added to the clock's time must not overflow. */
static constexpr std::chrono::milliseconds kForever = std::chrono::hours(24 * 365 * 30);

Work::Work(int rank, c10d::OpType type, const char *title, const std::vector<at::Tensor> &inputs,
	   std::unique_ptr<Call> call)
	: c10d::Work(rank, type, title, inputs), call_(std::move(call)), results_(call_->results)
{
}

/*
 * The kernel may still write to the tensors, and results may be elsewhere yet.
 * In a child of fork() a test fails, and the lock of the progress threads may be
 * held for ever.
 */
Work::~Work()
{
	if (call_)
		settle(std::move(call_));
}

/* Complete the future once there is one, and the call is complete. */
void Work::tell_future()
{
	c10::intrusive_ptr<Future> future;

	{
		std::lock_guard<std::mutex> guard(mutex_);

		if (!future_ || !completed_ || told_)
			return;
		told_ = true;
		future = future_;
	}
	if (exception_)
		future->setError(exception_);
	else
		future->markCompleted(c10::IValue(results_));
}

void Work::complete(std::unique_ptr<Call> call)
{
	finish(call->finish());
	tell_future();
}

bool Work::isCompleted()
{
	std::unique_ptr<Call> call;

	{
		std::lock_guard<std::mutex> guard(mutex_);

		if (call_ && call_->test())
			call = std::move(call_);
	}
	if (call)
		complete(std::move(call));
	return c10d::Work::isCompleted();
}

static std::string after(std::chrono::milliseconds timeout)
{
	return "wait: not complete after " + std::to_string(timeout.count()) +
	       " ms; the call goes on";
}

/* Get the call, to wait for it; NULL: it is complete. No timeout: 0 or less. */
std::unique_ptr<Call> Work::await_call(std::chrono::milliseconds timeout)
{
	std::unique_lock<std::mutex> guard(mutex_);
	auto is_over = [this] { return completed_ || call_; };

	if (timeout <= kNoTimeout || timeout > kForever)
		cv_.wait(guard, is_over);
	else if (!cv_.wait_for(guard, timeout, is_over))
		fail(after(timeout));
	return std::move(call_);
}

bool Work::is_wanted()
{
	std::lock_guard<std::mutex> guard(mutex_);

	return future_.defined();
}

void Work::take_back(std::unique_ptr<Call> call)
{
	{
		std::lock_guard<std::mutex> guard(mutex_);

		call_ = std::move(call);
	}
	cv_.notify_all();
}

/* Wait for it no more: another thread may, and somebody must for a future. */
void Work::give_back(std::unique_ptr<Call> call)
{
	bool over = call->comm().context->progress->has_ended();

	take_back(std::move(call));
	if (is_wanted() && !over)
		hand_over();
}

bool Work::wait(std::chrono::milliseconds timeout)
{
	uint64_t deadline_ns = deadline_in(timeout);
	std::unique_ptr<Call> call = await_call(timeout);

	if (call && !call->wait(deadline_ns)) {
		give_back(std::move(call));
		fail(after(timeout));
	}
	if (call)
		complete(std::move(call));
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
	std::unique_ptr<Call> call;

	{
		std::lock_guard<std::mutex> guard(mutex_);

		call = std::move(call_);
	}
	if (!call)
		return;
	try {
		/* in a child of fork it has ended, and the lock may be held for ever */
		if (!call->test() && call->comm().context->progress->add(call, self()))
			return;
	} catch (const std::exception &) {
		{
			std::lock_guard<std::mutex> guard(mutex_);

			call_ = std::move(call);
		}
		cv_.notify_all();
		throw;
	}
	complete(std::move(call));
}

/* A future that nobody completes is nobody's: the caller gets an exception instead. */
void Work::drop_future(c10::intrusive_ptr<Future> future)
{
	std::lock_guard<std::mutex> guard(mutex_);

	future.reset();
	if (!told_ && future_.use_count() == 1)
		future_.reset();
}

c10::intrusive_ptr<Future> Work::getFuture()
{
	c10::intrusive_ptr<Future> future;

	{
		std::lock_guard<std::mutex> guard(mutex_);

		if (!future_)
			future_ = c10::make_intrusive<Future>(
				c10::ListType::create(c10::TensorType::get()));
		future = future_;
	}
	try {
		hand_over();
	} catch (const std::exception &) {
		drop_future(std::move(future));
		throw;
	}
	tell_future();
	return future;
}

}  // namespace tortorch
