# SPDX-License-Identifier: GPL-2.0
"""Ops under way: waiting in every manner, by threads, and what is kept in memory meanwhile."""

import errno
import gc
import itertools
import os
import signal
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import torcoll
from conftest import Fake
from torcoll import _comm

pytestmark = pytest.mark.usefixtures("held")


def later(function: Any, *args: Any, seconds: float = 0.05) -> threading.Timer:
    timer = threading.Timer(seconds, function, args)
    timer.start()
    return timer


def once_running(fake: Fake, function: Any, *args: Any, seconds: float = 0.05) -> threading.Thread:
    """Later, but not before there is an op."""
    def work() -> None:
        while not fake.running():
            time.sleep(0.001)
        time.sleep(seconds)
        function(*args)

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_wait__returns_the_result(fake: Fake, comm: torcoll.Comm) -> None:
    x, y = bytearray(4), bytearray(4)
    request = comm.iallreduce(x, y, algorithm="ring")
    assert not request.test() and not request.done and request.exception() is None
    assert (request.algorithm, request.collective) == ("ring", "allreduce")
    assert repr(request) == "<torcoll.Request allreduce: running>"
    timer = later(fake.complete)
    assert request.wait() is y and y == b"****"
    assert request.wait() is y and request.test()
    assert repr(request) == "<torcoll.Request allreduce: complete>"
    timer.join()
    assert fake.running() == 0


def test_wait__longer_than_a_slice(fake: Fake, comm: torcoll.Comm) -> None:
    x = bytearray(4)
    timer = once_running(fake, fake.complete, seconds=0.35)
    assert comm.allreduce(x) is x
    timer.join()
    assert fake.calls("wait") >= 2


def test_wait__timeout_leaves_it_running(fake: Fake, comm: torcoll.Comm) -> None:
    request = comm.iallreduce(bytearray(4))
    begin = time.monotonic()
    with pytest.raises(TimeoutError, match="the op is not complete after 0.03 s") as caught:
        request.wait(timeout=0.03)
    assert not isinstance(caught.value, torcoll.Error) and 0.02 < time.monotonic() - begin < 60
    with pytest.raises(TimeoutError, match="the op is not complete after 0 s"):
        request.wait(timeout=0)
    fake.complete()
    assert request.wait(timeout=0) == b"****"


def test_wait__timeout_while_another_thread_asks(fake: Fake, comm: torcoll.Comm) -> None:
    request = comm.iallreduce(bytearray(4))
    with request._started().lock, pytest.raises(TimeoutError):
        request.wait(timeout=0)
    fake.complete()
    assert request.wait(timeout=0) == b"****"


@pytest.mark.parametrize("blocking", [False, True])
def test_failure__of_an_op(fake: Fake, comm: torcoll.Comm, blocking: bool) -> None:
    fake.end(errno.ECONNABORTED, 3, "the comm test has failed: caused by rank 3 (node 3)")
    fake.state.hold = False
    with pytest.raises(torcoll.PeerFailed) as caught:
        comm.allreduce(bytearray(4)) if blocking else comm.iallreduce(bytearray(4)).wait()
    e = caught.value
    assert (e.errno, e.rank) == (errno.ECONNABORTED, 3)
    assert str(e) == "allreduce: the comm test has failed: caused by rank 3 (node 3) (ECONNABORTED)"
    info = comm.info()
    assert (info.error, info.error_rank) == (errno.ECONNABORTED, 3)
    fake.end(0)


def test_failure__stays_with_the_request(fake: Fake, comm: torcoll.Comm) -> None:
    request = comm.iallreduce(bytearray(4))
    fake.end(errno.ETIMEDOUT, 2, "it is late")
    fake.complete()
    assert request.test()
    fake.end(0, sentence="another")
    for _ in range(2):
        with pytest.raises(torcoll.Timeout, match="it is late") as caught:
            request.wait()
        assert caught.value.rank == 2 and isinstance(caught.value, TimeoutError)
    assert "it is late" in repr(request) and isinstance(request.exception(), torcoll.Timeout)


def test_refusal__nothing_is_kept(fake: Fake, comm: torcoll.Comm) -> None:
    x = bytearray(4)
    fake.fail("submit", errno.EOPNOTSUPP, "bruck-lat serves sides that are powers of three")
    with pytest.raises(torcoll.NotSupported, match="allreduce: bruck-lat serves .*EOPNOTSUPP") as caught:
        comm.iallreduce(x)
    assert caught.value.rank is None
    x.append(1)
    assert not comm._pending and not comm._forgotten


def test_nowait__is_busy(fake: Fake, comm: torcoll.Comm) -> None:
    fake.state.depth = 1
    first = comm.iallreduce(bytearray(4))
    with pytest.raises(torcoll.Busy):
        comm.iallreduce(bytearray(4), nowait=True)
    assert fake.calls("submit") == 2
    fake.complete()
    first.wait()


def test_nowait__is_busy_and_says_so(fake: Fake, comm: torcoll.Comm) -> None:
    """Not what the library says of memory that is in use, too."""
    fake.state.depth = 1
    with pytest.raises(KeyboardInterrupt), comm.context.register(x := bytearray(8192)):
        comm.iallreduce(x)
        raise KeyboardInterrupt
    gc.collect()
    assert comm._forgotten and comm.context._kept
    with pytest.raises(torcoll.Busy, match="^allreduce: "):
        comm.iallreduce(bytearray(4), nowait=True)
    fake.complete()


def test_nowait__does_not_wait_for_what_was_forgotten(fake: Fake, comm: torcoll.Comm) -> None:
    fake.state.depth = 1
    comm.iallreduce(bytearray(4))
    gc.collect()
    assert len(comm._forgotten) == 1
    timer = later(fake.complete, seconds=5)
    begin = time.monotonic()
    with pytest.raises(torcoll.Busy):
        comm.iallreduce(bytearray(4), nowait=True)
    assert time.monotonic() - begin < 3
    timer.cancel()
    fake.complete()
    fake.state.hold = False
    # its slot is free when somebody has looked
    assert comm.iallreduce(bytearray(4), nowait=True).wait() == b"****"


def test_forgotten__memory_stays_until_it_is_complete(fake: Fake, comm: torcoll.Comm) -> None:
    x = numpy.zeros(4)
    gone = weakref.ref(x)
    comm.iallreduce(x)
    del x
    gc.collect()
    assert gone() is not None and len(comm._pending) == 1
    fake.complete()
    fake.state.hold = False
    comm.barrier()
    assert gone() is None and not comm._pending and not comm._forgotten


def test_forgotten__gives_its_slot(fake: Fake, comm: torcoll.Comm) -> None:
    fake.state.depth = 1
    comm.iallreduce(bytearray(4))
    timer = later(fake.complete)
    request = comm.iallreduce(bytearray(4))
    timer.join()
    fake.complete()
    request.wait()
    assert fake.running() == 0


def test_forgotten__in_another_order(fake: Fake, comm: torcoll.Comm) -> None:
    fake.state.depth = 100
    requests = [comm.iallreduce(bytearray(4)) for _ in range(10)]
    assert not comm._sweep()
    while requests:
        del requests[-1]
        if len(requests) == 5:
            assert not comm._sweep()
    fake.complete(4)
    assert comm._sweep() and len(comm._forgotten) == len(comm._pending) == fake.running() == 6
    oldest = comm._forgotten.oldest()
    assert oldest is not None and oldest.number == min(flight.number for flight in comm._pending.values())
    fake.complete(6)
    assert comm._sweep() and not comm._forgotten and not comm._pending


@pytest.mark.parametrize("nowait", [False, True])
def test_forgotten__later_one_gives_its_slot(fake: Fake, comm: torcoll.Comm, nowait: bool) -> None:
    """Though one that started before it goes on."""
    fake.state.depth = 2
    first, second = comm.iallreduce(bytearray(4)), comm.iallreduce(bytearray(4))
    fake.complete()
    first.wait()
    # in the place of the first, which is completed before that of the second
    third = comm.iallreduce(bytearray(4))
    del second, third
    gc.collect()
    timer = later(fake.complete)
    if nowait:
        timer.join()
    comm.iallreduce(bytearray(4), nowait=nowait)
    gc.collect()
    timer.join()
    assert len(comm._forgotten) == fake.running() == 2
    fake.complete(2)


def test_forgotten__while_another_thread_looks(fake: Fake, comm: torcoll.Comm) -> None:
    """Nobody waits for it: what it gives back may be an object of the program's, which waits for this thread."""
    comm.iallreduce(bytearray(4))
    gc.collect()
    fake.complete()
    with comm._forgotten._lock:
        request = comm.iallreduce(bytearray(4))
        assert len(comm._forgotten) == 1
    fake.complete()
    assert request.wait() == b"****" and comm._sweep() and not comm._forgotten


def start_time(fake: Fake, start: Callable[[], Any], keeps: bool) -> float:
    """How long this process takes to start 1000 ops of which none ends. They are complete then, and forgotten."""
    kept = []
    began = time.process_time()
    for _ in range(1000):
        request = start()
        if keeps:
            kept.append(request)
    took = time.process_time() - began
    for request in kept:
        while not request.test():
            fake.complete(10)
    return took


@pytest.mark.parametrize("how", ["start", "batch", "prepared", "messages"])
def test_forgotten__many_cost_what_few_do(fake: Fake, one_slot: None, comm: torcoll.Comm, how: str) -> None:
    x = bytearray(4)
    prepared = comm.prepare("allreduce", x)

    def batch() -> Any:
        with comm.batch() as batch:
            request = batch.add("allreduce", x)
        return request

    peers = itertools.cycle((0, 2, 3))
    start: Callable[[], Any] = {
        "start": lambda: comm.iallreduce(x), "batch": batch, "prepared": prepared.start,
        "messages": lambda: comm.isend(x, to=next(peers))}[how]
    for _ in range(3):
        kept, dropped = start_time(fake, start, True), start_time(fake, start, False)
        print(f"{kept * 1e3:.1f} us each that is kept, {dropped * 1e3:.1f} us dropped")
        while comm._forgotten:
            fake.complete(10)
            comm._sweep()
        assert not comm._pending and not fake.running()
        if dropped < 5 * kept:
            break
    else:
        pytest.fail("dropped requests are slow")


def test_threads__several_wait_for_one(fake: Fake, comm: torcoll.Comm) -> None:
    x = bytearray(4)
    request = comm.iallreduce(x)
    got: list[Any] = []
    threads = [threading.Thread(target=lambda: got.append(request.wait())) for _ in range(3)]
    for thread in threads:
        thread.start()
    time.sleep(0.15)
    fake.complete()
    for thread in threads:
        thread.join(60)
    assert [result is x for result in got] == [True] * 3 and fake.running() == 0


def test_signal__its_handler_runs_during_a_wait(fake: Fake, comm: torcoll.Comm) -> None:
    x = bytearray(4)
    timer = once_running(fake, os.kill, os.getpid(), signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        comm.allreduce(x)
    timer.join()
    with pytest.raises(BufferError):
        x.append(1)
    fake.complete()
    fake.state.hold = False
    comm.barrier()
    x.append(1)


def test_gil__is_free_during_a_wait(fake: Fake, comm: torcoll.Comm, monkeypatch: pytest.MonkeyPatch) -> None:
    # were it not, nobody would complete the op within the only slice
    monkeypatch.setattr(_comm, "SLICE_NS", 60_000_000_000)
    turns = []
    timer = once_running(fake, fake.complete, seconds=0.3)
    stop = threading.Event()

    def turn() -> None:
        while not stop.wait(0.001):
            turns.append(1)

    thread = threading.Thread(target=turn)
    thread.start()
    comm.allreduce(bytearray(4))
    stop.set()
    thread.join()
    timer.join()
    assert turns


def test_start__nobody_asks_about_it_yet(fake: Fake, comm: torcoll.Comm, monkeypatch: pytest.MonkeyPatch) -> None:
    submit, submit_many = comm._lib.torcoll_submit, comm._lib.torcoll_submit_many

    # as an event loop in another thread does when another op is complete
    def reaped(*args: Any) -> Any:
        comm.context._readable()
        return submit(*args)

    def reaped_many(*args: Any) -> Any:
        comm.context._readable()
        return submit_many(*args)

    monkeypatch.setattr(comm._lib, "torcoll_submit", reaped)
    monkeypatch.setattr(comm._lib, "torcoll_submit_many", reaped_many)
    x = bytearray(4)
    request = comm.iallreduce(x)
    with comm.batch() as batch:
        other = batch.add("allreduce", bytearray(4))
    assert not request.test() and not other.test()
    with pytest.raises(BufferError):
        x.append(0)
    fake.complete(2)
    request.wait()
    other.wait()
    assert not comm._pending
