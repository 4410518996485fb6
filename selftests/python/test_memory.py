# SPDX-License-Identifier: GPL-2.0
"""Memory of the module and of others: allocated, registered, and what goes when it is dropped."""

import errno
import gc
import sys
from typing import Any

import numpy
import pytest

import torcoll
from conftest import Fake
from torcoll import _names


def test_empty__is_of_the_module(fake: Fake, comm: torcoll.Comm) -> None:
    x = torcoll.empty((2, 512), "f32")
    assert x.shape == (2, 512) and x.dtype == numpy.float32 and x.flags.c_contiguous and not x.any()
    part = x[1, 2:]
    comm.allreduce(x)
    assert fake.last.send_region and fake.last.send_addr == x.ctypes.data
    comm.allreduce(numpy.zeros(1024))
    assert not fake.last.send_region
    del x
    gc.collect()
    assert fake.state.regions == 1 and part[0] != 0
    del part
    gc.collect()
    assert fake.state.regions == 0


@pytest.mark.parametrize("dtype,kind", [("bf16", "u2"), ("i8", "i1"), ("f64", "f8"), (numpy.int64, "i8"),
                                        ("int64", "i8")])
def test_empty__types(fake: Fake, dtype: Any, kind: str) -> None:
    assert torcoll.empty(3, dtype).dtype == numpy.dtype(kind)


def test_empty__outlives_its_context(fake: Fake) -> None:
    context = torcoll.Context()
    x = torcoll.empty([4], "u8", context=context)
    context.close()
    x[:] = 7
    assert fake.state.contexts == 1
    del x
    gc.collect()
    assert fake.state.contexts == 0 and fake.state.regions == 0


def test_empty__refused(fake: Fake) -> None:
    with pytest.raises(ValueError, match="nbytes: 0 bytes"):
        torcoll.empty(0)
    with pytest.raises(ValueError, match="shape: a side of -1"):
        torcoll.empty((-1, 2))
    fake.fail("region-alloc", errno.EDQUOT, "kernel memory")
    with pytest.raises(torcoll.LimitReached, match="kernel memory"):
        torcoll.empty(4)
    context = torcoll.context()
    context.close()
    assert fake.state.contexts == 0


def test_alloc__is_plain_bytes(fake: Fake) -> None:
    memory = torcoll.context().alloc(100)
    memory[3] = 5
    assert (memory.format, memory.nbytes, memory[3], memory.readonly) == ("B", 100, 5, False)


def test_dtypes__of_numpy() -> None:
    pair = torcoll.numpy_dtype("double-int")
    assert (pair.itemsize, pair.names) == (16, ("value", "index"))
    for name, kind in _names.TYPES.items():
        if kind:
            assert torcoll.numpy_dtype(name).itemsize == _names.TYPE_SIZE[kind]
    with pytest.raises(ValueError, match="none is no type"):
        torcoll.numpy_dtype("none")


def test_register(fake: Fake, comm: torcoll.Comm) -> None:
    x = bytearray(8192)
    with comm.context.register(x) as registration:
        comm.allreduce(x)
        assert fake.last.send_region and fake.state.region_length == 8192
        with pytest.raises(BufferError):
            x.append(1)
        with pytest.raises(torcoll.Error, match="overlaps"):
            comm.context.register(x)
    x.append(1)
    registration.close()
    assert fake.state.regions == 0
    with pytest.raises(ValueError, match="no bytes to register"):
        comm.context.register(b"")
    kept = comm.context.register(x)
    del kept
    assert fake.state.regions == 0
    last = comm.context.register(x)
    comm.close()
    comm.context.close()
    last.close()
    x.append(1)


def test_register__dropped_while_an_op_uses_it(fake: Fake, comm: torcoll.Comm) -> None:
    fake.state.hold = True
    x = bytearray(8192)
    registration = comm.context.register(x)
    request = comm.iallreduce(x)
    del registration
    gc.collect()
    fake.complete()
    request.wait()
    # it is registered, so it must not be freed: another buffer would come to its address
    with pytest.raises(BufferError):
        x.append(1)
    assert fake.state.regions == 1
    fake.state.hold = False
    comm.barrier()
    assert fake.state.regions == 0
    x.append(1)


@pytest.mark.parametrize("ended_by", ["register", "prepared", "comm", "context"])
def test_register__what_is_kept_goes(fake: Fake, ended_by: str) -> None:
    fake.state.hold = True
    context = torcoll.Context()
    comm = torcoll.Comm(fabric=1, context=context)
    x = bytearray(8192)
    requests = []
    with pytest.raises(KeyboardInterrupt), context.register(x):
        requests.append(comm.iallreduce(x))
        raise KeyboardInterrupt
    with pytest.raises(BufferError):
        x.append(1)
    if ended_by == "register":
        fake.complete()
        requests[0].wait()
        with context.register(bytearray(8192)):
            assert fake.state.regions == 1
    elif ended_by == "prepared":
        prepared = comm.prepare("barrier")
        fake.complete()
        requests[0].wait()
        assert fake.state.regions == 1
        started = prepared.start()
        fake.complete()
        started.wait()
        prepared.close()
    elif ended_by == "comm":
        comm.close()
    else:
        context.close()
    x.append(1)
    assert fake.state.regions == 0
    context.close()
    assert fake.state.contexts == 0


def test_register__at_the_end_of_the_process_the_kernel_drops_it(
        fake: Fake, comm: torcoll.Comm, monkeypatch: pytest.MonkeyPatch) -> None:
    registration, x = comm.context.register(bytearray(8192)), bytearray(8192)
    prepared = comm.prepare("allreduce", x)
    before = fake.state.regions
    monkeypatch.setattr(sys, "is_finalizing", lambda: True)
    del registration, prepared
    gc.collect()
    assert fake.state.regions == before > 1
    monkeypatch.undo()


def test_register__busy_is_said(fake: Fake, comm: torcoll.Comm) -> None:
    fake.state.hold = True
    x = bytearray(8192)
    registration = comm.context.register(x)
    request = comm.iallreduce(x)
    with pytest.raises(torcoll.Busy):
        registration.close()
    fake.complete()
    request.wait()
    registration.close()
    x.append(1)
    assert fake.state.regions == 0 and not comm.context._kept
