/* SPDX-License-Identifier: MIT */
/*
 * The context of the process, and the comm of a process group: which nodes its
 * ranks are on, and joining it. The ranks agree by the store of the group.
 */
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <torcoll.h>

namespace tortorch {

class Progress;

/*
 * Each process opens the device once. It stays open until the process ends, as
 * what is under way then may outlive all groups; a child of fork has its own.
 */
struct Context {
	torcoll *t;
	Progress *progress;

	static Context &get();

	/* The process ends, and with it the interpreter. */
	static void end();
};

/* A comm. Calls share it, so that it is closed when the last of them is over. */
struct Comm {
	Comm(const c10::intrusive_ptr<c10d::Store> &store, int rank, int size,
	     std::chrono::milliseconds timeout);
	~Comm();
	Comm(const Comm &) = delete;
	Comm &operator=(const Comm &) = delete;

	Context *context = nullptr;
	torcoll_comm *comm = nullptr;
	std::atomic<uint64_t> calls{0};	/* that were started */
};

/* A time of torcoll_deadline(); none: 0 or less. */
inline uint64_t deadline_in(std::chrono::milliseconds timeout)
{
	return timeout.count() > 0 ? torcoll_deadline(timeout.count()) : 0;
}

/* Throw torch.distributed's error, or RuntimeError before PyTorch 2. */
[[noreturn]] void fail(const std::string &sentence);

/* The same as an exception for a future. */
std::exception_ptr failure(const std::string &sentence);

}  // namespace tortorch
