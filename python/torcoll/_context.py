# SPDX-License-Identifier: MIT
"""The open device: its life, the process's own one, memory, and waiting in event loops.

Locking: Context._lock guards who uses the handle; it is a leaf. The handle is closed when the context is closed and
nobody uses it any more: a comm, from the beginning of its join on; an event loop that watches the descriptor; memory of
alloc() that the program still has.
"""

import contextlib
import ctypes
import errno
import os
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, TypeVar

from . import _abi
from ._buffers import View
from ._names import ALGORITHMS, COLLECTIVES, FEATURES, REDOPS, TYPES
from .errors import Aborted, NoModule

if TYPE_CHECKING:
    import asyncio

    from ._comm import Comm
    from ._requests import Flight

    # of each series of a comm's ops, those that tasks await and the library has not started
    Queued = dict[tuple[Comm, int, int], deque[Flight]]

T = TypeVar("T")

# s; ops that wait for a slot of their comm are tried so often while tasks await them, or for half of the time
SLOT_INTERVAL = 0.001

# s; how often all ops are looked at while any waits for a slot and a task awaits one, or for a twentieth of the time
LOOK_INTERVAL = 0.02

# s; how long a call in another thread leaves signals to wait, at most
SIGNAL_INTERVAL = 0.1


class ModuleInfo(NamedTuple):
    """The loaded module: its version, that of its interface, and by name what it serves."""

    version: str
    abi_version: int
    max_channels: int
    features: frozenset[str]
    collectives: frozenset[str]
    types: frozenset[str]
    redops: frozenset[str]
    algorithms: frozenset[str]


def _served(mask: int, names: dict[str, Any]) -> frozenset[str]:
    return frozenset(name for name, member in names.items() if mask >> member & 1)


class _Watch:
    """The descriptor that an event loop watches, and for how many futures."""

    __slots__ = ("fd", "futures")

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.futures = 0


class Context:
    """An open torcoll device. Comms and registered memory belong to one.

    Programs need not make one: without context=, everything uses the context of the process, which context() returns.
    It belongs to the network namespace of the thread that opens it. After a fork the child opens its own.

    Raises NoModule, AccessDenied, LibraryMissing.
    """

    def __init__(self) -> None:
        self._lib = _abi.load()
        self._pid = os.getpid()
        self._lock = threading.RLock()
        self._users: set[object] = set()
        self._closed = False
        self._comms: weakref.WeakSet["Comm"] = weakref.WeakSet()
        self._kept: list[View] = []
        self._watched: "weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Watch]" = weakref.WeakKeyDictionary()
        self._queued: "weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Queued]" = weakref.WeakKeyDictionary()
        # the loops that will look, and whether once more afterwards; and those that were asked to
        self._looking: "weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, bool]" = weakref.WeakKeyDictionary()
        self._asked: "weakref.WeakSet[asyncio.AbstractEventLoop]" = weakref.WeakSet()
        self._handle: Optional[int] = None
        handle = ctypes.c_void_p()
        try:
            err = self._lib.torcoll_open(ctypes.byref(handle))
            if err == -errno.ENOENT:
                raise NoModule(errno.ENOENT, _abi.last_sentence())
            _abi.check(err)
            self._handle = handle.value
        except BaseException:
            # a signal's handler may raise when it is open; once this owns it, __del__ closes it
            if handle.value and self._handle is None:
                self._lib.torcoll_close(handle)
            raise

    # ---- life ----

    def _enter(self, use: object) -> int:
        """Use the handle: it stays open while _users has use, as with Comm._enter()."""
        with self._lock:
            if self._closed or self._handle is None:
                raise Aborted(errno.ECANCELED, "the context is closed: open another one")
            self._users.add(use)
            return self._handle

    def _leave(self, use: object) -> None:
        """Where a signal's handler may raise, the use was discarded before, and what is left to do is to close."""
        with self._lock:
            self._users.discard(use)
            self._close_unused()

    def _close_unused(self) -> None:
        """Context: lock held."""
        if self._closed and not self._users and not self._watched and self._handle is not None:
            handle, self._handle = self._handle, None
            self._lib.torcoll_close(handle)
            for view in self._kept:
                view.release()
            self._kept.clear()

    def close(self) -> None:
        """Close the context and its comms. Memory of alloc() and empty() stays valid until the program drops it.

        Raises Busy where Comm.close() does: that comm and those behind it are then open until the next call.
        """
        if os.getpid() != self._pid:
            self._close_forked()
            return
        with self._lock:
            self._closed = True
            comms = list(self._comms)
        for comm in comms:
            comm.close()
        for loop in list(self._watched):
            self._end_watch(loop)
        self._drop_kept()
        with self._lock:
            self._close_unused()

    def _close_forked(self) -> None:
        """In a child, where all who use it are the parent's, as are their locks, and what event loops watch."""
        self._closed = True
        for comm in list(self._comms):
            comm.close()
        handle, self._handle = self._handle, None
        if handle is not None:
            self._lib.torcoll_close(handle)

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return self._closed

    def __enter__(self) -> "Context":
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def __del__(self) -> None:
        # what uses it, as comms and memory of alloc() do, refers to it; at the end of the process the kernel closes it
        if getattr(self, "_handle", None) is None or os.getpid() != self._pid or sys.is_finalizing():
            return
        self.close()

    def _call(self, function: Callable[[int], T]) -> T:
        use = object()
        try:
            return function(self._enter(use))
        finally:
            self._users.discard(use)
            self._leave(use)

    # ---- what there is ----

    def info(self) -> ModuleInfo:
        """Describe the loaded module."""
        info = _abi.Info()
        self._call(lambda handle: _abi.check(self._lib.torcoll_info(handle, ctypes.byref(info))))
        return ModuleInfo(
            info.version.decode(), info.abi_version, info.max_channels,
            frozenset(name for name, bit in FEATURES.items() if info.features & bit),
            _served(info.collectives, COLLECTIVES), _served(info.types, TYPES), _served(info.redops, REDOPS),
            _served(info.algorithms, ALGORITHMS))

    def fileno(self) -> int:
        """A descriptor that polls readable while a completed op was not waited for. For polling only.

        While requests wait for a slot, test them from time to time: what they wait for does not make it readable.
        """
        fd: int = self._call(self._lib.torcoll_fd)
        return fd

    # ---- memory ----

    def alloc(self, nbytes: int) -> memoryview:
        """Allocate zeroed memory that calls use without copies, as a writable memoryview of bytes.

        It does not count towards RLIMIT_MEMLOCK, is not inherited by children, and is freed when the last object that
        refers to it is gone. Raises ValueError for no bytes, LimitReached, NotSupported (the module is too old).
        """
        if nbytes <= 0:
            raise ValueError(f"nbytes: {nbytes} bytes are no memory")
        address = ctypes.c_void_p()
        use = object()
        pid = os.getpid()
        try:
            _abi.check(self._lib.torcoll_alloc(self._enter(use), nbytes, ctypes.byref(address)))
            array = (ctypes.c_char * nbytes).from_address(address.value or 0)
            # at the end of the process the kernel frees it; objects may still use it until then
            weakref.finalize(array, self._free, use, address, pid).atexit = False
            return memoryview(array).cast("B")
        except BaseException:
            self._free(use, address, pid)
            raise

    def _free(self, use: object, address: ctypes.c_void_p, pid: int) -> None:
        """Called when nobody has the memory any more; after an exception of alloc(), again.

        Ops have it, so none can be running.
        """
        if os.getpid() != pid:
            return
        where, address.value = address.value, None
        if where is not None:
            self._lib.torcoll_free(self._handle, where)
        self._leave(use)

    def register(self, buffer: Any) -> "Registration":
        """Register the memory of a buffer, so that calls need not pin it. See Registration."""
        self._drop_kept()
        return Registration(self, buffer)

    def _unregister(self, view: View) -> int:
        """End a registration. Return what the library does; a file that is closed has none."""
        with self._lock:
            if self._handle is None:
                return 0
            err: int = self._lib.torcoll_unregister(self._handle, view.address)
            return err

    def _drop(self, view: View) -> None:
        """End a registration, and give the memory back; while an op uses it, later.

        Were it given back before, ops on what comes to its address would use the old pages.
        """
        with self._lock:
            kept = self._unregister(view) not in (0, -errno.ENOENT)
            if kept and view not in self._kept:
                self._kept.append(view)
        if not kept:
            view.release()

    def _drop_kept(self) -> None:
        """Do that now, as far as ops have ended."""
        for view in list(self._kept):
            with self._lock:
                # another thread may have done it, and the program have registered that memory again
                gone = view in self._kept and self._unregister(view) in (0, -errno.ENOENT)
                if gone:
                    self._kept.remove(view)
            if gone:
                view.release()

    # ---- event loops ----

    def _watch(self, comm: "Comm", flight: "Flight") -> "asyncio.Future[None]":
        """A future of the running loop that is done when the op is."""
        # takes longer to import than all else, and not every program has it
        import asyncio

        loop = asyncio.get_running_loop()
        future = loop.create_future()
        self._begin_watch(loop)
        future.add_done_callback(lambda _: self._unwatch(loop))
        flight.waiters.append((loop, future))
        # it may have ended, in another thread, before it was in the list
        comm._test(flight)
        if flight.status is not None and not future.done():
            future.set_result(None)
            return future
        self._look_soon(loop)
        if self._waits_for_slot(comm, flight):
            if loop not in self._queued:
                self._queued[loop] = {}
                loop.call_later(SLOT_INTERVAL, self._push, loop)
            self._queued[loop].setdefault((comm, *flight.series()), deque()).append(flight)
        return future

    def _waits_for_slot(self, comm: "Comm", flight: "Flight") -> bool:
        """Whether the library has not started the op yet. While another thread asks about it, perhaps it has not."""
        use = object()
        try:
            comm._enter(use)
            return flight.waits_for_slot(self._lib) is not False
        except Aborted:
            return False
        finally:
            comm._users.pop(use, None)

    def _is_stuck(self, comm: "Comm", flight: "Flight") -> bool:
        """Look for the end of an op. Return whether it still waits for a slot."""
        comm._test(flight)
        return self._waits_for_slot(comm, flight)

    def _push(self, loop: "asyncio.AbstractEventLoop") -> None:
        """Start ops that wait for a slot: tests do, and the descriptor does not tell when a slot is free.

        Nor does it tell of those that the library fails. The ops of a series start in their order, and one that fails
        fails its comm, and so what is before it: of each series the first is looked at, and those that follow it once
        it waits no more.
        """
        began = time.monotonic()
        queued = self._queued.pop(loop, {})
        for (comm, *_), flights in queued.items():
            while flights and not self._is_stuck(comm, flights[0]):
                flights.popleft()
        queued = {key: flights for key, flights in queued.items() if flights}
        if queued and not self._closed:
            self._queued[loop] = queued
            loop.call_later(max(SLOT_INTERVAL, time.monotonic() - began), self._push, loop)

    def _see(self) -> None:
        """Let the loops that watch look at all ops, twice: one was started, perhaps in another thread."""
        if not self._watched:
            return
        with self._lock:
            for loop in list(self._watched):
                if loop not in self._asked and not self._looking.get(loop):
                    # a loop that is closed has nobody to wake
                    with contextlib.suppress(RuntimeError):
                        loop.call_soon_threadsafe(self._look_soon, loop)
                    self._asked.add(loop)

    def _look_soon(self, loop: "asyncio.AbstractEventLoop", again: bool = True, after: float = LOOK_INTERVAL) -> None:
        """Context: the loop runs in this thread."""
        with self._lock:
            self._asked.discard(loop)
        if loop not in self._looking:
            loop.call_later(after, self._look, loop)
        self._looking[loop] = again or self._looking.get(loop, False)

    def _look(self, loop: "asyncio.AbstractEventLoop") -> None:
        """Look at all ops, whether tasks await them or not, while any waits for a slot: they start when others are awaited.

        To start them the library gets the results of others, as it may when the program starts one. If it has no ring, the
        descriptor does not tell of those any more. They may be of ops that were looked at before the last one started: so
        once more, when none waits, if that was asked for.
        """
        again = self._looking.pop(loop, False)
        if loop not in self._watched or self._closed:
            return
        began = time.monotonic()
        waits = self._reap()
        if waits or again:
            self._look_soon(loop, waits, max(LOOK_INTERVAL, 20 * (time.monotonic() - began)))

    def _begin_watch(self, loop: "asyncio.AbstractEventLoop") -> None:
        """Let a loop watch the descriptor for one more future. Context: the loop runs."""
        with self._lock:
            watch = self._watched.get(loop)
            if watch is None:
                watch = _Watch(self.fileno())
                loop.add_reader(watch.fd, self._readable)
                self._watched[loop] = watch
            watch.futures += 1

    def _unwatch(self, loop: "asyncio.AbstractEventLoop") -> None:
        with self._lock:
            watch = self._watched.get(loop)
            # none: close() was quicker
            if watch is not None:
                watch.futures -= 1
                if not watch.futures:
                    self._stop_watch(loop)

    def _stop_watch(self, loop: "asyncio.AbstractEventLoop") -> None:
        """The descriptor stays open until its loop has forgotten it: another file would get its number, and with it
        what the loop knows of this one. Context: the loop runs in this thread, or in none."""
        with self._lock:
            watch = self._watched.pop(loop, None)
            if watch is not None:
                loop.remove_reader(watch.fd)
                self._close_unused()

    def _end_watch(self, loop: "asyncio.AbstractEventLoop") -> None:
        """No loop watches a closed context: one that runs in another thread stops when it comes to it, others now."""
        import asyncio

        # one that is closed, or runs nowhere and perhaps never again, would not come to it
        if asyncio._get_running_loop() is loop or not loop.is_running():
            self._stop_watch(loop)
            return
        try:
            loop.call_soon_threadsafe(self._stop_watch, loop)
        except RuntimeError:
            # it was closed just now
            self._stop_watch(loop)

    def _readable(self) -> None:
        """The descriptor polls readable as long as there is a completed op, whoever waits for it."""
        if self._reap():
            self._see()

    def _reap(self) -> bool:
        """Finish all ops that are complete. Return whether any of the others may wait for a slot."""
        with self._lock:
            comms = list(self._comms)
        return any([comm._reap() for comm in comms])


class Registration:
    """Registered memory: pinned, and counted towards RLIMIT_MEMLOCK, until close() or the end of a with block.

    This pays for buffers of more than 4 KiB that are used repeatedly. The buffer is kept alive; one that is dropped
    while an op uses it, until that has ended. Raises ValueError for an empty one, Error with EEXIST if it overlaps
    registered memory, LimitReached.
    """

    def __init__(self, context: Context, buffer: Any) -> None:
        self._context = context
        # what the library said; where a signal's handler raises later, __del__ ends what was registered
        self._errors: list[int] = []
        self._view: Optional[View] = None
        view = View(buffer, "buffer")
        if not view.nbytes:
            raise ValueError("buffer: it has no bytes to register")
        self._view = view
        # one call registers it and notes that
        context._call(lambda handle: self._errors.extend(
            map(context._lib.torcoll_register, (handle,), (view.address,), (view.nbytes,))))
        _abi.check(self._errors[0])

    def close(self) -> None:
        """Unregister the memory. Raises Busy while a running or prepared op uses it."""
        view = self._view
        if view is None:
            return
        _abi.check(self._context._unregister(view))
        self._view = None
        view.release()

    def _drop(self) -> None:
        """The same without an exception: memory that is in use goes when the ops have ended."""
        # what was refused may overlap another one's
        if self._view is not None and self._errors == [0]:
            self._context._drop(self._view)
            self._view = None

    def __enter__(self) -> "Registration":
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        if error is None:
            self.close()
        else:
            # which is what the program is to see, and may have left an op behind
            self._drop()

    def __del__(self) -> None:
        if getattr(self, "_view", None) is None or os.getpid() != self._context._pid or sys.is_finalizing():
            return
        # at the end of the process the kernel ends it, and a thread that is no more may have a lock
        self._drop()


# ---- interruptible calls ----

def interruptible(function: Callable[[], T], undo: Callable[[T], None]) -> T:
    """Execute a call that may block for minutes, so that a signal handler (of Ctrl-C) can end it by an exception.

    No call of the library returns because of a signal, and Python runs handlers in its main thread, between calls.
    There, the call is left to another thread. If a handler raises, the other thread undoes what came of the call.
    """
    if threading.current_thread() is not threading.main_thread():
        return function()
    lock = threading.Lock()
    done = threading.Event()
    outcome: list[Any] = []
    left = False

    def work() -> None:
        try:
            good, result = True, function()
        except BaseException as e:  # whatever it is belongs to the caller
            good, result = False, e  # type: ignore[assignment]
        with lock:
            outcome.append((good, result))
            if left and good:
                undo(result)
        done.set()

    thread = threading.Thread(target=work, name="torcoll", daemon=True)
    try:
        # this may wait for its beginning, and be interrupted there
        thread.start()
        # a signal that comes just before Python's wait begins does not end it: look again
        while not done.wait(SIGNAL_INTERVAL):
            pass
    except BaseException:
        with lock:
            left = True
            if outcome and outcome[0][0]:
                undo(outcome[0][1])
        raise
    good, result = outcome[0]
    if not good:
        raise result
    value: T = result
    return value


# ---- the context of the process ----

_own_lock = threading.Lock()
_own: Optional[Context] = None


def context() -> Context:
    """Return the context of the process; the first call opens it. Raises NoModule, AccessDenied, LibraryMissing."""
    global _own
    with _own_lock:
        if _own is None or _own.closed or _own._pid != os.getpid():
            _own = Context()
        return _own


def _forked() -> None:
    """A child has the parent's lock, perhaps held by a thread that it has not."""
    global _own_lock
    _own_lock = threading.Lock()


os.register_at_fork(after_in_child=_forked)
