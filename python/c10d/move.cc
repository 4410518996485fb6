// SPDX-License-Identifier: MIT
/* Functions of a process group that move data between all ranks and do not change it. */
#include "backend.hpp"

namespace tortorch {

using c10d::OpType;

/* Set the type of an op that moves elements of a tensor's; return its units in an element. */
static uint64_t set_type(torcoll_op &op, at::ScalarType type)
{
	Unit unit = unit_of(type);

	op.type = unit.type;
	return unit.per_element;
}

static bool all_as_long(const Tensors &tensors, const Tensor &other)
{
	for (const Tensor &tensor : tensors)
		if (tensor.numel() != other.numel())
			return false;
	return true;
}

WorkPtr Backend::broadcast(Tensors &tensors, const c10d::BroadcastOptions &opts)
{
	Description d = describe("broadcast", "torcoll:broadcast", OpType::BROADCAST,
				 opts.timeout);
	const Tensor &tensor = only(d.name, tensors);

	check_root(d, opts.rootRank);
	if (tensor.numel()) {
		torcoll_op &op = d.call->add(TORCOLL_BROADCAST, d.deadline_ns);

		op.count = tensor.numel() * set_type(op, tensor.scalar_type());
		op.root = opts.rootRank;
		op.recv = opts.rootRank == rank_ ? d.call->reads(tensor) : d.call->writes(tensor);
		op.send = op.recv;
	}
	return run(std::move(d), tensors, tensors);
}

/* ---- from all to all ---- */

void Backend::add_allgather(Description &d, const Tensors &outputs, const Tensor &input)
{
	Counts counts;
	uint64_t per_element, sum = 0;

	check_blocks(d, outputs, input);
	for (const Tensor &output : outputs) {
		counts.push_back(output.numel());
		sum += output.numel();
	}
	if (!sum)
		return;

	torcoll_op &op = d.call->add(TORCOLL_ALLGATHER, d.deadline_ns);

	per_element = set_type(op, input.scalar_type());
	op.count = sum * per_element;
	if (!all_as_long(outputs, input)) {
		for (uint64_t &count : counts)
			count *= per_element;
		op.counts = d.call->keep(std::move(counts));
	}
	op.send = d.call->reads(input);
	op.recv = d.call->writes(outputs);
}

void Backend::add_allgather(Description &d, const Tensor &output, const Tensor &input)
{
	check_whole(d, output, input);
	if (!output.numel())
		return;

	torcoll_op &op = d.call->add(TORCOLL_ALLGATHER, d.deadline_ns);

	op.count = output.numel() * set_type(op, input.scalar_type());
	op.send = d.call->reads(input);
	op.recv = d.call->writes(output);
}

WorkPtr Backend::allgather(std::vector<Tensors> &outputs, Tensors &inputs,
			   const c10d::AllgatherOptions &opts)
{
	Description d = describe("all_gather", "torcoll:all_gather", OpType::ALLGATHER,
				 opts.timeout);
	const Tensors &blocks = only(d.name, outputs);

	add_allgather(d, blocks, only(d.name, inputs));
	return run(std::move(d), inputs, blocks);
}

WorkPtr Backend::_allgather_base(Tensor &output, Tensor &input, const c10d::AllgatherOptions &opts)
{
	Description d = describe("all_gather_into_tensor", "torcoll:_all_gather_base",
				 OpType::_ALLGATHER_BASE, opts.timeout);

	add_allgather(d, output, input);
	return run(std::move(d), {input}, {output});
}

/* A list of outputs for each rank, with a tensor for each input. */
WorkPtr Backend::allgather_coalesced(std::vector<Tensors> &outputs, Tensors &inputs,
				     const c10d::AllgatherOptions &opts)
{
	Description d = describe("all_gather_coalesced", "torcoll:all_gather",
				 OpType::ALLGATHER_COALESCED, opts.timeout);
	Tensors blocks, results;

	for (const Tensors &output : outputs) {
		if (output.size() != inputs.size())
			refuse(d.name, "takes as many outputs of each rank as inputs");
		results.insert(results.end(), output.begin(), output.end());
	}
	for (size_t i = 0; i < inputs.size(); i++) {
		blocks.clear();
		for (const Tensors &output : outputs)
			blocks.push_back(output[i]);
		add_allgather(d, blocks, only(d.name, {inputs[i]}));
	}
	return run(std::move(d), inputs, results);
}

#if TORCH_VERSION_MAJOR >= 2
WorkPtr Backend::allgather_into_tensor_coalesced(Tensors &outputs, Tensors &inputs,
						 const c10d::AllgatherOptions &opts)
{
	Description d = describe("all_gather_into_tensor_coalesced",
				 "torcoll:allgather_into_tensor_coalesced",
				 OpType::ALLGATHER_COALESCED, opts.timeout);

	if (outputs.size() != inputs.size())
		refuse(d.name, "takes as many outputs as inputs");
	for (size_t i = 0; i < inputs.size(); i++)
		add_allgather(d, outputs[i], inputs[i]);
	return run(std::move(d), inputs, outputs);
}
#endif

/* ---- to one, from one ---- */

WorkPtr Backend::gather(std::vector<Tensors> &outputs, Tensors &inputs,
			const c10d::GatherOptions &opts)
{
	Description d = describe("gather", "torcoll:gather", OpType::GATHER, opts.timeout);
	const Tensor &input = only(d.name, inputs);
	Tensors blocks;

	check_root(d, opts.rootRank);
	if (opts.rootRank == rank_) {
		blocks = only(d.name, outputs);
		check_blocks(d, blocks, input);
		if (!all_as_long(blocks, input))
			refuse(d.name, "takes tensors of one length from all ranks");
	} else if (!outputs.empty() && !outputs[0].empty()) {
		refuse(d.name, "only the root has outputs");
	}
	if (input.numel()) {
		torcoll_op &op = d.call->add(TORCOLL_GATHER, d.deadline_ns);

		op.root = opts.rootRank;
		op.count = input.numel() * size_ * set_type(op, input.scalar_type());
		op.send = d.call->reads(input);
		op.recv = opts.rootRank == rank_ ? d.call->writes(blocks) : nullptr;
	}
	return run(std::move(d), inputs, blocks);
}

WorkPtr Backend::scatter(Tensors &outputs, std::vector<Tensors> &inputs,
			 const c10d::ScatterOptions &opts)
{
	Description d = describe("scatter", "torcoll:scatter", OpType::SCATTER, opts.timeout);
	const Tensor &output = only(d.name, outputs);
	Tensors blocks;

	check_root(d, opts.rootRank);
	if (opts.rootRank == rank_) {
		blocks = only(d.name, inputs);
		check_blocks(d, blocks, output);
		if (!all_as_long(blocks, output))
			refuse(d.name, "takes tensors of one length for all ranks");
	} else if (!inputs.empty() && !inputs[0].empty()) {
		refuse(d.name, "only the root has inputs");
	}
	if (output.numel()) {
		torcoll_op &op = d.call->add(TORCOLL_SCATTER, d.deadline_ns);

		op.root = opts.rootRank;
		op.count = output.numel() * size_ * set_type(op, output.scalar_type());
		op.send = opts.rootRank == rank_ ? d.call->reads(blocks) : nullptr;
		op.recv = d.call->writes(output);
	}
	return run(std::move(d), blocks, outputs);
}

/* ---- exchanges ---- */

/* Each rank knows its own lengths only, so that nobody knows whether there is nothing to do. */
void Backend::add_exchange(Description &d, at::ScalarType type, const void *send, Counts sent,
			   void *recv, Counts received)
{
	torcoll_op &op = d.call->add(TORCOLL_ALLTOALL, d.deadline_ns);
	uint64_t per_element = set_type(op, type);

	for (uint64_t &count : sent)
		count *= per_element;
	for (uint64_t &count : received) {
		count *= per_element;
		op.count += count;
	}
	op.counts = d.call->keep(std::move(sent));
	op.recv_counts = d.call->keep(std::move(received));
	op.send = send;
	op.recv = recv;
}

/* The lengths in elements of blocks of rows; as many rows for each rank if none are given. */
static Counts split(const char *name, const Tensor &tensor, const std::vector<int64_t> &rows,
		    int size)
{
	int64_t all = tensor.dim() ? tensor.size(0) : 0, sum = 0;
	int64_t row = all ? tensor.numel() / all : 0;
	Counts counts(size);

	if (!tensor.dim())
		refuse(name, "takes tensors with rows, not single elements");
	if (rows.empty() && all % size)
		refuse(name, std::to_string(all) + " rows are no multiple of " +
				     std::to_string(size) + " ranks");
	if (!rows.empty() && rows.size() != counts.size())
		refuse(name, std::to_string(rows.size()) + " lengths for " + std::to_string(size) +
				     " ranks");
	for (int i = 0; i < size; i++) {
		int64_t n = rows.empty() ? all / size : rows[i];

		if (n < 0)
			refuse(name, "a length is negative");
		counts[i] = n * row;
		sum += n;
	}
	if (sum != all)
		refuse(name, "lengths that sum up to " + std::to_string(sum) + " of " +
				     std::to_string(all) + " rows");
	return counts;
}

WorkPtr Backend::alltoall_base(Tensor &output, Tensor &input, std::vector<int64_t> &output_splits,
			       std::vector<int64_t> &input_splits,
			       const c10d::AllToAllOptions &opts)
{
	Description d = describe("all_to_all_single", "torcoll:all_to_all", OpType::ALLTOALL_BASE,
				 opts.timeout);
	Counts sent = split(d.name, only(d.name, {input}), input_splits, size_);
	Counts received = split(d.name, only(d.name, {output}), output_splits, size_);

	if (input.scalar_type() != output.scalar_type())
		refuse(d.name, "takes tensors of one type");
	add_exchange(d, input.scalar_type(), d.call->reads(input), std::move(sent),
		     d.call->writes(output), std::move(received));
	return run(std::move(d), {input}, {output});
}

WorkPtr Backend::alltoall(Tensors &outputs, Tensors &inputs, const c10d::AllToAllOptions &opts)
{
	Description d = describe("all_to_all", "torcoll:all_to_all", OpType::ALLTOALL,
				 opts.timeout);
	Counts sent, received;

	if (outputs.size() != static_cast<size_t>(size_))
		refuse(d.name, "takes a tensor for each rank");
	check_blocks(d, outputs, outputs[rank_]);
	check_blocks(d, inputs, outputs[rank_]);
	for (int i = 0; i < size_; i++) {
		sent.push_back(inputs[i].numel());
		received.push_back(outputs[i].numel());
	}
	add_exchange(d, outputs[0].scalar_type(), d.call->reads(inputs), std::move(sent),
		     d.call->writes(outputs), std::move(received));
	return run(std::move(d), inputs, outputs);
}

}  // namespace tortorch
