// SPDX-License-Identifier: MIT
/*
 * Messages and barriers of a process group.
 *
 * Messages from one rank to another arrive in the order in which they were
 * sent, whatever their tags. So that a program which relies on tags to reorder
 * them is not given wrong data, a tag other than 0 is sent as a message of its
 * own before the data, of a type that no tensor has, and compared. So are the
 * signals of a monitored barrier, two of that type.
 */
#include "backend.hpp"

#include <array>
#include <cerrno>
#include <stdexcept>

namespace tortorch {

using c10d::OpType;

/* TORCOLL_2INT */
struct Tag {
	int32_t value;
	int32_t zero;
};

/* What the ranks of a monitored barrier send each other: as long as neither a tensor nor a tag of that type. */
using Signal = std::array<Tag, 2>;

/* Let a call send a tag, or receive and compare it. */
static void add_tag(Call &call, torcoll_collective collective, uint64_t deadline_ns, int peer,
		    int tag)
{
	auto message = std::make_shared<Tag>(Tag{collective == TORCOLL_SEND ? tag : 0, 0});
	torcoll_op &op = call.add(collective, deadline_ns);

	op.type = TORCOLL_2INT;
	op.count = 1;
	op.peer = peer;
	if (collective == TORCOLL_SEND)
		op.send = message.get();
	else
		op.recv = message.get();
	call.check = [message, peer, tag] {
		if (message->value != tag)
			fail("recv: rank " + std::to_string(peer) + " has sent tag " +
			     std::to_string(message->value) + " where tag " +
			     std::to_string(tag) +
			     " was expected: messages arrive in the order in which they are sent");
	};
}

WorkPtr Backend::message(Tensors &tensors, bool sends, int peer, int tag)
{
	Description d = sends ? describe("send", "torcoll:send", OpType::SEND, timeout_) :
				describe("recv", "torcoll:recv", OpType::RECV, timeout_);
	torcoll_collective collective = sends ? TORCOLL_SEND : TORCOLL_RECV;
	const Tensor &tensor = only(d.name, tensors);
	Unit unit = unit_of(tensor.scalar_type());

	check_root(d, peer);
	if (tag)
		add_tag(*d.call, collective, d.deadline_ns, peer, tag);

	torcoll_op &op = d.call->add(collective, d.deadline_ns);

	op.type = unit.type;
	op.count = tensor.numel() * unit.per_element;
	op.peer = peer;
	if (sends)
		op.send = d.call->reads(tensor);
	else
		op.recv = d.call->writes(tensor);
	return run(std::move(d), tensors, tensors);
}

WorkPtr Backend::send(Tensors &tensors, int to, int tag)
{
	return message(tensors, true, to, tag);
}

WorkPtr Backend::recv(Tensors &tensors, int from, int tag)
{
	return message(tensors, false, from, tag);
}

WorkPtr Backend::recvAnysource(Tensors &, int)
{
	refuse("recv", "from any rank is not possible: name the rank that sends (src=)");
}

WorkPtr Backend::barrier(const c10d::BarrierOptions &opts)
{
	Description d = describe("barrier", "torcoll:barrier", OpType::BARRIER, opts.timeout);

	d.call->add(TORCOLL_BARRIER, d.deadline_ns);
	return run(std::move(d), {}, {});
}

/* ---- the monitored barrier ---- */

static torcoll_op signal_op(torcoll_collective collective, int peer, uint64_t deadline_ns,
			    Signal *signal)
{
	torcoll_op op = {};

	op.collective = collective;
	op.type = TORCOLL_2INT;
	op.count = signal->size();
	op.peer = peer;
	op.deadline_ns = deadline_ns;
	if (collective == TORCOLL_SEND)
		op.send = signal;
	else
		op.recv = signal;
	return op;
}

void Backend::run_message(torcoll_collective collective, int peer, uint64_t deadline_ns)
{
	Signal signal = {};
	torcoll_op op = signal_op(collective, peer, deadline_ns, &signal);

	if (torcoll_run(comm_->comm, &op))
		throw std::runtime_error(torcoll_last_error());
}

/*
 * Of the other ranks. Rank 0 may come as late as this rank's message waits for it,
 * and then waits as long for others. Programs know this sentence from Gloo, as
 * that of rank 0.
 */
void Backend::ask_leave(Milliseconds timeout)
{
	try {
		run_message(TORCOLL_SEND, 0, deadline(timeout));
		run_message(TORCOLL_RECV, 0, deadline(2 * timeout));
	} catch (const std::exception &e) {
		fail("Rank " + std::to_string(rank_) +
		     " successfully reached monitoredBarrier, but received errors while waiting"
		     " for send/recv from rank 0: " + e.what());
	}
}

/*
 * Rank 0 waits for a message of each rank. Those that do not come in time are
 * what the barrier is to find, so the ops have no deadline, which would end them all.
 */
void Backend::await_arrivals(uint64_t deadline_ns, bool all_ranks, Milliseconds timeout)
{
	std::vector<torcoll_request> requests(size_);
	std::vector<Signal> signals(size_);
	std::string late, why;
	int started = 1;

	for (; started < size_; started++) {
		torcoll_op op = signal_op(TORCOLL_RECV, started, 0, &signals[started]);

		if (torcoll_submit(comm_->comm, &op, &requests[started]))
			break;
	}
	if (started < size_)
		why = torcoll_last_error();
	for (int i = 1; i < started && why.empty(); i++) {
		int err = torcoll_wait_until(&requests[i], deadline_ns);

		if (err == -EAGAIN && (all_ranks || late.empty()))
			late += (late.empty() ? "" : ", ") + std::to_string(i);
		else if (err && err != -EAGAIN)
			why = torcoll_last_error();
	}
	if (why.empty() && late.empty())
		return;
	torcoll_abort(comm_->comm);
	for (int i = 1; i < started; i++)
		torcoll_wait(&requests[i]);
	if (!why.empty())
		fail(why);
	fail((late.find(',') == late.npos ? "Rank " : "Ranks ") + late +
	     " failed to pass monitoredBarrier in " + std::to_string(timeout.count()) + " ms");
}

void Backend::monitoredBarrier(const c10d::BarrierOptions &opts, bool all_ranks)
{
	Milliseconds timeout = opts.timeout == c10d::kUnsetTimeout ? timeout_ : opts.timeout;
	uint64_t deadline_ns;

	if (rank_) {
		ask_leave(timeout);
		return;
	}
	if (!timeout.count()) {
		/* which is no time here, and for ops and for the other ranks none that ends */
		torcoll_abort(comm_->comm);
		fail("Rank 0 timed out in monitoredBarrier after 0 ms: give 1 or more");
	}
	deadline_ns = deadline(timeout);
	await_arrivals(deadline_ns, all_ranks, timeout);
	try {
		for (int i = 1; i < size_; i++)
			run_message(TORCOLL_SEND, i, deadline_ns);
	} catch (const std::exception &e) {
		fail(e.what());
	}
}

}  // namespace tortorch
