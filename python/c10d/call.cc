// SPDX-License-Identifier: MIT
/* Calls: see call.hpp. */
#include "call.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <request.h>
#include <stdexcept>
#include <ATen/MemoryOverlap.h>

namespace tortorch {

/* Where a buffer is that has no bytes. */
static char nothing[16];

static bool is_direct(const at::Tensor &tensor)
{
	return tensor.device().is_cpu() && tensor.is_contiguous() && !tensor.is_conj() &&
	       !tensor.is_neg();
}

static void *address(const at::Tensor &tensor)
{
	return tensor.numel() ? tensor.data_ptr() : nothing;
}

/* The same elements in one piece at an address. */
static at::Tensor at_address(const at::Tensor &tensor, void *p)
{
	return at::from_blob(p, tensor.sizes(), at::TensorOptions(tensor.scalar_type()));
}

/* Copies are no step of the program's, which autograd would record, or refuse for leaves. */
static void copy_to(void *p, const at::Tensor &tensor)
{
	at::NoGradGuard guard;

	if (!tensor.numel())
		return;
	if (is_direct(tensor))
		memcpy(p, tensor.data_ptr(), tensor.nbytes());
	else
		at_address(tensor, p).copy_(tensor);
}

/* The thread that does this may be another than the program's, and so not in its mode. */
static void copy_from(const at::Tensor &tensor, void *p)
{
	c10::InferenceMode mode(tensor.is_inference());
	at::NoGradGuard guard;

	if (!tensor.numel())
		return;
	if (is_direct(tensor))
		memcpy(tensor.data_ptr(), p, tensor.nbytes());
	else
		at::Tensor(tensor).copy_(at_address(tensor, p));
}

void *Call::scratch(size_t bytes)
{
	held_.push_back(at::empty({static_cast<int64_t>(bytes)}, at::TensorOptions(at::kByte)));
	return bytes ? held_.back().data_ptr() : nothing;
}

static void say_copied(const at::Tensor &tensor)
{
	if (tensor.device().is_cpu())
		return;
	TORCH_WARN_ONCE("torcoll: tensors on ", tensor.device(),
			" are copied to this host's memory and back for each call");
}

/* It could not be copied to when the ops are complete, and the other ranks have results. */
static void check_output(const at::Tensor &tensor)
{
	if (at::has_internal_overlap(tensor) == at::MemOverlap::Yes)
		throw std::invalid_argument(
			"torcoll: a tensor for results has elements that share memory, as expand() makes them");
}

void *Call::copied(const at::Tensor &tensor, bool back)
{
	void *p;

	if (back)
		check_output(tensor);
	p = scratch(tensor.nbytes());
	say_copied(tensor);
	if (back)
		pieces_.push_back({tensor, static_cast<char *>(p)});
	return p;
}

void *Call::reads(const at::Tensor &tensor)
{
	void *p;

	if (is_direct(tensor)) {
		held_.push_back(tensor);
		return address(tensor);
	}
	p = copied(tensor, false);
	copy_to(p, tensor);
	return p;
}

void *Call::writes(const at::Tensor &tensor)
{
	if (!is_direct(tensor))
		return copied(tensor, true);
	held_.push_back(tensor);
	return address(tensor);
}

void *Call::updates(const at::Tensor &tensor)
{
	void *p = writes(tensor);

	if (!is_direct(tensor))
		copy_to(p, tensor);
	return p;
}

static size_t bytes_of(const std::vector<at::Tensor> &tensors)
{
	size_t bytes = 0;

	for (const at::Tensor &tensor : tensors)
		bytes += tensor.nbytes();
	return bytes;
}

/* The address of tensors that follow each other in one piece of memory, else NULL. */
static char *in_one_piece(const std::vector<at::Tensor> &tensors)
{
	char *begin = nullptr, *end = nullptr;

	for (const at::Tensor &tensor : tensors) {
		if (!is_direct(tensor))
			return nullptr;
		if (!tensor.numel())
			continue;
		if (!begin)
			begin = end = static_cast<char *>(tensor.data_ptr());
		if (tensor.data_ptr() != end)
			return nullptr;
		end += tensor.nbytes();
	}
	return begin ? begin : nothing;
}

/* The same; they stay for the call then. */
char *Call::held_in_one_piece(const std::vector<at::Tensor> &tensors)
{
	char *p = in_one_piece(tensors);

	if (p)
		held_.append(tensors.begin(), tensors.end());
	return p;
}

void *Call::reads(const std::vector<at::Tensor> &tensors)
{
	char *p = held_in_one_piece(tensors);
	size_t done = 0;

	if (p)
		return p;
	p = static_cast<char *>(scratch(bytes_of(tensors)));
	for (const at::Tensor &tensor : tensors) {
		say_copied(tensor);
		copy_to(p + done, tensor);
		done += tensor.nbytes();
	}
	return p;
}

void *Call::writes(const std::vector<at::Tensor> &tensors)
{
	char *p = held_in_one_piece(tensors);
	size_t done = 0;

	if (p)
		return p;
	p = static_cast<char *>(scratch(bytes_of(tensors)));
	for (const at::Tensor &tensor : tensors) {
		check_output(tensor);
		say_copied(tensor);
		pieces_.push_back({tensor, p + done});
		done += tensor.nbytes();
	}
	return p;
}

/* ---- ops ---- */

torcoll_op &Call::add(torcoll_collective collective, uint64_t deadline_ns)
{
	torcoll_op op = {};

	op.collective = collective;
	op.deadline_ns = deadline_ns;
	ops_.push_back(op);
	return ops_.back();
}

torcoll_op &Call::add(torcoll_collective collective, uint64_t deadline_ns, const Reduction &r)
{
	torcoll_op &op = add(collective, deadline_ns);

	op.type = r.type;
	op.redop = r.redop;
	if (r.scalar.defined()) {
		held_.push_back(r.scalar);
		op.scalar = r.scalar.data_ptr();
	}
	return op;
}

const uint64_t *Call::keep(Counts counts)
{
	counts_.push_back(std::move(counts));
	return counts_.back().data();
}

void Call::start()
{
	uint32_t n = ops_.size(), more;
	int err = 0;

	number_ = ++comm_->calls;
	requests_.resize(n);
	while (started_ < n && !err) {
		more = std::min(n - started_, static_cast<uint32_t>(TORCOLL_BATCH_MAX));
		if (more == 1) {
			err = torcoll_submit(comm_->comm, &ops_[started_], &requests_[started_]);
			started_ += !err;
			continue;
		}
		err = torcoll_submit_many(comm_->comm, &ops_[started_], more, &requests_[started_],
					  &more);
		started_ += more;
	}
	if (err)
		fail(torcoll_last_error());
}

bool Call::is_queued() const
{
	return std::any_of(requests_.begin(), requests_.begin() + started_,
			   [](const torcoll_request &r) { return torcoll__request_is_job(&r); });
}

bool Call::waits_for_slot() const
{
	const torcoll_request *last;

	if (complete_ == started_)
		return false;
	last = &requests_[started_ - 1];
	return torcoll__request_is_job(last) &&
	       torcoll_request_algorithm(last) == TORCOLL_ALGO_AUTO;
}

Series Call::series() const
{
	const torcoll_op &op = ops_[0];

	if (op.collective == TORCOLL_SEND || op.collective == TORCOLL_RECV)
		return {comm_->comm, op.collective, op.peer};
	return {comm_->comm, TORCOLL_COLL_NONE, 0};
}

/* Whether an op is complete, by what a test or a wait of it returned. */
bool Call::ended(int status)
{
	if (status == -EAGAIN)
		return false;
	if (status && error_.empty())
		error_ = std::string(status == -ETIMEDOUT ? "the timeout passed: " : "") +
			 torcoll_last_error();
	complete_++;
	return true;
}

bool Call::test()
{
	while (complete_ < started_)
		if (!ended(torcoll_test(&requests_[complete_])))
			return false;
	return true;
}

bool Call::wait(uint64_t deadline_ns)
{
	while (complete_ < started_)
		if (!ended(torcoll_wait_until(&requests_[complete_], deadline_ns)))
			return false;
	return true;
}

void Call::sleep(int fd, uint64_t deadline_ns)
{
	pollfd readable = {fd, POLLIN, 0};

	ended(torcoll_wait_fds(&requests_[complete_], &readable, 1, deadline_ns));
}

std::exception_ptr Call::finish()
{
	if (!error_.empty())
		return failure(error_);
	try {
		if (check)
			check();
		for (const Piece &piece : pieces_)
			copy_from(piece.tensor, piece.from);
	} catch (const std::exception &) {
		return std::current_exception();
	}
	return nullptr;
}

}  // namespace tortorch
