# SPDX-License-Identifier: GPL-2.0
"""Batches, and prepared calls: ops that are started together, and again."""

import errno
import gc
import time
from typing import Any

import numpy
import pytest

import torcoll
from conftest import Fake

pytestmark = pytest.mark.usefixtures("held")


def test_batch__one_call(fake: Fake, comm: torcoll.Comm) -> None:
    x, y = bytearray(4), bytearray(4)
    with comm.batch() as batch:
        first = batch.add("allreduce", x, op="max")
        second = batch.add("broadcast", y, root=0)
        third = batch.add("barrier")
        assert repr(first) == "<torcoll.Request, not started>"
        with pytest.raises(RuntimeError, match="the op was not started"):
            first.wait()
    assert (fake.calls("batch"), fake.calls("submit"), fake.running()) == (1, 0, 3)
    fake.complete(3)
    assert third.wait() is None and second.wait() is y and first.wait() is x
    assert comm.batch().start() == []


def test_batch__refused_in_the_middle(fake: Fake, comm: torcoll.Comm) -> None:
    fake.state.depth = 2
    x = bytearray(4)
    batch = comm.batch()
    requests = [batch.add("allreduce", buffer) for buffer in (bytearray(4), bytearray(4), x)]
    with pytest.raises(torcoll.Busy):
        batch.start()
    x.append(1)
    fake.complete(2)
    assert [request.wait() for request in requests[:2]] == [b"****"] * 2
    with pytest.raises(RuntimeError):
        requests[2].wait()
    assert not comm._pending


def test_batch__timeout_begins_at_start(fake: Fake, comm: torcoll.Comm) -> None:
    with comm.batch() as batch:
        batch.add("allreduce", bytearray(4), timeout=2.5)
        added = time.monotonic_ns()
        with pytest.raises(ValueError, match="timeout: -1.0"):
            batch.add("allreduce", bytearray(4), timeout=-1.0)
    assert added + 2.5e9 <= fake.last.deadline_ns <= time.monotonic_ns() + 2.5e9
    with comm.batch() as batch:
        batch.add("allreduce", bytearray(4), timeout=2.5)
        batch.add("barrier")
    assert fake.last.deadline_ns == 0


def test_batch__not_started_if_its_block_fails(fake: Fake, comm: torcoll.Comm) -> None:
    x = bytearray(4)
    with pytest.raises(ZeroDivisionError), comm.batch() as batch:
        batch.add("allreduce", x)
        1 / 0
    x.append(1)
    assert fake.calls("batch") == 0


def test_batch__full(fake: Fake, comm: torcoll.Comm) -> None:
    batch = comm.batch()
    for _ in range(1024):
        batch.add("barrier")
    with pytest.raises(ValueError, match="a batch takes 1024 ops"):
        batch.add("barrier")
    batch = comm.batch()
    with pytest.raises(ValueError, match="collective: 'allreduced' is not known: pass one of allreduce"):
        batch.add("allreduced")


def test_prepared__is_called_again(fake: Fake, comm: torcoll.Comm) -> None:
    fake.state.hold = False
    x = numpy.zeros(1024)
    with comm.prepare("allreduce", x, op="sum", algorithm="bucket") as call:
        assert fake.state.regions == 1 and fake.state.region_length == 8192
        for _ in range(3):
            assert call() is x
        assert call.start().wait() is x
    assert fake.calls("batch") == 4 and fake.state.regions == 0
    with pytest.raises(torcoll.Aborted, match="the prepared op was closed"):
        call()
    call.close()
    with pytest.raises(ValueError, match="timeout: a deadline is of one start"):
        comm.prepare("allreduce", x, timeout=1.0)
    fake.fail("region-add", errno.EDQUOT)
    with pytest.raises(torcoll.LimitReached):
        comm.prepare("allreduce", x)


def test_prepared__several_at_once(fake: Fake, comm: torcoll.Comm) -> None:
    x, y = bytearray(8), bytearray(8)
    calls = [comm.prepare("allreduce", x), comm.prepare("broadcast", y, root=0)]
    requests = torcoll.start_all(calls)
    assert fake.calls("batch") == 1
    fake.complete(2)
    assert [request.wait() for request in requests] == [x, y]
    assert torcoll.start_all([]) == []
    fake.state.depth = 1
    with pytest.raises(torcoll.Busy):
        torcoll.start_all(calls)
    gc.collect()
    assert len(comm._forgotten) == fake.running() == 1
    fake.complete()


def test_prepared__of_several_comms(fake: Fake, comm: torcoll.Comm) -> None:
    with torcoll.Comm("other", fabric=1) as other:
        comms = [comm, other]
        requests = torcoll.start_all([c.prepare("allreduce", bytearray(8)) for c in comms])
        # close() would wait for these
        assert not any(c._users for c in comms)
        fake.complete(2)
        for request in requests:
            request.wait()


def test_prepared__goes_with_its_comm(fake: Fake) -> None:
    comm = torcoll.Comm("test", fabric=1)
    x = bytearray(8)
    call = comm.prepare("allreduce", x)
    request = call.start()
    comm.close()
    x.append(1)
    assert fake.state.regions == 0
    with pytest.raises(torcoll.Aborted):
        request.wait()
    with pytest.raises(torcoll.Aborted, match="it is closed"):
        call.start()


def test_prepared__dropped(fake: Fake, comm: torcoll.Comm) -> None:
    comm.prepare("allreduce", bytearray(8))
    gc.collect()
    assert fake.state.regions == 0


@pytest.mark.parametrize("ended_by", ["close", "drop", "comm"])
def test_prepared__closed_while_it_runs(fake: Fake, ended_by: str) -> None:
    comm = torcoll.Comm("test", fabric=1)
    x = bytearray(8)
    call = comm.prepare("allreduce", x)
    request = call.start()
    if ended_by == "drop":
        del call
        gc.collect()
    else:
        call.close()
        with pytest.raises(torcoll.Aborted, match="the prepared op was closed"):
            call.start()
    # the kernel still writes to it
    with pytest.raises(BufferError):
        x.append(1)
    assert fake.state.regions == 1
    if ended_by == "comm":
        comm.close()
        with pytest.raises(torcoll.Aborted):
            request.wait()
    else:
        fake.complete()
        assert request.wait() is x
    x.append(1)
    assert fake.state.regions == 0 and not comm._prepared
    comm.close()


def test_prepared__block_is_left_while_it_runs(fake: Fake, comm: torcoll.Comm) -> None:
    x = bytearray(8)
    with pytest.raises(TimeoutError), comm.prepare("allreduce", x) as call:
        call.start().wait(timeout=0.01)
    with pytest.raises(BufferError):
        x.append(1)
    fake.complete()
    fake.state.hold = False
    comm.barrier()
    x.append(1)
    assert fake.state.regions == 0


def test_prepared__second_start_refused(fake: Fake, comm: torcoll.Comm) -> None:
    """What cannot begin is no use of the prepared ops before it in the list."""
    x, y = bytearray(8), bytearray(8)
    good, closed = comm.prepare("allreduce", x), comm.prepare("allreduce", y)
    closed.close()
    with pytest.raises(torcoll.Aborted, match="the prepared op was closed"):
        torcoll.start_all([good, closed])
    good.close()
    x.append(1)
    assert fake.state.regions == 0


def test_prepared__collected_with_its_comm(fake: Fake) -> None:
    """In a cycle the comm may be finalised first."""
    order = []
    comm = torcoll.Comm("test", fabric=1)
    lib = comm._lib

    class Noted:
        def __getattr__(self, name: str) -> Any:
            def noting(*args: Any) -> Any:
                order.append(name)
                return getattr(lib, name)(*args)

            return noting if name in ("torcoll_prepared_free", "torcoll_comm_close") else getattr(lib, name)

    noted: Any = Noted()
    comm._lib = noted
    call = comm.prepare("allreduce", bytearray(8))
    cycle: list[Any] = [comm, call]
    cycle.append(cycle)
    del comm, call, cycle
    with pytest.warns(ResourceWarning):
        gc.collect()
    assert order == ["torcoll_prepared_free", "torcoll_comm_close"] and fake.state.regions == 0
