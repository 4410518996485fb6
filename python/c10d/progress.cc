// SPDX-License-Identifier: MIT
/* The progress thread: see progress.hpp. */
#include "progress.hpp"

#include <cerrno>
#include <cstring>
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

/*
 * Calls are tested under the lock here and by the thread: an op that is complete
 * only after this test is an event that the thread sees when the call is there.
 */
bool Progress::add(std::unique_ptr<Call> &call, c10::intrusive_ptr<Work> work)
{
	std::lock_guard<std::mutex> guard(lock_);

	if (call->test())
		return false;
	entries_.push_back({std::move(call), std::move(work)});
	if (!running_)
		std::thread(&Progress::run, this).detach();
	running_ = true;
	if (entries_.size() == 1)
		added_.notify_one();
	return true;
}

void Progress::clear_events()
{
	epoll_event event;

	epoll_wait(events_, &event, 1, 0);
}

/* Wait until there is a call, and take those that are complete. @first of the others, if any. */
std::vector<Progress::Entry> Progress::take_complete(Call **first)
{
	std::unique_lock<std::mutex> guard(lock_);
	std::vector<Entry> complete;
	size_t left = 0;

	added_.wait(guard, [this] { return !entries_.empty(); });
	for (Entry &entry : entries_) {
		if (entry.call->test())
			complete.push_back(std::move(entry));
		else
			std::swap(entries_[left++], entry);
	}
	entries_.resize(left);
	*first = left ? entries_[0].call.get() : nullptr;
	return complete;
}

void Progress::run()
{
	Call *first;

	for (;;) {
		/* what happens from now on ends the sleep */
		clear_events();

		std::vector<Entry> complete = take_complete(&first);

		/* this may run callbacks of the program */
		for (Entry &entry : complete)
			if (entry.work)
				entry.work->complete(std::move(entry.call));
		/* starts what waits for a slot, too; only this thread takes calls away */
		if (complete.empty())
			first->sleep(events_);
	}
}

}  // namespace tortorch
