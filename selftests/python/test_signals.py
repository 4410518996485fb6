# SPDX-License-Identifier: GPL-2.0
"""Exceptions of signal handlers at every place where Python runs these: nothing is left in use, locked or unknown."""

import contextlib
import itertools
import sys
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import pytest

import torcoll
from conftest import Fake
from torcoll import _buffers
from torcoll._requests import Flight

Work = Callable[[Fake, torcoll.Comm], Any]


def in_del(frame: Any) -> bool:
    """Python tells nobody what a handler raises there."""
    while frame is not None:
        if frame.f_code.co_name == "__del__" or frame.f_code is weakref.finalize.__call__.__code__:
            return True
        frame = frame.f_back
    return False


def interrupted(at: int, work: Callable[[], Any]) -> bool:
    """Do something, with an exception as the n-th function begins or has returned. Return whether there are so many."""
    left = at

    def profile(frame: Any, event: str, _: Any) -> None:
        nonlocal left
        if event != "c_call" and not in_del(frame):
            left -= 1
            if not left:
                # Python calls this no more
                raise KeyboardInterrupt

    sys.setprofile(profile)
    try:
        work()
    except KeyboardInterrupt:
        pass
    finally:
        sys.setprofile(None)
    return left <= 0


BUFFER = bytearray(8)

CALLED_BY_C = {"torcoll_comm_close", "torcoll_prepared_free", "torcoll_register"}


def through(function: Any) -> Any:
    """A function of Python's, so that its end counts."""
    return lambda *args: function(*args)


class Through:
    """The library by such functions; but what C calls has no end of its own."""

    def __init__(self, lib: Any) -> None:
        self._real = lib

    def __getattr__(self, name: str) -> Any:
        function = getattr(self._real, name)
        return function if name in CALLED_BY_C else through(function)


def views(_: Fake, comm: torcoll.Comm) -> None:
    comm.broadcast(BUFFER, root=0)
    with contextlib.suppress(ValueError):
        comm.broadcast(memoryview(BUFFER)[::2], root=0)


def blocking(_: Fake, comm: torcoll.Comm) -> None:
    comm.allreduce(bytearray(4))


def start(_: Fake, comm: torcoll.Comm) -> None:
    request = comm.iallreduce(bytearray(4))
    if not request.test():
        request.wait(timeout=0.2)


class Loop:
    """Of a task that awaits an op: at once as if in its thread."""

    def call_soon_threadsafe(self, function: Callable[..., Any], *args: Any) -> None:
        function(*args)


AWAITED: list[Any] = []


def awaited(_: Fake, comm: torcoll.Comm) -> None:
    request = comm.iallreduce(bytearray(4))
    waiters: list[Any] = [(Loop(), Future()), (Loop(), Future())]
    assert request._flight is not None
    request._flight.waiters.extend(waiters)
    AWAITED.extend(waiters)
    request.wait()


def forgotten(fake: Fake, comm: torcoll.Comm) -> None:
    comm.iallreduce(bytearray(4))
    comm.iallreduce(bytearray(4))
    comm._sweep(every=True)


def asks(_: Fake, comm: torcoll.Comm) -> None:
    request = comm.iallreduce(bytearray(4))
    flight = request._flight
    assert flight is not None
    comm.context._waits_for_slot(comm, flight)
    comm.context._readable()
    comm.info()
    comm.context.info()


def memory(_: Fake, comm: torcoll.Comm) -> None:
    comm.context.alloc(4096)


def registered(_: Fake, comm: torcoll.Comm) -> None:
    with comm.context.register(bytearray(8192)):
        pass


def batch(_: Fake, comm: torcoll.Comm) -> None:
    with comm.batch() as batch:
        requests = [batch.add("allreduce", bytearray(4)) for _ in range(2)]
    for request in requests:
        request.wait()


def prepared(_: Fake, comm: torcoll.Comm) -> None:
    with comm.prepare("allreduce", bytearray(4)) as call:
        call.start()
        call()


def closes(_: Fake, comm: torcoll.Comm) -> None:
    comm.iallreduce(bytearray(4))
    comm.close()


def leaves(_: Fake, comm: torcoll.Comm) -> None:
    with comm:
        comm.prepare("allreduce", bytearray(4))


def kept(_: Fake, comm: torcoll.Comm) -> None:
    memory = comm.context.register(bytearray(8192))
    request = comm.iallreduce(bytearray(4))
    del memory
    request.wait()


@pytest.mark.parametrize("work", [
    views, blocking, start, awaited, forgotten, asks, memory, registered, kept, batch, prepared, closes, leaves])
def test_handler__raises_anywhere(fake: Fake, monkeypatch: pytest.MonkeyPatch, work: Work) -> None:
    flights: list[Flight] = []
    begin = Flight.__init__

    def made(flight: Flight, *args: Any, **kwargs: Any) -> None:
        flights.append(flight)
        begin(flight, *args, **kwargs)

    for at in itertools.count(1):
        comm = torcoll.Comm("test", fabric=1)
        with monkeypatch.context() as patch:
            patch.setattr(comm, "_lib", Through(comm._lib))
            patch.setattr(comm.context, "_lib", Through(comm.context._lib))
            patch.setattr(Flight, "__init__", made)
            for function in "_get_buffer", "_release_buffer":
                patch.setattr(_buffers, function, through(getattr(_buffers, function)))
            some = interrupted(at, lambda: work(fake, comm))
        assert not comm._users, at
        assert not comm._forgotten._lock.locked(), at
        assert not any(flight.lock.locked() for flight in comm._pending.values()), at
        flights.clear()
        comm._sweep(every=True)
        assert not comm._pending and not comm._prepared, at
        assert all(future.done() for _, future in AWAITED), at
        AWAITED.clear()
        closing = threading.Thread(target=comm.close, daemon=True)
        closing.start()
        closing.join(10)
        assert not closing.is_alive() and not fake.state.comms, at
        assert not comm.context._users and not fake.state.regions, at
        # nobody holds it any more
        BUFFER.append(BUFFER.pop())
        if not some:
            break
    assert at > 10
