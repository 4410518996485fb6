# SPDX-License-Identifier: GPL-2.0
"""How a group of PyTorch's backend comes about: what its ranks tell each other by the store, and the fabric that they find."""

import datetime
import time
from typing import Any

import pytest
import torch
import torch.distributed as dist

import _torcoll_torch
from conftest import Fake
from groups import group_new, join_later, milliseconds, started


# ---- stores ----

class Store(dist.Store):  # type: ignore[misc]
    """One that fails where ranks say that they have been told."""

    def __init__(self) -> None:
        super().__init__()
        self.real = dist.HashStore()

    def set(self, key: str, value: Any) -> None:
        self.real.set(key, value)

    def get(self, key: str) -> Any:
        return self.real.get(key)

    def add(self, key: str, value: int) -> int:
        if key.endswith("told"):
            raise RuntimeError("the store is gone")
        return int(self.real.add(key, value))

    def wait(self, keys: list[str], timeout: Any = None) -> None:
        self.real.wait(keys, timeout or milliseconds(1000))


def test_store__that_fails_does_not_hide_why(fake: Fake) -> None:
    fake.state.in_fabric = False
    with pytest.raises(RuntimeError, match="torcoll: fabrics of this host: "):
        _torcoll_torch.backend_new(Store(), 0, 1, datetime.timedelta(seconds=60))


class Impatient(Store):
    """Waits as TCPStore: for no time if that is 0, and by poll(), whose milliseconds are an int."""

    def wait(self, keys: list[str], timeout: Any = None) -> None:
        if not milliseconds(0) < timeout < milliseconds(2**31):
            raise RuntimeError(f"wait timeout after {timeout}")
        self.real.wait(keys, timeout)


@pytest.mark.parametrize("days", [-1, 0, 25, 100 * 365])
def test_store__that_can_only_wait_for_so_long(fake: Fake, days: int) -> None:
    got: list[Any] = []
    store = Impatient()
    first = started(join_later(store, 0, 2, days * 86400), got)
    time.sleep(0.2)
    other = started(join_later(store, 1, 2, days * 86400), got)
    first.join(10)
    other.join(10)
    assert {made.rank() for made in got} == {0, 1}


def test_store__no_limit_is_not_the_stores(fake: Fake) -> None:
    got: list[Any] = []
    plain = {} if torch.__version__.startswith("1.") else {"use_libuv": False}
    server = dist.TCPStore("127.0.0.1", 0, 2, True, milliseconds(2000), wait_for_workers=False, **plain)
    client = dist.TCPStore("127.0.0.1", server.port, 2, False, milliseconds(2000), wait_for_workers=False, **plain)
    first = started(join_later(server, 0, 2, 0), got)
    time.sleep(3)
    other = started(join_later(client, 1, 2, 0), got)
    first.join(10)
    other.join(10)
    assert {made.rank() for made in got} == {0, 1}


def test_store__rank_0_that_does_not_come_is_named(fake: Fake) -> None:
    with pytest.raises(RuntimeError, match='torcoll: rank 0: the store has no key "comm"'):
        join_later(dist.HashStore(), 1, 2, 0.5)()


# Rank 2 does not come; rank 0 tells the other so, and then waits for who has not heard it.

def told_who_is_missing(first_s: float, other_s: float, timeout_s: float) -> float:
    """Let ranks 0 and 1 begin then. Return when rank 1 had been told."""
    got: list[Any] = []
    threads = {}
    store, began = dist.HashStore(), time.monotonic()
    for rank, start_s in sorted(enumerate((first_s, other_s)), key=lambda one: one[1]):
        time.sleep(max(0, began + start_s - time.monotonic()))
        threads[rank] = started(join_later(store, rank, 3, timeout_s), got)
    threads[1].join()
    told_s = time.monotonic() - began
    assert "torcoll: rank 2: the store has no key" in str(got[0])
    threads[0].join()
    assert "torcoll: rank 2: the store has no key" in str(got[1])
    return told_s


def test_store__one_timeout_for_all_ranks(fake: Fake) -> None:
    # one for each of them would be over after 7 s
    assert told_who_is_missing(0, 3, 4) < 6


def test_store__rank_0_that_begins_later_tells_who_is_missing(fake: Fake) -> None:
    # one that does not ask would be over after 4 s; rank 1 waits until 8
    assert told_who_is_missing(2, 0, 4) > 5.5


# ---- fabrics ----

def test_fabric__0_is_a_key(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCOLL_FABRIC", "0")
    fake.state.fabric = 7
    with pytest.raises(RuntimeError, match="this host is not in fabric 0"):
        group_new()
    fake.state.fabric = 0
    group_new()
    assert fake.state.joined.fabric == 0


def test_fabric__that_is_not_named_is_the_only_one(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCOLL_FABRIC", "")
    fake.state.fabric = 7
    group_new()
    assert fake.state.joined.fabric == 7
