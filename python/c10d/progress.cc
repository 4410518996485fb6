// SPDX-License-Identifier: MIT
/* Progress threads: see progress.hpp. */
#include "progress.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>

namespace tortorch {

/* How long the end of a process waits for callbacks that run. */
static const auto kLast = std::chrono::seconds(10);
/* ms; how often calls that wait for a slot are looked at: what the library fails of them is no event. */
static const uint64_t kLook = 20;

static bool watch(int events, int fd, uint32_t mask)
{
	epoll_event event = {};

	event.events = mask;
	return events >= 0 && fd >= 0 && !epoll_ctl(events, EPOLL_CTL_ADD, fd, &event);
}

/*
 * Edges of the device: of its states, one lasts as long as there is any result,
 * whoever is to fetch it, and there is none for a slot that becomes free. Edges of
 * @added, which nobody reads.
 */
static int events_open(int device, int over, int added)
{
	int events = epoll_create1(EPOLL_CLOEXEC), err;

	if (watch(events, device, EPOLLIN | EPOLLOUT | EPOLLET) && watch(events, over, EPOLLIN) &&
	    watch(events, added, EPOLLIN | EPOLLET))
		return events;
	err = errno;
	for (int fd : { events, over, added })
		if (fd >= 0)
			close(fd);
	throw std::runtime_error("the device cannot be watched by epoll: " +
				 std::string(strerror(err)));
}

Progress::Progress(torcoll *t)
	: over_(eventfd(0, EFD_CLOEXEC)), added_(eventfd(0, EFD_CLOEXEC)),
	  events_(events_open(torcoll_fd(t), over_, added_))
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

/* This is a progress thread, which runs callbacks. */
static thread_local bool runs_callbacks;

/*
 * Context: lock_. Without another thread, the one that runs callbacks leads again
 * when it is through with them. Throws if there is none, or @now and none is free.
 */
void Progress::see_that_one_leads(bool now)
{
	if (led_ || lines_.empty() || is_over())
		return;
	if (idle_) {
		wanted_.notify_one();
		return;
	}
	try {
		start_without_signals([this] { run(); });
	} catch (const std::exception &) {
		if (!threads_ || (now && threads_ == completing_))
			throw;
		return;
	}
	threads_++;
	idle_++;
}

/* Context: lock_. What runs at the end goes on to its end. */
bool Progress::is_over() const
{
	return ended_ || (ending_ && !completing_);
}

bool Progress::has_ended()
{
	std::lock_guard<std::mutex> guard(lock_);

	return is_over();
}

/* Context: lock_. */
void Progress::take_works(Line &line, Line &taken)
{
	for (auto entry = line.begin(), next = entry; entry != line.end(); entry = next) {
		next = std::next(entry);
		if (entry->work)
			taken.splice(taken.end(), line, entry);
	}
}

/* End, and take the calls that works wait for; nobody sleeps for one of them. */
Progress::Line Progress::take_back()
{
	std::unique_lock<std::mutex> guard(lock_);
	Line taken;

	ending_ = true;
	quiet_.wait_for(guard, kLast, [this] { return !completing_; });
	ended_ = true;
	eventfd_write(over_, 1);
	if (!quiet_.wait_for(guard, kLast, [this] { return !led_; }))
		return taken;
	/* nobody looks at what stays any more, but for what is to go before or behind it */
	for (auto line = lines_.begin(); line != lines_.end();) {
		take_works(line->second, taken);
		line = line->second.empty() ? lines_.erase(line) : std::next(line);
	}
	return taken;
}

void Progress::end()
{
	for (Entry &entry : take_back()) {
		entry.work->take_back(std::move(entry.call));
		/* nothing of the program's is dropped any more */
		left_.push_back(std::move(entry.work));
	}
}

/*
 * In the order in which they were started: a call that has a slot may come late, as
 * its future is asked for, and behind one that waits for a slot nobody looks. Takes
 * the call unless it throws. Context: lock_.
 */
Progress::Line::iterator Progress::insert(std::unique_ptr<Call> &call,
					  c10::intrusive_ptr<Work> &work)
{
	std::list<Entry> added(1);
	Line &line = lines_[call->series()];
	auto place = added.begin(), before = line.end();

	while (before != line.begin() && std::prev(before)->call->number() > call->number())
		--before;
	*place = {std::move(call), std::move(work)};
	line.splice(before, added);
	return place;
}

/*
 * A thread that sleeps without an end does not notice that a call is late before it
 * has a slot. Context: lock_.
 */
void Progress::tell_who_leads(const Call &added)
{
	if (!led_ || slots_ || !added.waits_for_slot())
		return;
	slots_ = true;
	eventfd_write(added_, 1);
}

/*
 * Calls are tested under the lock here and by the thread that leads: an op that is
 * complete only after this test is an event that the thread sees when the call is
 * there. At the end of the process calls of which nobody wants to know are kept,
 * with their tensors; others are for the caller.
 */
bool Progress::take_over(std::unique_ptr<Call> &call, c10::intrusive_ptr<Work> &work)
{
	std::lock_guard<std::mutex> guard(lock_);

	if (call->test() || (is_over() && work))
		return false;

	/* a callback that waits for this would wait for its own thread */
	bool now = work && runs_callbacks;
	Series series = call->series();
	auto entry = insert(call, work);

	try {
		see_that_one_leads(now);
	} catch (...) {
		/* no memory, or no thread: the caller still has to wait for it */
		call = take(lines_.find(series), entry).call;
		throw;
	}
	tell_who_leads(*entry->call);
	return true;
}

bool Progress::add(std::unique_ptr<Call> &call, c10::intrusive_ptr<Work> work)
{
	if (take_over(call, work))
		return true;
	call->wait(0);
	return false;
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
	epoll_event events[3];

	epoll_wait(events_, events, 3, 0);
}

/* Context: lock_. */
Progress::Entry Progress::take(Lines::iterator line, Line::iterator entry)
{
	Entry taken = std::move(*entry);

	line->second.erase(entry);
	if (line->second.empty())
		lines_.erase(line);
	return taken;
}

/*
 * What follows a call that waits for a slot waits as well, and is not looked at: if
 * one fails, so does its comm, and what is before it. Context: lock_.
 */
Progress::Line::iterator Progress::find_complete(Line &line, Wanted *wanted)
{
	for (auto entry = line.begin(); entry != line.end(); ++entry) {
		if (entry->call->test())
			return entry;
		wanted->call = entry->call.get();
		if (entry->call->waits_for_slot()) {
			wanted->slots = true;
			break;
		}
	}
	return line.end();
}

/* Take a call that is complete, of each series in turn; none: @wanted is what to sleep for. */
Progress::Entry Progress::take_complete(Wanted *wanted)
{
	std::lock_guard<std::mutex> guard(lock_);
	auto line = lines_.upper_bound(last_);

	*wanted = {};
	if (is_over())
		return {};
	for (size_t left = lines_.size(); left; left--, ++line) {
		if (line == lines_.end())
			line = lines_.begin();

		auto entry = find_complete(line->second, wanted);

		if (entry == line->second.end())
			continue;
		*wanted = {};
		last_ = line->first;
		completing_++;
		return take(line, entry);
	}
	slots_ = wanted->slots;
	return {};
}

/* Sleep until a call is complete, and take it; none if it is over. */
Progress::Entry Progress::await_complete()
{
	Entry taken;
	Wanted wanted;

	for (;;) {
		/* what happens from now on ends the sleep */
		clear_events();
		taken = take_complete(&wanted);
		if (!wanted.call)
			return taken;
		/* starts what waits for a slot, too; only the thread that leads takes calls away */
		wanted.call->sleep(events_, wanted.slots ? torcoll_deadline(kLook) : 0);
	}
}

/* This may run callbacks of the program. */
static void complete(std::unique_ptr<Call> call, c10::intrusive_ptr<Work> work)
{
	if (work)
		work->complete(std::move(call));
	else
		call->finish();
}

void Progress::run()
{
	std::unique_lock<std::mutex> guard(lock_);
	Entry taken;

	for (;;) {
		wanted_.wait(guard,
			     [this] { return !led_ && !lines_.empty() && !is_over(); });
		idle_--;
		led_ = true;
		guard.unlock();
		taken = await_complete();
		guard.lock();
		led_ = false;
		if (ended_)
			quiet_.notify_all();
		see_that_one_leads(false);
		if (taken.call) {
			guard.unlock();
			runs_callbacks = true;
			complete(std::move(taken.call), std::move(taken.work));
			runs_callbacks = false;
			guard.lock();
			if (!--completing_)
				quiet_.notify_all();
		}
		idle_++;
	}
}

}  // namespace tortorch
