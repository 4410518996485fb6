# SPDX-License-Identifier: GPL-2.0
"""Comms, contexts: joining and leaving, what closes what, forks, signals, exceptions by errno."""

import asyncio
import errno
import gc
import os
import pickle
import select
import signal
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import numpy
import pytest

import torcoll
from conftest import Fake
from torcoll import _abi, _context, errors


def test_join__says_it_all(fake: Fake) -> None:
    before = time.monotonic_ns()
    with torcoll.Comm("jobs", fabric=7, members=[4, 5, 5, 6], rank=2, secret="s3", depth=16, bits="relaxed",
                      timeout=3.0) as comm:
        add = fake.state.joined
        assert (add.fabric, fake.state.name, fake.state.secret) == (7, b"jobs", b"s3")
        assert (add.ranks, list(fake.state.members[:4]), add.depth, add.bits) == (4, [4, 5, 5, 6], 16, 3)
        assert before + 3e9 <= add.deadline_ns <= time.monotonic_ns() + 3e9
        assert (comm.rank, comm.size, comm.nodes, comm.node, comm.local_ranks) == (2, 4, (4, 5, 5, 6), 5, (1, 2))
        assert repr(comm) == "<torcoll.Comm jobs: rank 2 of 4>"
    assert comm.closed and fake.state.comms == 0 and repr(comm).endswith("closed>")


def test_join__without_limits(fake: Fake) -> None:
    with torcoll.Comm(fabric=1, timeout=None) as comm:
        assert fake.state.joined.deadline_ns == 0 and comm.name == "world"
        assert comm.info() == torcoll.CommInfo(1, 4, 1, 1, (4,), 8832, 0, None)


def test_join__refused(fake: Fake) -> None:
    for name, secret in (("x" * 65, None), ("a\0b", None), ("x", "x" * 65)):
        with pytest.raises(ValueError, match="more than 64 bytes or a zero"):
            torcoll.Comm(name, fabric=1, secret=secret)
    fake.fail("comm-add", errno.EACCES, "wrong secret")
    with pytest.raises(PermissionError, match="wrong secret"):
        torcoll.Comm(fabric=1)
    fake.fail("comm-add", errno.EEXIST, "one is joining")
    with pytest.raises(torcoll.Error) as caught:
        torcoll.Comm(fabric=1)
    assert type(caught.value) is torcoll.Error and caught.value.errno == errno.EEXIST


def test_from_env(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TORCOLL_FABRIC", "TORCOLL_COMM", "TORCOLL_SIZE", "TORCOLL_MEMBERS", "TORCOLL_RANK"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(torcoll.Invalid, match="TORCOLL_FABRIC is not set"):
        torcoll.Comm.from_env()
    monkeypatch.setenv("TORCOLL_FABRIC", "0x10")
    monkeypatch.setenv("TORCOLL_COMM", "bench")
    monkeypatch.setenv("TORCOLL_MEMBERS", "8-10")
    with torcoll.Comm.from_env() as comm:
        assert (comm.nodes, comm.name, fake.state.joined.fabric) == ((8, 9, 10), "bench", 16)


def test_join__in_another_thread(fake: Fake) -> None:
    got: list[torcoll.Comm] = []
    thread = threading.Thread(target=lambda: got.append(torcoll.Comm(fabric=1)))
    thread.start()
    thread.join()
    got[0].close()


def once_joining(fake: Fake, function: Any, *args: Any) -> threading.Thread:
    """Do this in another thread when the kernel has the next join."""
    before = fake.calls("comm-add")

    def work() -> None:
        while fake.calls("comm-add") == before:
            time.sleep(0.001)
        function(*args)

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def interrupt_with_mask(how: int) -> None:
    signal.pthread_sigmask(how, {signal.SIGINT})
    os.kill(os.getpid(), signal.SIGINT)


# The kernel gives the signal to the killer where the main thread blocks it. This is what the main thread sees of one that
# comes between Python's last look for signals and its wait: it is there, and wakes nobody.
@pytest.mark.parametrize("main", [signal.SIG_UNBLOCK, signal.SIG_BLOCK], ids=["wakes", "wakes_nobody"])
def test_join__ended_by_a_signal(fake: Fake, main: int) -> None:
    fake.state.hold_joins = True
    before = signal.pthread_sigmask(main, {signal.SIGINT})
    try:
        with pytest.raises(KeyboardInterrupt):
            killer = once_joining(fake, interrupt_with_mask, signal.SIG_UNBLOCK)
            torcoll.Comm(fabric=1)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    killer.join()
    fake.let_join()
    for thread in threading.enumerate():
        if thread.name == "torcoll":
            thread.join(10)
    assert fake.state.comms == 0


def test_undo__of_what_came_before_the_signal(monkeypatch: pytest.MonkeyPatch) -> None:
    undone: list[int] = []
    done = threading.Event()

    class Late(threading.Event):
        def wait(self, timeout: Any = None) -> bool:
            super().wait()
            done.set()
            raise KeyboardInterrupt

    real = threading.Event
    made: list[threading.Event] = []

    def event() -> threading.Event:
        # the first is the call's own; the others are those of its thread
        made.append(Late() if not made else real())
        return made[-1]

    monkeypatch.setattr(threading, "Event", event)
    with pytest.raises(KeyboardInterrupt):
        _context.interruptible(lambda: 5, undone.append)
    assert undone == [5] and done.is_set()


def test_undo__of_what_a_signal_left_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    undone: list[int] = []
    real = threading.Thread.start

    def start(thread: threading.Thread) -> None:
        real(thread)
        thread.join()
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", start)
    with pytest.raises(KeyboardInterrupt):
        _context.interruptible(lambda: 5, undone.append)
    assert undone == [5]


def joining(fake: Fake, context: torcoll.Context, got: list[Any]) -> threading.Thread:
    """A thread that joins a comm, and is in the middle of that."""
    before = fake.calls("comm-add")

    def work() -> None:
        try:
            got.append(torcoll.Comm(fabric=1, context=context))
        except torcoll.Error as e:
            got.append(e)

    thread = threading.Thread(target=work)
    thread.start()
    while fake.calls("comm-add") == before:
        time.sleep(0.001)
    return thread


def test_join__while_the_context_is_closed(fake: Fake) -> None:
    fake.state.hold_joins = True
    context = torcoll.Context()
    got: list[Any] = []
    thread = joining(fake, context, got)
    context.close()
    assert context.closed and fake.state.contexts == 1
    fake.let_join()
    thread.join(10)
    assert isinstance(got[0], torcoll.Aborted) and "the context was closed" in str(got[0])
    assert fake.state.comms == 0 and fake.state.contexts == 0


def test_join__ended_by_a_signal_before_the_context_is_closed(fake: Fake) -> None:
    fake.state.hold_joins = True
    with pytest.raises(KeyboardInterrupt), torcoll.Context() as context:
        killer = once_joining(fake, os.kill, os.getpid(), signal.SIGINT)
        torcoll.Comm(fabric=1, context=context)
    killer.join()
    assert context.closed and fake.state.contexts == 1
    fake.let_join()
    for thread in threading.enumerate():
        if thread.name == "torcoll":
            thread.join(10)
    assert fake.state.comms == 0 and fake.state.contexts == 0


@pytest.mark.parametrize("err", [0, errno.ENOENT])
def test_context__a_signal_just_after_it_was_opened(fake: Fake, monkeypatch: pytest.MonkeyPatch, err: int) -> None:
    lib = _abi.load()
    real = lib.torcoll_open

    def interrupted(out: Any) -> int:
        if not err:
            real(out)
        raise KeyboardInterrupt

    monkeypatch.setattr(lib, "torcoll_open", interrupted)
    with pytest.raises(KeyboardInterrupt):
        torcoll.Context()
    assert fake.state.contexts == 0


def test_context__closed_once_nobody_has_it(fake: Fake) -> None:
    context = torcoll.Context()
    memory = context.alloc(8)
    del context
    gc.collect()
    assert fake.state.contexts == 1
    del memory
    gc.collect()
    assert fake.state.contexts == 0


def test_context__is_used_by_its_comms(fake: Fake) -> None:
    """Who is still closing one in another thread must find the library's context."""
    context = torcoll.Context()
    comm = torcoll.Comm(fabric=1, context=context)
    fake.fail("comm-add", errno.EACCES)
    with pytest.raises(torcoll.AccessDenied):
        torcoll.Comm(fabric=1, context=context)
    assert comm.split(None) is None
    with comm.dup():
        assert len(context._users) == 2
    comm.close()
    assert context._users == set()
    context.close()
    assert fake.state.contexts == 0


def test_groups(fake: Fake, comm: torcoll.Comm) -> None:
    with comm.dup() as dup:
        assert (dup.size, dup.name) == (4, "test/dup")
    with comm.slice(0, timeout=5.0) as row:
        assert row.size == 4
    half = comm.block([1], [2])
    assert half is not None and half.nodes == (1, 2)
    half.close()
    assert comm.split(None) is None
    same = comm.split(3, -1)
    assert same is not None and same.size == 4
    same.close()
    for colour in (-1, 2**32 - 1):
        with pytest.raises(ValueError, match="colour: "):
            comm.split(colour)
    with pytest.raises(ValueError, match="dims: -1 is no dimension"):
        comm.slice(-1)
    with pytest.raises(ValueError, match="start, extent: the fabric has 1 dimensions"):
        comm.block([0, 0], [1, 1])
    assert fake.state.comms == 1


def test_shrink__closes_the_old_one(fake: Fake) -> None:
    with torcoll.Comm("test", fabric=1) as comm, comm.shrink(timeout=1.0) as heir:
        assert comm.closed and (heir.size, heir.name) == (3, "test")
        with heir.shrink(close=False) as next_one:
            assert not heir.closed and next_one.size == 2
    with torcoll.Comm("test", fabric=1) as comm:
        fake.fail("shrink", errno.EHOSTUNREACH, "the others went on")
        with pytest.raises(torcoll.PeerFailed, match="shrink: the others went on"):
            comm.shrink()
    assert fake.state.comms == 0


def test_group__outlives_the_close_of_its_parent(fake: Fake) -> None:
    comm = torcoll.Comm("test", fabric=1)
    fake.state.hold_joins = True
    got: list[Any] = []
    thread = threading.Thread(target=lambda: got.append(comm.dup()))
    thread.start()
    while not comm._joins:
        time.sleep(0.001)
    comm.close()
    with pytest.raises(torcoll.Aborted):
        comm.dup()
    assert fake.state.comms == 1
    fake.let_join()
    thread.join()
    assert fake.state.comms == 1
    got[0].close()
    assert fake.state.comms == 0


def dup_in_a_thread(comm: torcoll.Comm, got: list[Any]) -> threading.Thread:
    """A thread that duplicates a comm, and is in the middle of that."""
    def work() -> None:
        try:
            got.append(comm.dup())
        except torcoll.Error as e:
            got.append(e)

    thread = threading.Thread(target=work)
    thread.start()
    while not comm._joins:
        time.sleep(0.001)
    return thread


def test_close__ends_ops_while_a_group_is_made(fake: Fake) -> None:
    comm, other = torcoll.Comm("test", fabric=1), torcoll.Comm("other", fabric=1)
    fake.state.hold = fake.state.hold_joins = True
    x = bytearray(4)
    got: list[Any] = []
    request = comm.iallreduce(x)
    thread = dup_in_a_thread(comm, got)
    comm.close()
    assert fake.calls("abort") == 1 and isinstance(request.exception(), torcoll.Aborted)
    x.append(0)
    # of results that nobody fetches event loops would be told for ever
    assert not select.select([comm.context.fileno()], [], [], 0)[0]
    assert fake.state.comms == 2
    fake.let_join()
    thread.join(10)
    # the library was still at it, with the handle of the parent
    assert fake.state.comms == 2
    got[0].close()
    other.close()
    assert fake.state.comms == 0 and comm.context._users == set()


def test_close__wakes_tasks_while_a_group_is_made(fake: Fake) -> None:
    async def outcome(request: Any) -> Any:
        with pytest.raises(torcoll.Aborted):
            await request

    async def main(comm: torcoll.Comm) -> None:
        task = asyncio.ensure_future(outcome(comm.iallreduce(bytearray(4))))
        await asyncio.sleep(0.01)
        comm.close()
        await asyncio.wait_for(task, 5)

    comm = torcoll.Comm("test", fabric=1)
    fake.state.hold = fake.state.hold_joins = True
    got: list[Any] = []
    thread = dup_in_a_thread(comm, got)
    try:
        asyncio.run(main(comm))
    finally:
        fake.let_join()
        thread.join(10)
    got[0].close()
    assert fake.state.comms == 0


def test_close__ended_by_a_signal_while_a_group_is_made(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    comm = torcoll.Comm("test", fabric=1)
    fake.state.hold = fake.state.hold_joins = True
    request = comm.iallreduce(bytearray(4))
    got: list[Any] = []
    thread = dup_in_a_thread(comm, got)

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(comm, "_await", interrupt)
        with pytest.raises(KeyboardInterrupt):
            comm.close()
    assert comm.closed
    comm.close()
    fake.let_join()
    thread.join(10)
    # whoever made the group has left for it
    assert request.test() and fake.state.comms == 1
    got[0].close()
    assert fake.state.comms == 0 and comm.context._users == set()


def test_close__as_a_call_ends_while_a_group_is_made(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last call leaves the comm between the look at who uses it and the abort, which the ops need all the same."""
    comm = torcoll.Comm("test", fabric=1)
    fake.state.hold = fake.state.hold_joins = True
    request = comm.iallreduce(bytearray(4))
    got: list[Any] = []
    thread = dup_in_a_thread(comm, got)
    call, lock = object(), comm._lock

    class Leaving:
        def __enter__(self) -> None:
            lock.acquire()

        def __exit__(self, *_: Any) -> None:
            lock.release()
            comm._users.pop(call, None)

    comm._users[call] = 0
    monkeypatch.setattr(comm, "_lock", Leaving())
    closing = threading.Thread(target=comm.close, daemon=True)
    closing.start()
    closing.join(10)
    assert not closing.is_alive() and isinstance(request.exception(), torcoll.Aborted)
    fake.let_join()
    thread.join(10)
    got[0].close()
    assert fake.state.comms == 0


class Closing:
    """The library, where a join ends as soon as a comm is aborted, and its ops only then; who closes it is counted."""

    def __init__(self, lib: Any, fake: Fake) -> None:
        self.lib = lib
        self.fake = fake
        self.closes = 0
        self.timers: list[threading.Timer] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.lib, name)

    def torcoll_abort(self, handle: int) -> int:
        self.fake.let_join()
        self.timers.append(threading.Timer(0.05, self.lib.torcoll_abort, (handle,)))
        self.timers[-1].start()
        return 0

    def torcoll_comm_close(self, handle: int) -> None:
        self.closes += 1
        # none may come to a comm that is no more
        for timer in self.timers:
            timer.join()
        if self.closes == 1:
            self.lib.torcoll_comm_close(handle)


def test_close__once_where_a_join_ends_before_an_op(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    comm = torcoll.Comm("test", fabric=1)
    fake.state.hold = fake.state.hold_joins = True
    lib = Closing(comm._lib, fake)
    monkeypatch.setattr(comm, "_lib", lib)
    got: list[Any] = []

    def receive() -> None:
        with pytest.raises(torcoll.Aborted):
            comm.recv(bytearray(4), 0)

    threads = [threading.Thread(target=receive), threading.Thread(target=lambda: got.append(comm.dup()))]
    for thread in threads:
        thread.start()
    while not comm._users or not comm._joins:
        time.sleep(0.001)
    comm.close()
    for thread in threads:
        thread.join()
    assert lib.closes == 1 and len(comm.context._users) == 1
    got[0].close()
    assert fake.state.comms == 0


@pytest.mark.parametrize("what, args", [
    ("fabric", {"fabric": 1 << 64}), ("fabric", {"fabric": -1}), ("members", {"members": [0, 1 << 32]}),
    ("members", {"members": [-1]}), ("rank", {"rank": -1}), ("rank", {"rank": 0xFFFFFFFF}),
    ("depth", {"depth": 1 << 32}), ("depth", {"depth": -1})], ids=str)
def test_join__numbers_that_do_not_fit(fake: Fake, what: str, args: dict[str, Any]) -> None:
    args.setdefault("fabric", 1)
    with pytest.raises(ValueError, match=f"^{what}: .* is no number from 0 to "):
        torcoll.Comm(**args)
    assert not fake.calls("comm-add")


@pytest.mark.parametrize("what, args", [
    ("fabric", {"fabric": "1"}), ("members", {"members": [0.5]}), ("rank", {"rank": 1.0})], ids=str)
def test_join__what_is_no_integer(fake: Fake, what: str, args: dict[str, Any]) -> None:
    args.setdefault("fabric", 1)
    with pytest.raises(TypeError, match=f"^{what}: .* is no integer$"):
        torcoll.Comm(**args)


def test_groups__numbers_that_do_not_fit(comm: torcoll.Comm) -> None:
    for key in (-(1 << 31) - 1, 1 << 31):
        with pytest.raises(ValueError, match="key: .* is no number from -2147483648 to 2147483647"):
            comm.split(0, key)
    with pytest.raises(ValueError, match="start: -1 is no number"):
        comm.block([-1], [2])
    with pytest.raises(ValueError, match="extent: 4294967298 is no number"):
        comm.block([0], [(1 << 32) + 2])
    with pytest.raises(TypeError):
        comm.split(0, 1.5)  # type: ignore[arg-type]


def test_algorithms__are_restricted(comm: torcoll.Comm) -> None:
    comm.set_algorithm("allreduce:ring")
    with pytest.raises(torcoll.Invalid, match="ringg"):
        comm.set_algorithm("ringg")


def test_close__ends_what_runs(fake: Fake) -> None:
    fake.state.hold = True
    comm = torcoll.Comm("test", fabric=1)
    x = bytearray(4)
    request = comm.iallreduce(x)
    done = comm.iallreduce(bytearray(4))
    failed: list[BaseException] = []

    def work() -> None:
        try:
            comm.allreduce(bytearray(4))
        except torcoll.Error as e:
            failed.append(e)

    fake.complete(2)
    again = comm.iallreduce(bytearray(4))
    thread = threading.Thread(target=work)
    thread.start()
    while fake.running() < 4:
        time.sleep(0.001)
    comm.close()
    thread.join(10)
    assert [type(e) for e in failed] == [torcoll.Aborted]
    x.append(1)
    assert request.wait() is x and done.wait() == b"****"
    with pytest.raises(torcoll.Aborted):
        again.wait()
    with pytest.raises(torcoll.Aborted, match="comm test: it is closed"):
        comm.barrier()
    comm.close()


def test_close__in_a_call_of_this_thread(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    """As of a signal's handler, or of an object that is freed meanwhile: it would wait for itself."""
    comm, real, caught = torcoll.Comm("test", fabric=1), _abi.load(), []

    class Closing:
        def __getattr__(self, name: str) -> Any:
            return getattr(real, name)

        def torcoll_wait_until(self, *args: Any) -> int:
            with pytest.raises(torcoll.Busy, match="comm test: this thread is in a call of it") as refused:
                comm.close()
            caught.append(refused.value)
            err: int = real.torcoll_wait_until(*args)
            return err

    monkeypatch.setattr(comm, "_lib", Closing())
    thread = threading.Thread(target=comm.barrier, daemon=True)
    thread.start()
    thread.join(10)
    assert not thread.is_alive() and len(caught) == 1 and not comm.closed
    comm.barrier()
    comm.close()
    assert comm.closed and fake.state.comms == 0


def test_close__ended_by_a_signal_is_called_again(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    fake.state.hold = True
    comm = torcoll.Comm("test", fabric=1)

    def work() -> None:
        with pytest.raises(torcoll.Aborted):
            comm.allreduce(bytearray(4))

    def interrupt() -> None:
        raise KeyboardInterrupt

    thread = threading.Thread(target=work)
    thread.start()
    while not fake.running():
        time.sleep(0.001)
    with monkeypatch.context() as patch:
        patch.setattr(comm, "_await_users", interrupt)
        with pytest.raises(KeyboardInterrupt):
            comm.close()
    assert not comm.closed
    comm.close()
    thread.join(10)
    assert comm.closed and fake.state.comms == 0


def test_close__of_an_op_that_only_the_comm_knows(fake: Fake) -> None:
    fake.state.hold = True
    comm = torcoll.Comm("test", fabric=1)
    request = comm.iallreduce(bytearray(4))
    comm.close()
    assert request.test()
    with pytest.raises(torcoll.Aborted, match="comm test was closed before the op was waited for"):
        request.wait()


def test_block__that_raises_aborts(fake: Fake) -> None:
    with pytest.raises(ZeroDivisionError), torcoll.Comm("test", fabric=1):
        1 / 0
    assert fake.calls("abort") == 1 and fake.state.comms == 0
    with torcoll.Comm("test", fabric=1) as comm:
        comm.abort()
    assert fake.calls("abort") == 2


def test_dropped__is_closed_with_a_warning(fake: Fake) -> None:
    comm = torcoll.Comm("test", fabric=1)
    with pytest.warns(ResourceWarning, match="comm test was not closed"):
        del comm
        gc.collect()
    assert fake.state.comms == 0


def test_dropped__is_closed_where_warnings_are_errors(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: said.append(unraisable.exc_type))
    comm = torcoll.Comm("test", fabric=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        del comm
        gc.collect()
    assert said == [ResourceWarning] and fake.state.comms == 0


def test_pickle__is_refused(comm: torcoll.Comm) -> None:
    with pytest.raises(TypeError, match="a comm is of its process"):
        pickle.dumps(comm)


def test_fork__the_childs_is_another_context(fake: Fake, comm: torcoll.Comm) -> None:
    pid = os.fork()
    if not pid:
        code = 1
        try:
            with pytest.raises(torcoll.AccessDenied, match="open one here"):
                comm.barrier()
            comm.close()
            own = torcoll.context()
            ok = own is not comm.context and comm.closed and fake.state.comms == 1
            comm.context.close()
            code = 0 if ok else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    comm.barrier()


def test_fork__while_a_thread_ends_a_prepared_op(fake: Fake, comm: torcoll.Comm) -> None:
    x = bytearray(8192)
    prepared = comm.prepare("allreduce", x)
    held, go = threading.Event(), threading.Event()

    def hold() -> None:
        with prepared._held._lock:
            held.set()
            go.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    pid = os.fork()
    if not pid:
        signal.alarm(10)
        try:
            prepared.close()
            x.append(1)
            del prepared
            os._exit(0)
        finally:
            os._exit(1)
    go.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert prepared() is x
    prepared.close()


# ---- contexts ----

def test_context__of_the_process(fake: Fake) -> None:
    first = torcoll.context()
    assert torcoll.context() is first and fake.state.contexts == 1
    comm = torcoll.Comm(fabric=1)
    assert comm.context is first
    first.close()
    assert first.closed and comm.closed and fake.state.contexts == 0
    with pytest.raises(torcoll.Aborted, match="the context is closed"):
        first.info()
    assert torcoll.context() is not first


def test_context__of_ones_own(fake: Fake) -> None:
    with torcoll.Context() as context, torcoll.Comm(fabric=1, context=context) as comm:
        assert comm.context is context
        info = context.info()
        assert (info.version, info.abi_version) == ("fake", 1) and "alloc" in info.features
        assert "ring" not in info.features and "swing-bw" in info.algorithms and "bf16" in info.types
        assert context.fileno() > 2
    assert fake.state.contexts == 0


def test_context__cannot_be_opened(fake: Fake) -> None:
    for err, kind in ((errno.ENOENT, torcoll.NoModule), (errno.EACCES, torcoll.AccessDenied)):
        fake.state.open_error = -err
        with pytest.raises(kind, match="cannot open /dev/torcoll"):
            torcoll.context()


# ---- errors ----

def test_errors__by_errno() -> None:
    header = (Path(__file__).resolve().parents[2] / "uapi/linux/torcoll.h").read_text()
    for err, kind in errors.CLASSES.items():
        name = "EOPNOTSUPP" if err == errno.EOPNOTSUPP else errno.errorcode[err]
        assert f"\t{name}" in header or f", {name}" in header
        e = errors.error_for(-err, "why", 3)
        assert type(e) is kind and (e.errno, e.strerror, e.rank, str(e)) == (err, "why", 3, "why")
    assert type(errors.error_for(errno.ENOMEM, "why")) is torcoll.Error
    with pytest.raises(OSError):
        raise errors.error_for(errno.EPROTO, "why")


def test_errors__can_be_pickled() -> None:
    e = pickle.loads(pickle.dumps(errors.error_for(errno.ETIMEDOUT, "late", 2)))
    assert type(e) is torcoll.Timeout and (e.errno, e.rank, str(e)) == (errno.ETIMEDOUT, 2, "late")


# ---- the library ----

@pytest.fixture
def unloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_abi, "_library", None)


def test_library__is_missing(unloaded: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCOLL_LIBRARY", "/nowhere/libtorcoll.so")
    with pytest.raises(torcoll.LibraryMissing, match="cannot be loaded: install it .*/nowhere/libtorcoll.so"):
        _abi.load()


def test_library__is_older(unloaded: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCOLL_LIBRARY", "libc.so.6")
    with pytest.raises(torcoll.LibraryMissing, match="libc.so.6 has no torcoll_.*older than this package"):
        _abi.load()


def test_library__beside_the_package(unloaded: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    library = os.environ["TORCOLL_LIBRARY"]
    monkeypatch.delenv("TORCOLL_LIBRARY")
    package = tmp_path / "lib/python3/dist-packages/torcoll"
    package.mkdir(parents=True)
    (tmp_path / "lib" / _abi.SONAME).symlink_to(library)
    monkeypatch.setattr(_abi, "__file__", str(package / "_abi.py"))
    monkeypatch.setattr(_abi, "SONAME", "libtorcoll.so.0")
    assert str(tmp_path / "lib" / _abi.SONAME) in _abi._candidates()


def test_package__needs_no_numpy() -> None:
    code = ("import sys\nsys.modules['numpy'] = None\nimport torcoll\n"
            "with torcoll.Context() as c:\n    assert c.info().version == 'fake'\n")
    assert os.spawnv(os.P_WAIT, sys.executable, [sys.executable, "-c", code]) == 0
