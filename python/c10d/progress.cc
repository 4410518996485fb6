// SPDX-License-Identifier: MIT
/* Progress threads: see progress.hpp. */
#include "progress.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <sys/epoll.h>
#include <thread>
#include <unistd.h>

namespace tortorch {

/*
 * Edges of the device: of its states, one lasts as long as there is any result,
 * whoever is to fetch it, and there is none for a slot that becomes free.
 */
static int events_open(int device)
{
	epoll_event event = {};
	int events = epoll_create1(EPOLL_CLOEXEC), err;

	event.events = EPOLLIN | EPOLLOUT | EPOLLET;
	if (events >= 0 && !epoll_ctl(events, EPOLL_CTL_ADD, device, &event))
		return events;
	err = errno;
	if (events >= 0)
		close(events);
	throw std::runtime_error("the device cannot be watched by epoll: " +
				 std::string(strerror(err)));
}

Progress::Progress(torcoll *t) : events_(events_open(torcoll_fd(t)))
{
}

/* The signals of the program are for its own threads, but for faults of callbacks. */
static void start_without_signals(std::function<void()> run)
{
	sigset_t others, kept;

	sigfillset(&others);
	for (int fault : { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS })
		sigdelset(&others, fault);
	pthread_sigmask(SIG_SETMASK, &others, &kept);
	try {
		std::thread(std::move(run)).detach();
	} catch (...) {
		pthread_sigmask(SIG_SETMASK, &kept, nullptr);
		throw;
	}
	pthread_sigmask(SIG_SETMASK, &kept, nullptr);
}

/*
 * Context: lock_. Without another thread, the one that runs callbacks leads again
 * when it is through with them.
 */
void Progress::see_that_one_leads()
{
	if (led_ || entries_.empty())
		return;
	if (idle_) {
		wanted_.notify_one();
		return;
	}
	try {
		start_without_signals([this] { run(); });
	} catch (const std::exception &) {
		if (!threads_)
			throw;
		return;
	}
	threads_++;
	idle_++;
}

/*
 * Calls are tested under the lock here and by the thread that leads: an op that is
 * complete only after this test is an event that the thread sees when the call is
 * there.
 */
bool Progress::add(std::unique_ptr<Call> &call, c10::intrusive_ptr<Work> work)
{
	std::lock_guard<std::mutex> guard(lock_);

	if (call->test())
		return false;
	entries_.emplace_back();
	entries_.back() = {std::move(call), std::move(work)};
	try {
		see_that_one_leads();
	} catch (...) {
		/* no memory, or no thread: the caller still has to wait for it */
		call = std::move(entries_.back().call);
		entries_.pop_back();
		throw;
	}
	return true;
}

void settle(std::unique_ptr<Call> call)
{
	Progress &progress = *call->comm().context->progress;

	try {
		if (!call->test() && progress.add(call, {}))
			return;
	} catch (const std::exception &) {
		/* the kernel must not write to tensors that are freed */
		call->wait(0);
	}
	call->finish();
}

void Progress::clear_events()
{
	epoll_event event;

	epoll_wait(events_, &event, 1, 0);
}

/* Take a call that is complete; there is none: @first of the others. */
Progress::Entry Progress::take_complete(Call **first)
{
	std::lock_guard<std::mutex> guard(lock_);
	Entry taken;

	for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
		if (!entry->call->test())
			continue;
		taken = std::move(*entry);
		entries_.erase(entry);
		return taken;
	}
	*first = entries_[0].call.get();
	return taken;
}

/* Sleep until a call is complete, and take it. */
Progress::Entry Progress::await_complete()
{
	Entry taken;
	Call *first;

	for (;;) {
		/* what happens from now on ends the sleep */
		clear_events();
		taken = take_complete(&first);
		if (taken.call)
			return taken;
		/* starts what waits for a slot, too; only the thread that leads takes calls away */
		first->sleep(events_);
	}
}

void Progress::run()
{
	std::unique_lock<std::mutex> guard(lock_);
	Entry taken;

	for (;;) {
		wanted_.wait(guard, [this] { return !led_ && !entries_.empty(); });
		idle_--;
		led_ = true;
		guard.unlock();
		taken = await_complete();
		guard.lock();
		led_ = false;
		see_that_one_leads();
		guard.unlock();

		/* this may run callbacks of the program */
		if (taken.work)
			taken.work->complete(std::move(taken.call));
		else
			taken.call->finish();
		taken = {};
		guard.lock();
		idle_++;
	}
}

}  // namespace tortorch
