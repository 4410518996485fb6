/* SPDX-License-Identifier: MIT */
/*
 * Progress threads: complete the calls for which no thread waits. One of them
 * leads: it looks for what is complete, and sleeps until something is. The first
 * is started when there is the first call, and sleeps while there is none, so
 * that calls which are waited for cost nothing here.
 *
 * To complete a call may run callbacks of the program, which may wait for the
 * futures of others. So whoever does that leads no more, and takes one call alone;
 * while there are others, another thread leads, which is started if there is none.
 *
 * What a thread completes may need the interpreter: callbacks, and tensors that
 * have objects. A thread that asks for it while it ends is ended by it, and the
 * process with it. So nothing is completed here from end() on.
 */
#pragma once

#include <condition_variable>
#include <list>
#include <map>
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
	 * Return false, and leave the call where it is, if it is complete already;
	 * after end() wait for one with a work. Throws, and leaves it there, if there
	 * is no thread and none can be started; nor, for one with a work that a callback
	 * may wait for, another one than those that run callbacks.
	 */
	bool add(std::unique_ptr<Call> &call, c10::intrusive_ptr<Work> work);

	/*
	 * Complete nothing any more. Waits for callbacks that run, and meanwhile goes
	 * on for what they may wait for, but only for so long: they may wait for ever.
	 * Calls go back to their works, for whoever waits for these.
	 */
	void end();

	/* Whether nothing is completed any more. */
	bool has_ended();

private:
	struct Entry {
		std::unique_ptr<Call> call;
		c10::intrusive_ptr<Work> work;
	};

	/* Calls of a series, by their numbers, whenever they were taken over; one at least. */
	using Line = std::list<Entry>;
	using Lines = std::map<Series, Line>;

	/* What the thread that leads sleeps for. */
	struct Wanted {
		Call *call;		/* any that is not complete; NULL: it is over */
		bool slots;		/* there are calls that wait for a slot */
	};

	[[noreturn]] void run();
	Line::iterator insert(std::unique_ptr<Call> &call, c10::intrusive_ptr<Work> &work);
	bool take_over(std::unique_ptr<Call> &call, c10::intrusive_ptr<Work> &work);
	bool is_over() const;
	void see_that_one_leads(bool now);
	void tell_who_leads(const Call &added);
	void clear_events();
	Entry await_complete();
	Entry take_complete(Wanted *wanted);
	Line::iterator find_complete(Line &line, Wanted *wanted);
	Entry take(Lines::iterator line, Line::iterator entry);
	void take_works(Line &line, Line &taken);
	Line take_back();

	int over_;		/* eventfd: readable once it is over */
	int added_;		/* eventfd: written for a thread that leads and looks for no slots */
	int events_;		/* epoll: readable after a result or a free slot of the context, and then */
	std::mutex lock_;
	std::condition_variable wanted_;	/* a thread that leads */
	Lines lines_;
	Series last_;				/* of the call that was taken last */
	unsigned int threads_ = 0;
	unsigned int idle_ = 0;			/* of them, those that neither lead nor complete a call */
	bool led_ = false;
	bool slots_ = false;			/* the thread that leads looks for slots; it will if it was told */
	unsigned int completing_ = 0;		/* threads that complete a call */
	std::condition_variable quiet_;		/* none does, or none leads any more */
	bool ending_ = false;			/* end() was called */
	bool ended_ = false;			/* and has waited */
	std::vector<c10::intrusive_ptr<Work>> left_;	/* works that have their calls back */
};

/*
 * End a call of which nobody wants to know more: by the progress threads, if it
 * is not complete. Where there are none, the caller waits.
 */
void settle(std::unique_ptr<Call> call);

}  // namespace tortorch
