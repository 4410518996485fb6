# SPDX-License-Identifier: GPL-2.0
"""Groups of PyTorch's backend over the library and the fake device of selftests/python; its fixtures by "pytest -p groups".

A group has one rank, whose ops have 42 in each byte of their results.
"""

import ctypes
import datetime
import functools
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
import torch.distributed as dist

import _torcoll_torch
from conftest import Fake
from torcoll._names import FEATURES

FILLED = torch.tensor([0x2a] * 4, dtype=torch.uint8).view(torch.float32).item()


@pytest.fixture
def fake() -> Iterator[Fake]:
    f = Fake(ctypes.CDLL(_torcoll_torch.__file__))
    f.lib.fake_reset()
    f.state.rank, f.state.ranks, f.state.in_fabric = 0, 1, True
    # with which the library starts an op and waits for it by one call, whether there are threads or not
    f.state.features |= FEATURES["wait-ns"]
    yield f
    f.complete(100)


def group_new(seconds: float = 60) -> Any:
    return _torcoll_torch.backend_new(dist.HashStore(), 0, 1, datetime.timedelta(seconds=seconds))


def join_later(store: Any, rank: int, ranks: int, seconds: float) -> Callable[[], Any]:
    """What joins a group."""
    return functools.partial(_torcoll_torch.backend_new, store, rank, ranks, datetime.timedelta(seconds=seconds))


@pytest.fixture
def group(fake: Fake) -> Any:
    made = group_new()
    fake.state.hold = True
    return made


def started(function: Callable[[], Any], got: list[Any]) -> threading.Thread:
    """A thread that does this; what it gives or raises."""
    def work() -> None:
        try:
            got.append(function())
        except Exception as e:
            got.append(e)

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


def waiting(fake: Fake, work: Any, got: list[Any], *args: Any) -> threading.Thread:
    """A thread that waits for a work, in the kernel."""
    before = fake.calls("wait")
    thread = started(lambda: work.wait(*args), got)
    until(lambda: fake.calls("wait") > before)
    time.sleep(0.05)
    return thread


def milliseconds(n: int) -> datetime.timedelta:
    return datetime.timedelta(milliseconds=n)


def strided() -> Any:
    x = torch.zeros(4, 6).t()
    assert not x.is_contiguous()
    return x


def is_filled(x: Any) -> bool:
    return bool((x == FILLED).all())
