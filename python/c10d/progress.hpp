/* SPDX-License-Identifier: MIT */
/*
 * The progress thread: completes the calls for which no thread waits. It is
 * started when there is the first of them, and sleeps while there is none, so
 * that calls which are waited for cost nothing here.
 */
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "work.hpp"

namespace tortorch {

class Progress {
public:
	explicit Progress(torcoll *t);
	Progress(const Progress &) = delete;
	Progress &operator=(const Progress &) = delete;

	/*
	 * Take a call over; the work is told when it is complete, NULL: nobody is.
	 * Return false, and leave the call where it is, if it is complete already.
	 */
	bool add(std::unique_ptr<Call> &call, c10::intrusive_ptr<Work> work);

private:
	struct Entry {
		std::unique_ptr<Call> call;
		c10::intrusive_ptr<Work> work;
	};

	[[noreturn]] void run();
	void clear_events();
	std::vector<Entry> take_complete(Call **first);

	int events_;		/* epoll: readable after a result or a free slot of the context */
	std::mutex lock_;
	std::condition_variable added_;
	std::vector<Entry> entries_;
	bool running_ = false;
};

}  // namespace tortorch
