// SPDX-License-Identifier: MIT
/* The progress thread: see progress.hpp. */
#include "progress.hpp"

#include <stdexcept>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>

namespace tortorch {

Progress::Progress(torcoll *t) : events_(eventfd(0, EFD_CLOEXEC))
{
	if (events_ < 0 || torcoll_eventfd(t, events_))
		throw std::runtime_error(events_ < 0 ? "there is no eventfd" :
						       torcoll_last_error());
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

/* Wait until there is a call, and take those that are complete. */
std::vector<Progress::Entry> Progress::take_complete()
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
	return complete;
}

void Progress::run()
{
	uint64_t events;

	for (;;) {
		std::vector<Entry> complete = take_complete();

		/* this may run callbacks of the program */
		for (Entry &entry : complete)
			if (entry.work)
				entry.work->complete(std::move(entry.call));
		/* a signal only makes it look once more */
		if (complete.empty())
			(void)!read(events_, &events, sizeof(events));
	}
}

}  // namespace tortorch
