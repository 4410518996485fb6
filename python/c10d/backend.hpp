/* SPDX-License-Identifier: MIT */
/*
 * The backend "torcoll" of torch.distributed: a Backend of PyTorch 2, a
 * ProcessGroup of 1.13. Each has a comm of its own.
 */
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <torch/version.h>
#include <vector>
#if TORCH_VERSION_MAJOR >= 2
#include <torch/csrc/distributed/c10d/Backend.hpp>
#else
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#endif

#include "work.hpp"

namespace tortorch {

#if TORCH_VERSION_MAJOR >= 2
using Base = c10d::Backend;
#else
using Base = c10d::ProcessGroup;
#endif

using Tensor = at::Tensor;
using Tensors = std::vector<at::Tensor>;
using WorkPtr = c10::intrusive_ptr<c10d::Work>;
using Milliseconds = std::chrono::milliseconds;

class Backend : public Base {
public:
	Backend(const c10::intrusive_ptr<c10d::Store> &store, int rank, int size,
		Milliseconds timeout);

	const std::string getBackendName() const override { return "torcoll"; }

	WorkPtr broadcast(Tensors &tensors, const c10d::BroadcastOptions &opts) override;
	WorkPtr allreduce(Tensors &tensors, const c10d::AllreduceOptions &opts) override;
	WorkPtr allreduce_coalesced(Tensors &tensors,
				    const c10d::AllreduceCoalescedOptions &opts) override;
	WorkPtr reduce(Tensors &tensors, const c10d::ReduceOptions &opts) override;
	WorkPtr allgather(std::vector<Tensors> &outputs, Tensors &inputs,
			  const c10d::AllgatherOptions &opts) override;
	WorkPtr _allgather_base(Tensor &output, Tensor &input,
				const c10d::AllgatherOptions &opts) override;
	WorkPtr allgather_coalesced(std::vector<Tensors> &outputs, Tensors &inputs,
				    const c10d::AllgatherOptions &opts) override;
	WorkPtr gather(std::vector<Tensors> &outputs, Tensors &inputs,
		       const c10d::GatherOptions &opts) override;
	WorkPtr scatter(Tensors &outputs, std::vector<Tensors> &inputs,
			const c10d::ScatterOptions &opts) override;
	WorkPtr reduce_scatter(Tensors &outputs, std::vector<Tensors> &inputs,
			       const c10d::ReduceScatterOptions &opts) override;
	WorkPtr _reduce_scatter_base(Tensor &output, Tensor &input,
				     const c10d::ReduceScatterOptions &opts) override;
	WorkPtr alltoall_base(Tensor &output, Tensor &input, std::vector<int64_t> &output_splits,
			      std::vector<int64_t> &input_splits,
			      const c10d::AllToAllOptions &opts) override;
	WorkPtr alltoall(Tensors &outputs, Tensors &inputs,
			 const c10d::AllToAllOptions &opts) override;
	WorkPtr send(Tensors &tensors, int to, int tag) override;
	WorkPtr recv(Tensors &tensors, int from, int tag) override;
	WorkPtr recvAnysource(Tensors &tensors, int tag) override;
	WorkPtr barrier(const c10d::BarrierOptions &opts) override;
	void monitoredBarrier(const c10d::BarrierOptions &opts, bool all_ranks) override;
	void setSequenceNumberForGroup() override {}
	uint64_t getSequenceNumberForGroup() override { return sequence_; }
#if TORCH_VERSION_MAJOR >= 2
	WorkPtr allgather_into_tensor_coalesced(Tensors &outputs, Tensors &inputs,
						const c10d::AllgatherOptions &opts) override;
	WorkPtr reduce_scatter_tensor_coalesced(Tensors &outputs, Tensors &inputs,
						const c10d::ReduceScatterOptions &opts) override;
#endif

private:
	/* A call of this group that is being described. */
	struct Description {
		const char *name;		/* for errors */
		const char *title;		/* for the profiler, as Gloo's but for the backend */
		c10d::OpType type;
		uint64_t deadline_ns;
		std::unique_ptr<Call> call;
	};

	Description describe(const char *name, const char *title, c10d::OpType type,
			     Milliseconds timeout);
	WorkPtr run(Description d, const Tensors &inputs, Tensors results);
	uint64_t deadline(Milliseconds timeout) const;
	void check_root(const Description &d, int64_t root) const;
	void check_blocks(const Description &d, const Tensors &blocks, const Tensor &own) const;
	void check_whole(const Description &d, const Tensor &whole, const Tensor &block) const;

	/* Add an op to a description. */
	void add_allreduce(Description &d, const Tensor &tensor, const c10d::ReduceOp &op);
	void tell_forms(uint64_t deadline_ns, const void *own, void *all, size_t bytes);
	void add_sparse_allreduce(Description &d, const Tensor &tensor, const c10d::ReduceOp &op);
	void add_reduce_scatter(Description &d, const Tensor &output, const Tensor &input,
				const c10d::ReduceOp &op);
	void add_allgather(Description &d, const Tensors &outputs, const Tensor &input);
	void add_allgather(Description &d, const Tensor &output, const Tensor &input);
	void add_exchange(Description &d, at::ScalarType type, const void *send, Counts sent,
			  void *recv, Counts received);
	WorkPtr message(Tensors &tensors, bool sends, int peer, int tag);
	void ask_leave(Milliseconds timeout);
	void await_arrivals(uint64_t deadline_ns, bool all_ranks, Milliseconds timeout);
	void run_message(torcoll_collective collective, int peer, uint64_t deadline_ns);

	std::shared_ptr<Comm> comm_;
	Milliseconds timeout_;
	std::atomic<uint64_t> sequence_{0};	/* collectives, which all ranks call */
};

/* Throw std::invalid_argument, which is a ValueError in Python. */
[[noreturn]] void refuse(const char *name, const std::string &why);

/* The only tensor, or list of tensors, that a call has. */
const Tensor &only(const char *name, const Tensors &tensors);
const Tensors &only(const char *name, const std::vector<Tensors> &lists);

}  // namespace tortorch
