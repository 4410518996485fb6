# SPDX-License-Identifier: GPL-2.0
"""The package over the whole of libtorcoll over a fake device: see fake_device.c, whose state this mirrors."""

import ctypes
from collections.abc import Iterator
from ctypes import c_bool, c_char, c_int, c_int32, c_uint16, c_uint32, c_uint64
from typing import Any, Optional

import pytest

import torcoll
from torcoll import _abi, _context
from torcoll._names import FEATURES

NRS = {"info": 0x00, "ring-setup": 0x02, "region-add": 0x10, "region-del": 0x11, "region-alloc": 0x12, "comm-add": 0x20, "comm-del": 0x21,
       "comm-info": 0x22, "shrink": 0x23, "submit": 0x30, "wait": 0x31, "abort": 0x32, "batch": 0x34}


class Submit(ctypes.Structure):
    """struct torcoll_submit"""

    _fields_ = [
        ("size", c_uint32), ("flags", c_uint32), ("comm", c_uint32), ("collective", c_uint16),
        ("algorithm", c_uint16), ("type", c_uint16), ("redop", c_uint16), ("bits", c_uint32), ("root", c_uint32),
        ("peer", c_uint32), ("count", c_uint64), ("counts", c_uint64), ("send_region", c_uint32),
        ("recv_region", c_uint32), ("send_addr", c_uint64), ("recv_addr", c_uint64), ("scalar", c_uint64),
        ("param", c_uint32 * 8), ("deadline_ns", c_uint64), ("user_data", c_uint64), ("op", c_uint64),
        ("status", c_int32), ("chosen", c_uint32), ("recv_counts", c_uint64),
        ("wait_ns", c_uint64),
    ]


class CommAdd(ctypes.Structure):
    """struct torcoll_comm_add"""

    _fields_ = [
        ("size", c_uint32), ("flags", c_uint32), ("fabric", c_uint64), ("name", c_uint64), ("secret", c_uint64),
        ("name_len", c_uint32), ("secret_len", c_uint32), ("members", c_uint64), ("ranks", c_uint32),
        ("rank", c_uint32), ("deadline_ns", c_uint64), ("depth", c_uint32), ("comm", c_uint32),
        ("missing", c_uint32), ("bits", c_uint32), ("wait_ns", c_uint64),
    ]


class State(ctypes.Structure):
    """fake of fake_device.c"""

    _fields_ = [
        ("rank", c_uint32), ("ranks", c_uint32), ("depth", c_uint32), ("fill", c_uint32), ("error_rank", c_uint32),
        ("status", c_int), ("open_error", c_int), ("hold", c_bool), ("hold_joins", c_bool), ("wait_completes", c_bool),
        ("in_fabric", c_bool), ("fabric", c_uint64), ("features", c_uint64),
        ("sentence", c_char * 256), ("fail", c_int * 0x40), ("calls", c_uint32 * 0x40), ("last", Submit),
        ("counts", (c_uint64 * 64) * 2), ("scalar", c_uint64), ("sum", c_uint64), ("joined", CommAdd),
        ("name", c_char * 65), ("secret", c_char * 65), ("members", c_uint32 * 64), ("region_length", c_uint64),
        ("comms", c_int), ("contexts", c_int), ("regions", c_int),
    ]


class Fake:
    """What tests tell the fake, and ask it."""

    def __init__(self, lib: Optional[ctypes.CDLL] = None) -> None:
        self.lib = lib or _abi.load()
        self.lib.fake_state.restype = ctypes.POINTER(State)
        self.state: Any = self.lib.fake_state().contents

    def fail(self, call: str, err: int, sentence: str = "it says why") -> None:
        """The next call of that kind fails."""
        self.state.fail[NRS[call]] = -err
        self.state.sentence = sentence.encode()

    def end(self, err: int, rank: int = 0xFFFFFFFF, sentence: str = "it says why") -> None:
        """Ops that complete from now on fail."""
        self.state.status, self.state.error_rank, self.state.sentence = -err, rank, sentence.encode()

    def calls(self, call: str) -> int:
        return int(self.state.calls[NRS[call]])

    def complete(self, n: int = 1) -> int:
        return int(self.lib.fake_complete(n))

    def running(self) -> int:
        return int(self.lib.fake_running())

    def let_join(self) -> None:
        self.lib.fake_let_join()

    @property
    def last(self) -> Any:
        return self.state.last


@pytest.fixture
def fake() -> Iterator[Fake]:
    """The device, with nothing left of the test before."""
    f = Fake()
    f.lib.fake_reset()
    yield f
    f.state.hold = False
    own, _context._own = _context._own, None
    if own is not None:
        own.close()


@pytest.fixture
def held(fake: Fake) -> None:
    """Ops run until a test completes them."""
    fake.state.hold = True


@pytest.fixture
def one_slot(fake: Fake) -> None:
    """The module has one, and lets the library queue what it has none for; before a comm."""
    fake.state.features |= FEATURES["ring"] | FEATURES["try"]
    fake.state.depth = 1


@pytest.fixture
def comm(fake: Fake) -> Iterator[torcoll.Comm]:
    """Rank 1 of 4."""
    with torcoll.Comm("test", fabric=1) as c:
        yield c
