# SPDX-License-Identifier: GPL-2.0
"""Ops that asyncio's tasks await: how they are told, and what starts meanwhile."""

import asyncio
import contextlib
import errno
import os
import threading
import time
from typing import Any

import pytest

import torcoll
from conftest import Fake
from torcoll._requests import Flight

pytestmark = pytest.mark.usefixtures("held")


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


async def idle(comm: torcoll.Comm) -> None:
    """Let the loop look at ops until it has done so."""
    end = time.monotonic() + 10
    while len(comm.context._looking):
        assert time.monotonic() < end
        await asyncio.sleep(0.001)


async def _wait(request: Any) -> Any:
    return await request


async def both_run(fake: Fake, comm: torcoll.Comm) -> None:
    """The second op has started, by itself, and nobody looks any more."""
    end = time.monotonic() + 10
    while fake.running() == 1:
        assert time.monotonic() < end
        await asyncio.sleep(0.001)
    await idle(comm)


def test_await__others_start(fake: Fake, one_slot: None, comm: torcoll.Comm) -> None:
    """What waits for a slot, which is free without an event, while a task awaits another op."""

    async def main() -> None:
        first = comm.iallreduce(bytearray(4))
        second = comm.iallreduce(bytearray(4))
        awaited = asyncio.ensure_future(_wait(first))
        await asyncio.sleep(0)
        assert fake.running() == 1
        fake.state.depth = 2
        # it stops, soon, though the task waits on
        await both_run(fake, comm)
        assert not awaited.done()
        fake.complete(2)
        assert await awaited == await second

    asyncio.run(main())


@pytest.mark.parametrize("how", ["start", "thread", "batch", "prepared"])
def test_await__later_ones_start(fake: Fake, one_slot: None, comm: torcoll.Comm, how: str) -> None:
    """What no task awaits, and waits for a slot, was started long after an await began."""
    async def main() -> None:
        awaited = asyncio.ensure_future(_wait(comm.iallreduce(bytearray(4))))
        await asyncio.sleep(0.01)
        await idle(comm)
        if how == "thread":
            second = await asyncio.get_running_loop().run_in_executor(None, comm.iallreduce, bytearray(4))
        elif how == "batch":
            with comm.batch() as batch:
                second = batch.add("allreduce", bytearray(4))
        else:
            second = prepared.start() if how == "prepared" else comm.iallreduce(bytearray(4))
        await asyncio.sleep(0.1)
        assert fake.running() == 1
        # which is no event
        fake.state.depth = 2
        await both_run(fake, comm)
        assert not awaited.done()
        fake.complete(2)
        assert await awaited == await second

    prepared = comm.prepare("allreduce", bytearray(4))
    asyncio.run(main())
    prepared.close()


def test_await__start_gets_its_result(fake: Fake, one_slot: None, comm: torcoll.Comm) -> None:
    """Without a ring; the descriptor does not show it then."""
    fake.fail("ring-setup", errno.ENOMEM)

    async def main() -> None:
        awaited = asyncio.ensure_future(_wait(comm.iallreduce(bytearray(4))))
        await asyncio.sleep(0.01)
        await idle(comm)
        fake.complete()
        second = comm.iallreduce(bytearray(4))
        assert fake.running() == 1
        assert await asyncio.wait_for(awaited, 10) == b"****"
        fake.complete()
        assert await second == b"****"

    asyncio.run(main())
    assert fake.calls("ring-setup") == 1


def test_await__looks_twice_after_each(fake: Fake, comm: torcoll.Comm, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one that begins before the last look for another."""
    looks = 0
    reap = comm.context._reap

    def counted() -> bool:
        nonlocal looks
        looks += 1
        return reap()

    async def until(n: int) -> None:
        end = time.monotonic() + 10
        while looks < n:
            assert time.monotonic() < end
            await asyncio.sleep(0.001)

    async def main() -> None:
        requests = [comm.iallreduce(bytearray(4)) for _ in range(2)]
        monkeypatch.setattr(comm.context, "_reap", counted)
        awaited = [asyncio.ensure_future(_wait(requests[0]))]
        await until(1)
        awaited.append(asyncio.ensure_future(_wait(requests[1])))
        await asyncio.sleep(0)
        await until(looks + 2)
        fake.complete(2)
        assert await asyncio.gather(*awaited) == [b"****"] * 2

    asyncio.run(main())


def test_await__looks_no_more_while_a_thread_waits(fake: Fake, comm: torcoll.Comm) -> None:
    """For an op that has its slot, whoever asks about it."""

    async def main() -> None:
        waiting = asyncio.get_running_loop().run_in_executor(None, comm.allreduce, bytearray(4))
        while not fake.running():
            await asyncio.sleep(0.001)
        awaited = asyncio.ensure_future(_wait(comm.iallreduce(bytearray(4))))
        await asyncio.sleep(0.01)
        try:
            await idle(comm)
            assert not awaited.done() and not waiting.done()
        finally:
            fake.complete(2)
        assert await awaited == await waiting

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
