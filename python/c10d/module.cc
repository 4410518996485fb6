// SPDX-License-Identifier: MIT
/* The extension module, from which torcoll.torch registers the backend. */
#include <pybind11/chrono.h>
#include <torch/csrc/utils/pybind.h>

#include "backend.hpp"

namespace tortorch {

/* GIL: released, since the other ranks are waited for. */
static c10::intrusive_ptr<Base> backend_new(const c10::intrusive_ptr<c10d::Store> &store, int rank,
					    int size, Milliseconds timeout)
{
	return c10::make_intrusive<Backend>(store, rank, size, timeout);
}

/* GIL: released, since callbacks that run may need it. */
static void call_at_exit()
{
	pybind11::module_::import("atexit").attr("register")(pybind11::cpp_function(
		&Context::end, pybind11::call_guard<pybind11::gil_scoped_release>()));
}

}  // namespace tortorch

PYBIND11_MODULE(_torcoll_torch, m)
{
	m.doc() = "The backend torcoll of torch.distributed: import torcoll.torch";
	m.attr("version") = torcoll_version();
	m.attr("torch_version") = TORCH_VERSION;
	m.def("backend_new", &tortorch::backend_new, pybind11::arg("store"), pybind11::arg("rank"),
	      pybind11::arg("size"), pybind11::arg("timeout"),
	      pybind11::call_guard<pybind11::gil_scoped_release>());
	tortorch::call_at_exit();
}
