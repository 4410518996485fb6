// SPDX-License-Identifier: MIT
/*
 * The sum of sparse tensors, as gradients of embeddings are. Which elements a rank
 * has only it knows: the ranks gather how many there are, then indices and values of
 * all of them, and each rank adds all up, in the same order.
 */
#include <algorithm>

#include "backend.hpp"

namespace tortorch {

/* What a rank says of its tensor. */
struct Form {
	static constexpr int kSizes = 12;

	int64_t elements;	/* that it has */
	int64_t type;
	int64_t sparse, dense;	/* dimensions */
	int64_t sizes[kSizes];

	bool fits(const Form &other) const
	{
		return type == other.type && sparse == other.sparse && dense == other.dense &&
		       std::equal(sizes, sizes + kSizes, other.sizes);
	}
};

/* A sum under way. */
struct SparseSum {
	Tensor own;			/* each index once */
	Form form;
	std::vector<Form> forms;	/* of all ranks */
	Tensor indices, values;		/* of all ranks, one element after the other */

	explicit SparseSum(const Tensor &tensor);
	void check() const;
	Counts counts(int64_t per_element) const;
	Tensor total() const;
};

SparseSum::SparseSum(const Tensor &tensor) : own(tensor.coalesce())
{
	form = {own._nnz(), static_cast<int64_t>(own.scalar_type()), own.sparse_dim(),
		own.dense_dim(), {}};
	std::copy(own.sizes().begin(), own.sizes().end(), form.sizes);
}

/* All ranks see the same forms, so all refuse if one differs. */
void SparseSum::check() const
{
	for (size_t i = 0; i < forms.size(); i++)
		if (!forms[i].fits(form))
			refuse("all_reduce", "the sparse tensor of rank " + std::to_string(i) +
						     " has another type or shape than here");
}

Counts SparseSum::counts(int64_t per_element) const
{
	Counts counts;

	for (const Form &form : forms)
		counts.push_back(form.elements * per_element);
	return counts;
}

/* Indices are what other ranks say, and PyTorch 2 takes any, but does not look before it uses them. */
Tensor SparseSum::total() const
{
	at::_validate_sparse_coo_tensor_args(indices.t(), values, own.sizes());
	return at::sparse_coo_tensor(indices.t(), values, own.sizes()).coalesce();
}

static Tensor in_host_memory(const Tensor &tensor)
{
	return tensor.to(at::kCPU).contiguous();
}

/* A tensor for the elements of all ranks, of which each has as many values as one of @own. */
static Tensor room_for(uint64_t elements, const Tensor &own)
{
	std::vector<int64_t> sizes = own.sizes().vec();

	sizes[0] = elements;
	return at::empty(sizes, own.options());
}

/* Gather the elements of all ranks, to where that returns. */
static Tensor add_gather(Call &call, uint64_t deadline_ns, const Tensor &own, const SparseSum &sum)
{
	uint64_t elements = 0, bytes = own.element_size();
	Tensor all;

	for (int64_t size : own.sizes().slice(1))
		bytes *= size;
	for (const Form &form : sum.forms)
		elements += form.elements;
	all = room_for(elements, own);
	if (!all.numel())
		return all;

	torcoll_op &op = call.add(TORCOLL_ALLGATHER, deadline_ns);

	op.type = TORCOLL_U8;
	op.count = elements * bytes;
	op.counts = call.keep(sum.counts(bytes));
	op.send = call.reads(own);
	op.recv = call.writes(all);
	return all;
}

void Backend::add_sparse_allreduce(Description &d, const Tensor &tensor, const c10d::ReduceOp &op)
{
	uint64_t deadline_ns = d.deadline_ns;
	Call *call = d.call.get();
	at::NoGradGuard guard;

	if (op != c10d::ReduceOp::SUM)
		refuse(d.name, "of sparse tensors only the sum is computed");
	if (tensor.dim() > Form::kSizes)
		refuse(d.name, "sparse tensors have up to " + std::to_string(Form::kSizes) +
				       " dimensions, not " + std::to_string(tensor.dim()));

	auto sum = std::make_shared<SparseSum>(tensor);

	sum->forms.resize(size_);

	torcoll_op &forms = d.call->add(TORCOLL_ALLGATHER, deadline_ns);

	forms.type = TORCOLL_I64;
	forms.count = size_ * sizeof(Form) / sizeof(int64_t);
	forms.send = &sum->form;
	forms.recv = sum->forms.data();
	/* the call owns both, and what they own */
	call->next = [sum, call, deadline_ns] {
		at::NoGradGuard guard;

		sum->check();
		sum->indices = add_gather(*call, deadline_ns,
					  in_host_memory(sum->own._indices().t()), *sum);
		sum->values = add_gather(*call, deadline_ns,
					 in_host_memory(sum->own._values()), *sum);
	};
	call->check = [sum, tensor] {
		c10::InferenceMode mode(tensor.is_inference());
		at::NoGradGuard guard;

		Tensor(tensor).copy_(sum->total());
	};
}

}  // namespace tortorch
