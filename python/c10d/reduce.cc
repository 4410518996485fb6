// SPDX-License-Identifier: MIT
/* Functions of a process group that reduce. */
#include "backend.hpp"

namespace tortorch {

using c10d::OpType;

/* As reduction_of(), with the name of the call in the sentence. */
static Reduction reduction(const char *name, const Tensor &tensor, const c10d::ReduceOp &op)
{
	try {
		return reduction_of(tensor.scalar_type(), op);
	} catch (const std::invalid_argument &e) {
		refuse(name, e.what());
	}
}

void Backend::add_allreduce(Description &d, const Tensor &tensor, const c10d::ReduceOp &op)
{
	Reduction r = reduction(d.name, tensor, op);

	if (!tensor.numel())
		return;

	torcoll_op &added = d.call->add(TORCOLL_ALLREDUCE, d.deadline_ns, r);

	added.count = tensor.numel();
	added.recv = d.call->updates(tensor);
	added.send = added.recv;
}

WorkPtr Backend::allreduce(Tensors &tensors, const c10d::AllreduceOptions &opts)
{
	bool sparse = tensors.size() == 1 && tensors[0].layout() == c10::kSparse;
	Description d = describe("all_reduce",
				 sparse ? "torcoll:sparse_all_reduce" : "torcoll:all_reduce",
				 OpType::ALLREDUCE, opts.timeout);

	if (sparse)
		add_sparse_allreduce(d, tensors[0], opts.reduceOp);
	else
		add_allreduce(d, only(d.name, tensors), opts.reduceOp);
	return run(std::move(d), tensors, tensors);
}

WorkPtr Backend::allreduce_coalesced(Tensors &tensors, const c10d::AllreduceCoalescedOptions &opts)
{
	Description d = describe("all_reduce_coalesced", "torcoll:all_reduce",
				 OpType::ALLREDUCE_COALESCED, opts.timeout);

	for (const Tensor &tensor : tensors)
		add_allreduce(d, only(d.name, {tensor}), opts.reduceOp);
	return run(std::move(d), tensors, tensors);
}

WorkPtr Backend::reduce(Tensors &tensors, const c10d::ReduceOptions &opts)
{
	Description d = describe("reduce", "torcoll:reduce", OpType::REDUCE, opts.timeout);
	const Tensor &tensor = only(d.name, tensors);
	Reduction r = reduction(d.name, tensor, opts.reduceOp);

	check_root(d, opts.rootRank);
	if (tensor.numel()) {
		torcoll_op &op = d.call->add(TORCOLL_REDUCE, d.deadline_ns, r);
		bool is_root = opts.rootRank == rank_;

		op.root = opts.rootRank;
		op.count = tensor.numel();
		op.recv = is_root ? d.call->updates(tensor) : nullptr;
		op.send = is_root ? op.recv : d.call->reads(tensor);
	}
	return run(std::move(d), tensors, tensors);
}

WorkPtr Backend::reduce_scatter(Tensors &outputs, std::vector<Tensors> &inputs,
				const c10d::ReduceScatterOptions &opts)
{
	Description d = describe("reduce_scatter", "torcoll:reduce_scatter",
				 OpType::REDUCE_SCATTER, opts.timeout);
	const Tensor &output = only(d.name, outputs);
	const Tensors &blocks = only(d.name, inputs);
	Reduction r = reduction(d.name, output, opts.reduceOp);
	Counts counts;
	uint64_t sum = 0;

	check_blocks(d, blocks, output);
	for (const Tensor &block : blocks) {
		counts.push_back(block.numel());
		sum += block.numel();
	}
	if (sum) {
		torcoll_op &op = d.call->add(TORCOLL_REDUCE_SCATTER, d.deadline_ns, r);

		op.count = sum;
		op.counts = d.call->keep(std::move(counts));
		op.send = d.call->reads(blocks);
		op.recv = d.call->writes(output);
	}
	return run(std::move(d), blocks, outputs);
}

void Backend::add_reduce_scatter(Description &d, const Tensor &output, const Tensor &input,
				 const c10d::ReduceOp &op)
{
	Reduction r = reduction(d.name, input, op);

	check_whole(d, input, output);
	if (!input.numel())
		return;

	torcoll_op &added = d.call->add(TORCOLL_REDUCE_SCATTER, d.deadline_ns, r);

	added.count = input.numel();
	added.send = d.call->reads(input);
	added.recv = d.call->writes(output);
}

WorkPtr Backend::_reduce_scatter_base(Tensor &output, Tensor &input,
				      const c10d::ReduceScatterOptions &opts)
{
	Description d = describe("reduce_scatter_tensor", "torcoll:_reduce_scatter_base",
				 OpType::_REDUCE_SCATTER_BASE, opts.timeout);

	add_reduce_scatter(d, output, input, opts.reduceOp);
	return run(std::move(d), {input}, {output});
}

#if TORCH_VERSION_MAJOR >= 2
WorkPtr Backend::reduce_scatter_tensor_coalesced(Tensors &outputs, Tensors &inputs,
						 const c10d::ReduceScatterOptions &opts)
{
	Description d = describe("reduce_scatter_tensor_coalesced",
				 "torcoll:reduce_scatter_tensor_coalesced",
				 OpType::_REDUCE_SCATTER_BASE, opts.timeout);

	if (outputs.size() != inputs.size())
		refuse(d.name, "takes as many outputs as inputs");
	for (size_t i = 0; i < inputs.size(); i++)
		add_reduce_scatter(d, outputs[i], inputs[i], opts.reduceOp);
	return run(std::move(d), inputs, outputs);
}
#endif

}  // namespace tortorch
