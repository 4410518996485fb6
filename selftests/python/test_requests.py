# SPDX-License-Identifier: GPL-2.0
"""Ops under way: waiting in every manner, by threads and tasks, and what is kept in memory meanwhile."""

import asyncio
import contextlib
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
from torcoll._names import FEATURES
from torcoll._requests import Flight

pytestmark = pytest.mark.usefixtures("held")


@pytest.fixture
def one_slot(fake: Fake) -> None:
    """The module has one, and lets the library queue what it has none for; before a comm."""
    fake.state.features |= FEATURES["ring"] | FEATURES["try"]
    fake.state.depth = 1


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


# ---- asyncio ----

def test_await__the_result(fake: Fake, comm: torcoll.Comm) -> None:
    x, y = bytearray(4), bytearray(8)

    async def main() -> None:
        asyncio.get_running_loop().call_later(0.05, fake.complete, 2)
        first, second = comm.iallreduce(x), comm.ibroadcast(y, root=0)
        got = await asyncio.gather(first, second)
        assert got[0] is x and got[1] is y
        assert await first is x
        assert not comm.context._watched

    asyncio.run(main())
    assert x == b"****" and fake.running() == 0 and not comm._pending


def test_await__no_spinning_with_ops_of_others(fake: Fake, comm: torcoll.Comm,
                                               monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        other = comm.iallreduce(bytearray(4))
        mine = comm.iallreduce(bytearray(4))
        fake.complete(1)
        loop.call_later(0.2, fake.complete)
        turns = 0
        readable = comm.context._readable

        def counted() -> None:
            nonlocal turns
            turns += 1
            readable()

        monkeypatch.setattr(comm.context, "_readable", counted)
        await mine
        assert turns <= 3 and other.test()

    asyncio.run(main())


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


def test_await__for_a_slot(fake: Fake, comm: torcoll.Comm, monkeypatch: pytest.MonkeyPatch) -> None:
    waits, tests = True, 0
    test = comm._test

    def counted(flight: Flight) -> None:
        nonlocal tests
        tests += 1
        test(flight)

    async def main() -> None:
        nonlocal waits, tests
        requests = [comm.iallreduce(bytearray(4)) for _ in range(3)]
        monkeypatch.setattr(comm, "_test", counted)
        monkeypatch.setattr(comm.context, "_waits_for_slot", lambda comm, flight: waits and flight.status is None)
        results = asyncio.gather(*requests)
        await asyncio.sleep(0.05)
        # nothing became readable, and one timer tests for all
        assert 3 + 3 < tests <= 3 + 3 + 60
        waits = False
        await asyncio.sleep(0.02)
        tests = 0
        await asyncio.sleep(0.05)
        assert not tests and not comm.context._queued
        fake.complete(3)
        assert await results == [b"****"] * 3

    asyncio.run(main())


def test_await__for_a_slot_fails_behind_another_comm(fake: Fake, one_slot: None, comm: torcoll.Comm) -> None:
    """What the library fails, since its time has passed, is no event; another comm's op waits before it."""

    async def main() -> None:
        running = comm.iallreduce(bytearray(4))
        other = asyncio.ensure_future(_wait(comm.iallreduce(bytearray(4))))
        await asyncio.sleep(0)
        with torcoll.Comm("late", fabric=1) as late:
            awaited = [asyncio.ensure_future(_wait(call)) for call in (
                late.iallreduce(bytearray(4), timeout=0.01), late.isend(bytearray(4), to=0, timeout=0.01),
                late.irecv(bytearray(4), source=0, timeout=0.01))]
            for task in awaited:
                with pytest.raises(torcoll.Timeout, match="no slot became free before its deadline"):
                    await asyncio.wait_for(task, 30)
        assert not other.done() and not running.test()
        fake.complete()
        while not fake.complete():
            await asyncio.sleep(0.001)
        assert await other == b"****" and not comm.context._queued

    async def _wait(request: Any) -> Any:
        return await request

    asyncio.run(main())


def test_await__for_a_slot_looks_at_the_first_ones(fake: Fake, one_slot: None, comm: torcoll.Comm,
                                                   monkeypatch: pytest.MonkeyPatch) -> None:
    """Of hundreds that wait in three series, each look is at three."""
    looks: list[Flight] = []
    waits = comm.context._waits_for_slot

    def counted(comm: torcoll.Comm, flight: Flight) -> bool:
        looks.append(flight)
        return waits(comm, flight)

    async def main() -> None:
        running = comm.iallreduce(bytearray(4))
        requests = [comm.iallreduce(bytearray(4)) for _ in range(100)]
        requests += [comm.isend(bytearray(4), to=rank) for _ in range(100) for rank in (0, 2)]
        results = asyncio.gather(*requests)
        await asyncio.sleep(0)
        monkeypatch.setattr(comm.context, "_waits_for_slot", counted)
        await asyncio.sleep(0.1)
        assert 3 <= len(looks) <= 3 * 100 and len({id(flight) for flight in looks}) == 3
        while not results.done():
            fake.complete(10)
            await asyncio.sleep(0)
        assert len(await results) == 300 and running.test()
        while comm.context._queued:
            await asyncio.sleep(0.001)

    asyncio.run(main())


def test_await__others_start(fake: Fake, one_slot: None, comm: torcoll.Comm) -> None:
    """What waits for a slot, which is free without an event, while a task awaits another op."""

    async def main() -> None:
        first = comm.iallreduce(bytearray(4))
        second = comm.iallreduce(bytearray(4))
        awaited = asyncio.ensure_future(_wait(first))
        await asyncio.sleep(0)
        assert fake.running() == 1
        fake.state.depth = 2
        end = time.monotonic() + 10
        while fake.running() == 1:
            assert time.monotonic() < end
            await asyncio.sleep(0.001)
        # it stops, soon, though the task waits on
        while len(comm.context._looking):
            assert time.monotonic() < end
            await asyncio.sleep(0.001)
        assert not awaited.done()
        fake.complete(2)
        assert await awaited == await second

    async def _wait(request: Any) -> Any:
        return await request

    asyncio.run(main())


@pytest.mark.parametrize("starts", [False, True])
def test_await__without_a_ring(fake: Fake, one_slot: None, comm: torcoll.Comm, monkeypatch: pytest.MonkeyPatch,
                               starts: bool) -> None:
    """A test of an op that waits for a slot gets the results of others, which the descriptor does not show then."""
    fake.fail("ring-setup", errno.ENOMEM)
    push, ticks = comm.context._push, 0

    def timer(loop: asyncio.AbstractEventLoop) -> None:
        nonlocal ticks
        ticks += 1
        if ticks == 3:
            fake.complete()
            # the next one has no slot yet, or starts
            fake.state.depth = int(starts)
        push(loop)

    async def main() -> None:
        monkeypatch.setattr(comm.context, "_push", timer)
        first, second = (asyncio.ensure_future(_wait(comm.iallreduce(bytearray(4)))) for _ in range(2))
        assert await asyncio.wait_for(asyncio.shield(first), 10) == b"****"
        assert not second.done()
        fake.state.depth = 1
        while not fake.complete():
            await asyncio.sleep(0.001)
        assert await second == b"****"

    async def _wait(request: Any) -> Any:
        return await request

    asyncio.run(main())
    assert fake.calls("ring-setup") == 1


def test_await__event_looks_at_the_first_ones(fake: Fake, one_slot: None, comm: torcoll.Comm,
                                              monkeypatch: pytest.MonkeyPatch) -> None:
    """What follows one that waits for a slot is not complete."""
    tested: set[int] = set()
    test = Flight.test

    def counted(flight: Flight) -> None:
        tested.add(id(flight))
        test(flight)

    running = comm.iallreduce(bytearray(4))
    requests = [comm.iallreduce(bytearray(4)) for _ in range(100)]
    requests += [comm.isend(bytearray(4), to=rank) for _ in range(100) for rank in (0, 2)]
    monkeypatch.setattr(Flight, "test", counted)
    comm.context._readable()
    assert len(tested) == 1 + 3
    while comm._pending:
        fake.complete(10)
        comm.context._readable()
    assert running.test() and all(request.test() for request in requests)


def test_await__for_a_slot_of_a_comm_that_is_closed(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    """What tells whether an op waits for a slot is gone with the op."""
    comm = torcoll.Comm("test", fabric=1)
    context, real = comm.context, comm._lib
    closing, asked, late = threading.Event(), 0, 0

    class Slow:
        def __getattr__(self, name: str) -> Any:
            return getattr(real, name)

        def torcoll_request_algorithm(self, request: Any) -> int:
            nonlocal asked, late
            asked += 1
            late += closing.is_set()
            return 0

        def torcoll_comm_close(self, handle: Any) -> None:
            closing.set()
            real.torcoll_comm_close(handle)
            time.sleep(0.1)

    monkeypatch.setattr(context, "_lib", Slow())
    monkeypatch.setattr(comm, "_lib", Slow())

    async def main() -> None:
        loop = asyncio.get_running_loop()
        request = comm.iallreduce(bytearray(4))
        assert request._flight is not None
        request._flight.lock.acquire()
        awaited = asyncio.ensure_future(_wait(request))
        await asyncio.sleep(0.02)
        # another thread may be getting its result
        assert not asked and context._queued
        request._flight.lock.release()
        while not asked:
            await asyncio.sleep(0.001)
        await loop.run_in_executor(None, comm.close)
        with pytest.raises(torcoll.Aborted):
            await awaited
        await asyncio.sleep(0.01)
        assert not context._queued

    async def _wait(request: Any) -> Any:
        return await request

    asyncio.run(main())
    assert closing.is_set() and not late


@pytest.mark.parametrize("where", ["here", "thread"])
def test_await__while_the_context_is_closed(fake: Fake, where: str) -> None:
    """The loop must not take another file for the device."""
    context = torcoll.Context()
    comm = torcoll.Comm("test", fabric=1, context=context)

    async def main() -> None:
        loop = asyncio.get_running_loop()
        awaited = asyncio.ensure_future(_wait(comm.iallreduce(bytearray(4))))
        await asyncio.sleep(0.01)
        device = context.fileno()
        reader, writer = os.pipe()
        if where == "here":
            context.close()
        else:
            await loop.run_in_executor(None, context.close)
            await asyncio.sleep(0)
        with pytest.raises(torcoll.Aborted):
            await awaited
        await asyncio.sleep(0)
        assert fake.state.contexts == 0 and not context._watched
        os.dup2(reader, device)
        readable = asyncio.Event()
        loop.add_reader(device, readable.set)
        os.write(writer, b"1")
        await asyncio.wait_for(readable.wait(), 5)
        loop.remove_reader(device)
        for fd in (reader, writer, device):
            os.close(fd)

    async def _wait(request: Any) -> Any:
        return await request

    asyncio.run(main())


def test_await__fails(fake: Fake, comm: torcoll.Comm) -> None:
    async def main() -> None:
        fake.end(errno.EHOSTDOWN, 0, "rank 0 is down")
        asyncio.get_running_loop().call_later(0.02, fake.complete)
        with pytest.raises(torcoll.PeerFailed, match="rank 0 is down") as caught:
            await comm.iallreduce(bytearray(4))
        assert caught.value.rank == 0

    asyncio.run(main())


def test_await__cancelled_task_leaves_the_op(fake: Fake, comm: torcoll.Comm) -> None:
    async def main() -> Any:
        request = comm.iallreduce(bytearray(4))
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(_wait(request), 0.02)
        assert not request.test() and not comm.context._watched
        fake.complete()
        return await request

    async def _wait(request: Any) -> Any:
        return await request

    assert asyncio.run(main()) == b"****"


def test_await__ended_by_a_thread_or_by_closing(fake: Fake) -> None:
    comm = torcoll.Comm("test", fabric=1)

    async def main() -> None:
        loop = asyncio.get_running_loop()
        request = comm.iallreduce(bytearray(4))
        waiting = loop.run_in_executor(None, request.wait)
        await asyncio.sleep(0.02)
        loop.call_later(0.02, fake.complete)
        assert await request == b"****" and await waiting == b"****"
        request = comm.iallreduce(bytearray(4))
        loop.call_later(0.02, comm.close)
        with pytest.raises(torcoll.Aborted):
            await request

    asyncio.run(main())


def test_await__loop_that_is_gone(fake: Fake, comm: torcoll.Comm) -> None:
    loop = asyncio.new_event_loop()
    request = comm.iallreduce(bytearray(4))

    async def start() -> None:
        task = asyncio.ensure_future(_wait(request))
        await asyncio.sleep(0.01)
        task.cancel()
        comm.context._watch(comm, request._flight)  # type: ignore[arg-type]

    async def _wait(request: Any) -> Any:
        return await request

    loop.run_until_complete(start())
    loop.close()
    fake.complete()
    assert request.wait() == b"****"


def test_await__loop_that_runs_no_more(fake: Fake) -> None:
    context = torcoll.Context()
    comm = torcoll.Comm(fabric=1, context=context)
    loop = asyncio.new_event_loop()
    request = comm.iallreduce(bytearray(4))

    async def start() -> None:
        context._watch(comm, request._flight)  # type: ignore[arg-type]

    loop.run_until_complete(start())
    context.close()
    assert fake.state.contexts == 0
    # it has forgotten the descriptor, and what is left for it to do is no error
    loop.run_until_complete(asyncio.sleep(0.01))
    loop.close()
