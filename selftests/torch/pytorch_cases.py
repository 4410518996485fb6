# SPDX-License-Identifier: GPL-2.0
"""PyTorch's own tests of torch.distributed, those that it has for Gloo: pytorch_cases.py gloo|torcoll [NAME]...

With torcoll, every process group that a test makes for Gloo is one of torcoll, and each rank is on a node of its own.
NAMEs are parts of names of cases, or =NAME. Prints a line for each: passed, failed or n.a., with the reason.
"""

import ctypes
import dataclasses
import importlib.metadata
import logging
import os
import re
import sys
import tempfile
import time
import unittest
from typing import Any

BACKEND, NAMES = sys.argv[1], sys.argv[2:]
os.environ.update(BACKEND="gloo", WORLD_SIZE="4", TEMP_DIR=tempfile.mkdtemp(),
                  DISTRIBUTED_TESTS_DEFAULT_TIMEOUT=os.environ.get("SECONDS_EACH", "60"))


def hashable(cls: Any = None, **kwargs: Any) -> Any:
    """dataclass, whose instances may be defaults: Debian 12's PyTorch has some that its Python refuses."""
    more = {} if cls is None or "__hash__" in vars(cls) else {"unsafe_hash": True}
    return real(cls, **more, **kwargs)


real = dataclasses.dataclass
if importlib.metadata.version("torch").startswith("1."):
    dataclasses.dataclass = hashable
import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
import torch.distributed._shard  # noqa: E402
import torch.multiprocessing  # noqa: E402
from torch.testing._internal.distributed import distributed_test  # noqa: E402
from torch.testing._internal.distributed.distributed_test import DistributedTest, TestDistBackend  # noqa: E402

dataclasses.dataclass = real
torch.set_num_threads(1)

if BACKEND == "torcoll":
    import torcoll.torch

    c10d, gloo = dist.distributed_c10d, dist.distributed_c10d.ProcessGroupGloo
    wrapper_new = c10d._create_process_group_wrapper
    events_get = distributed_test.get_profiling_event

    class Group(type):
        """Of a class that makes groups of torcoll: PyTorch 2 asks whether they are Gloo's."""

        def __call__(cls, store: Any, rank: int, size: int, timeout: Any) -> Any:
            return torcoll.torch._create(store, rank, size, timeout)

        def __instancecheck__(cls, group: Any) -> bool:
            return hasattr(group, "name") and group.name() == "torcoll"

    group = Group("ProcessGroupGloo", (), {})

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        """A group that compares what ranks call, by another group, which must be Gloo's."""
        c10d.ProcessGroupGloo = gloo
        try:
            return wrapper_new(*args, **kwargs)
        finally:
            c10d.ProcessGroupGloo = group

    def events(name: str, *args: Any, **kwargs: Any) -> Any:
        """Events of the backend, by the name that Gloo's would have."""
        found = events_get(name.replace("gloo:", "torcoll:"), *args, **kwargs)
        for event in found:
            event.name = event.name.replace("torcoll:", "gloo:")
        return found

    c10d.ProcessGroupGloo, c10d._create_process_group_wrapper = group, wrapper
    distributed_test.get_profiling_event = events


# What torcoll does not have by design, as errors say it.
REFUSED = {
    "from any rank is not possible": "messages from any rank are not possible",
    "'torcoll' != 'gloo'": "the backend's name must be Gloo's",
    # by that name, PyTorch 2 takes any backend for its own of Gloo
    'ddp_logging_data.get("gloo_num_threads")': "the backend's name must be Gloo's",
}


def become(rank: int) -> None:
    """Go to the node of a rank."""
    clone_newnet = 0x40000000
    with open(f"/run/netns/tor-{rank}", encoding="ascii") as netns:
        if ctypes.CDLL(None, use_errno=True).setns(netns.fileno(), clone_newnet):
            raise OSError(ctypes.get_errno(), f"setns to node {rank}")


class Cases(TestDistBackend, DistributedTest._DistTestBase):  # type: ignore[misc]
    """The ranks are forks of this process: to import PyTorch takes minutes on an emulated processor."""

    def setUp(self) -> None:
        super().setUp()
        self._start_processes(torch.multiprocessing.get_context("fork").Process)

    @classmethod
    def _run(cls, rank: int, *args: Any, **kwargs: Any) -> None:
        if BACKEND == "torcoll":
            become(rank)
        super()._run(rank, *args, **kwargs)


def why(text: str) -> str:
    """The line of a traceback that says what is wrong."""
    lines = [line for line in text.splitlines() if re.match(r"[A-Za-z_.]*(Error|Exception|Exit)\b", line)]
    return (lines or text.splitlines() or [""])[-1][:300]


def main() -> None:
    """One case at a time, so that each has its line as soon as it is over."""
    logging.disable(logging.WARNING)
    for name in unittest.defaultTestLoader.getTestCaseNames(Cases):
        if NAMES and not any(part == "=" + name or part in name for part in NAMES):
            continue
        result, begin = unittest.TestResult(), time.monotonic()
        Cases(name).run(result)
        took = f"{time.monotonic() - begin:.1f} s"
        bad = result.errors + result.failures
        refused = [REFUSED[said] for said in REFUSED if bad and said in bad[0][1]]
        if refused:
            print(f"n.a. {name}: {refused[0]}", flush=True)
        elif bad:
            print(f"failed {name} after {took}: {why(bad[0][1])}", flush=True)
        elif result.skipped:
            print(f"n.a. {name}: {result.skipped[0][1]}", flush=True)
        else:
            print(f"passed {name} after {took}", flush=True)


if __name__ == "__main__":
    main()
