// SPDX-License-Identifier: MIT
/*
 * The sum of sparse tensors, as gradients of embeddings are. Which elements a rank
 * has only it knows: the ranks tell each other how many there are, then gather
 * indices and values of all of them, and each rank adds all up, in the same order.
 *
 * The caller waits for the first step: a second one that began later would be at
 * another place among the calls of the comm at each rank.
 */
#include <algorithm>

#include "backend.hpp"

namespace tortorch {

/* Elements of a rank, each of which may be as large as the tensor is beside. */
static constexpr int64_t kElementsMax = int64_t{1} << 40;

/* What a rank says of its tensor. */
struct Form {
	static constexpr int kSizes = 12;

	int64_t elements;	/* that it has */
	int64_t type;
	int64_t sparse, dense;	/* dimensions */
	int64_t sizes[kSizes];

	explicit Form(const Tensor &tensor);
	int64_t most() const;
	bool fits(const Form &own) const;
};

Form::Form(const Tensor &tensor)
	: elements(tensor._nnz()), type(static_cast<int64_t>(tensor.scalar_type())),
	  sparse(tensor.sparse_dim()), dense(tensor.dense_dim()), sizes{}
{
	std::copy(tensor.sizes().begin(), tensor.sizes().end(), sizes);
}

/* As many elements as have indices. */
int64_t Form::most() const
{
	int64_t most = 1;

	for (int64_t i = 0; i < sparse; i++)
		most = sizes[i] && most > kElementsMax / sizes[i] ? kElementsMax : most * sizes[i];
	return most;
}

bool Form::fits(const Form &own) const
{
	return type == own.type && sparse == own.sparse && dense == own.dense &&
	       std::equal(sizes, sizes + kSizes, own.sizes) && elements >= 0 &&
	       elements <= own.most();
}

/* A sum under way. It holds the memory of its tensors, whatever the program makes of its own. */
struct SparseSum {
	std::vector<int64_t> sizes;
	std::vector<Form> forms;		/* of all ranks */
	Tensor own_indices, own_values;		/* in host memory, an element after the other */
	Tensor indices, values;			/* of all ranks */

	SparseSum(const Tensor &tensor, const Form &own, int ranks);
	void check(const Form &own) const;
	Tensor total() const;
};

SparseSum::SparseSum(const Tensor &tensor, const Form &own, int ranks)
	: sizes(tensor.sizes().vec()), forms(ranks, own),
	  own_indices(tensor._indices().t().to(at::kCPU).contiguous()),
	  own_values(tensor._values().to(at::kCPU).contiguous())
{
}

/* All ranks see the same forms, so all refuse if one differs. */
void SparseSum::check(const Form &own) const
{
	for (size_t i = 0; i < forms.size(); i++)
		if (!forms[i].fits(own))
			refuse("all_reduce", "the sparse tensor of rank " + std::to_string(i) +
						     " has another type or shape than here");
}

/* Indices are what other ranks say, and PyTorch 2 takes any, but does not look before it uses them. */
Tensor SparseSum::total() const
{
	at::_validate_sparse_coo_tensor_args(indices.t(), values, sizes);
	return at::sparse_coo_tensor(indices.t(), values, sizes).coalesce();
}

/* Gather the elements of all ranks, to where that returns. */
static Tensor add_gather(Call &call, uint64_t deadline_ns, const Tensor &own, const SparseSum &sum)
{
	std::vector<int64_t> sizes = own.sizes().vec();
	uint64_t bytes = own.element_size();
	Counts counts;
	Tensor all;

	for (size_t i = 1; i < sizes.size(); i++)
		bytes *= sizes[i];
	sizes[0] = 0;
	for (const Form &form : sum.forms) {
		sizes[0] += form.elements;
		counts.push_back(form.elements * bytes);
	}
	all = at::empty(sizes, own.options());
	if (!all.numel())
		return all;

	torcoll_op &op = call.add(TORCOLL_ALLGATHER, deadline_ns);

	op.type = TORCOLL_U8;
	op.count = all.nbytes();
	op.counts = call.keep(std::move(counts));
	op.send = call.reads(own);
	op.recv = call.writes(all);
	return all;
}

void Backend::tell_forms(uint64_t deadline_ns, const void *own, void *all, size_t bytes)
{
	torcoll_op op = {};

	op.collective = TORCOLL_ALLGATHER;
	op.type = TORCOLL_U8;
	op.count = bytes * size_;
	op.send = own;
	op.recv = all;
	op.deadline_ns = deadline_ns;
	if (torcoll_run(comm_->comm, &op))
		fail(torcoll_last_error());
}

void Backend::add_sparse_allreduce(Description &d, const Tensor &tensor, const c10d::ReduceOp &op)
{
	at::NoGradGuard guard;

	if (op != c10d::ReduceOp::SUM)
		refuse(d.name, "of sparse tensors only the sum is computed");
	if (tensor.dim() > Form::kSizes)
		refuse(d.name, "sparse tensors have up to " + std::to_string(Form::kSizes) +
				       " dimensions, not " + std::to_string(tensor.dim()));

	Tensor input = tensor.coalesce();
	Form own(input);
	auto sum = std::make_shared<SparseSum>(input, own, size_);

	tell_forms(d.deadline_ns, &own, sum->forms.data(), sizeof(own));
	sum->check(own);
	try {
		sum->indices = add_gather(*d.call, d.deadline_ns, sum->own_indices, *sum);
		sum->values = add_gather(*d.call, d.deadline_ns, sum->own_values, *sum);
	} catch (const std::exception &) {
		/* no memory here: the others wait for it */
		torcoll_abort(comm_->comm);
		throw;
	}
	d.call->check = [sum, tensor] {
		c10::InferenceMode mode(tensor.is_inference());
		at::NoGradGuard guard;

		Tensor(tensor).copy_(sum->total());
	};
}

}  // namespace tortorch
