# SPDX-License-Identifier: MIT
"""Ops under way: the library's request, the memory that it uses, and who waits for it.

A Flight is the comm's: it stays in memory until its op is complete, even if the program forgets the Request, which is
the program's view of it.
"""

import contextlib
import ctypes
import errno
import itertools
import threading
from bisect import insort
from collections import OrderedDict, deque
from collections.abc import Generator
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Generic, Optional, TypeVar, cast

from . import _abi
from ._names import Algorithm, Collective, name_of
from .errors import Error, error_for

if TYPE_CHECKING:
    import asyncio

    from ._comm import Comm
    from ._ops import Call

T = TypeVar("T")


def take(lock: threading.Lock, got: list[bool], timeout: float = 0) -> bool:
    """Acquire a lock within that time if it can be. Whether it was is in got, an empty list, too.

    A signal's handler may raise after any call. Here the lock is acquired and that noted in one. Context: a try statement
    whose finally releases the lock, if True in got, before it calls anything else.
    """
    got.extend(map(lock.acquire, (True,), (timeout,)))
    return got[0]


# Of a comm's ops, those that start in order: collectives, or messages to or from a rank.
Series = tuple[int, int]

_numbers = itertools.count()


class Flight:
    """A started op. status is None until it is complete; lock is held by who starts it, or asks the library about it.

    number is greater than that of those that were started before.
    """

    __slots__ = ("request", "call", "status", "sentence", "error_rank", "lock", "waiters", "number", "_has_slot",
                 "_series", "__weakref__")

    def __init__(self, call: "Call", request: Optional[_abi.Request] = None) -> None:
        self.number = next(_numbers)
        self._has_slot = False
        self._series: Optional[Series] = None
        self.request = _abi.Request() if request is None else request
        self.call = call
        self.status: Optional[int] = None
        self.sentence = ""
        self.error_rank: Optional[int] = None
        self.lock = threading.Lock()
        self.waiters: "list[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]]" = []

    def finish(self, status: int, sentence: Optional[str] = None) -> None:
        """The op is complete, as this thread was told: give the memory back and wake who awaits it."""
        if status:
            self.sentence = _abi.last_sentence() if sentence is None else sentence
            self.error_rank = _abi.rank_or_none(
                _abi.load().torcoll_request_error_rank(ctypes.byref(self.request)))
        self.call.release()
        self.status = status
        try:
            self._wake()
        finally:
            # those whom the exception of a signal's handler has left: nobody would come to them again
            self._wake()

    def _wake(self) -> None:
        while self.waiters:
            loop, future = self.waiters[0]
            # a loop that is closed has nobody to wake
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(_resolve, future)
            del self.waiters[0]

    def test(self) -> None:
        """Finish it if it is complete, unless another thread is asking about it."""
        got: list[bool] = []
        try:
            if take(self.lock, got) and self.status is None:
                status = _abi.load().torcoll_test(ctypes.byref(self.request))
                if status != -errno.EAGAIN:
                    self.finish(status)
        finally:
            if True in got:
                self.lock.release()

    def series(self) -> Series:
        """Which of its comm's series it is of."""
        if self._series is None:
            op = self.call.op
            self._series = ((op.collective, op.peer) if op.collective in (Collective.SEND, Collective.RECV)
                            else (Collective.NONE, 0))
        return self._series

    def waits_for_slot(self, lib: ctypes.CDLL) -> Optional[bool]:
        """Whether the library has not started the op yet, and so none that follows it in its series.

        None: another thread asks about it. Context: the handle of its comm is in use.
        """
        if self._has_slot:
            return False
        got: list[bool] = []
        try:
            if not take(self.lock, got):
                return None
            self.look_for_slot(lib)
            return not self._has_slot
        finally:
            if True in got:
                self.lock.release()

    def look_for_slot(self, lib: ctypes.CDLL) -> None:
        """Let waits_for_slot() know, also while this thread asks about it. Context: as there; the lock is held."""
        if not self._has_slot:
            # what the request refers to goes with the op
            self._has_slot = self.status is not None or bool(
                lib.torcoll_request_algorithm(ctypes.byref(self.request)))

    def error(self) -> Optional[Error]:
        """The exception of an op that failed."""
        return error_for(self.status, self.sentence, self.error_rank) if self.status else None


def _resolve(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)


class Forgotten:
    """Flights that the program has dropped before they were complete: the comm looks for them when it starts others.

    Most of a series end in the order in which they started, so that the first are looked at, of some series in turn.

    Locking: who drops a request, such as the collector, takes no lock. _lock is of _lines, and nobody waits for it: to
    look may give back objects of the program's, which may wait for another thread, and a signal's handler may start ops.
    """

    # how many series are looked at when an op starts
    TURN = 4

    __slots__ = ("_dropped", "_lines", "_lock")

    def __init__(self) -> None:
        self._dropped: deque[Flight] = deque()
        self._lines: "OrderedDict[Series, deque[Flight]]" = OrderedDict()
        self._lock = threading.Lock()

    def append(self, flight: Flight) -> None:
        """Have one more."""
        self._dropped.append(flight)

    def clear(self) -> None:
        """Have none."""
        self._dropped.clear()
        self._lines = OrderedDict()

    def _all(self) -> list[Flight]:
        return [*self._dropped, *(flight for line in list(self._lines.values()) for flight in list(line))]

    def __bool__(self) -> bool:
        return bool(self._dropped or self._lines)

    def __len__(self) -> int:
        return len(self._all())

    def oldest(self) -> Optional[Flight]:
        """The first one that is not complete."""
        return min((flight for flight in self._all() if flight.status is None), key=attrgetter("number"), default=None)

    def sweep(self, comm: "Comm", every: bool) -> bool:
        """Let those go that are complete, every one or as many as it costs little to find. Return whether there was one.

        Another thread that does so is not waited for. Context: the handle of the comm is in use.
        """
        got: list[bool] = []
        try:
            if not take(self._lock, got):
                return False
            self._sort()
            turn = list(itertools.islice(self._lines, None if every else self.TURN))
            return any([self._sweep_line(comm, series, every) for series in turn])
        finally:
            if True in got:
                self._lock.release()

    def _sort(self) -> None:
        """Put those that were dropped into their lines, by when they started."""
        while self._dropped:
            # who looks for the oldest takes no lock: it is always in one of both
            flight = self._dropped[0]
            line = self._lines.setdefault(flight.series(), deque())
            if line and line[-1].number > flight.number:
                insort(line, flight, key=attrgetter("number"))
            else:
                line.append(flight)
            self._dropped.popleft()

    def _sweep_line(self, comm: "Comm", series: Series, every: bool) -> bool:
        """The same for one line, which is behind the others then."""
        line = self._lines[series]
        before, at = len(line), 0
        while at < len(line):
            flight = line[at]
            comm._test(flight)
            if flight.status is not None:
                del line[at]
            elif every and not flight.waits_for_slot(comm._lib):
                at += 1
            else:
                break
        if line:
            self._lines.move_to_end(series)
        else:
            del self._lines[series]
        return len(line) < before


class Request(Generic[T]):
    """A started op, of a non-blocking call, a batch or a prepared call.

    Wait for it by wait(), or await it in an asyncio task; both return what the blocking call returns and raise what
    it raises. Its buffers belong to the op until then, and are kept alive. A request that is forgotten is waited for
    by the comm. Any number of threads and tasks may wait for it.
    """

    __slots__ = ("_comm", "_flight")

    def __init__(self, comm: "Comm", flight: Optional[Flight]) -> None:
        self._comm = comm
        self._flight = flight

    def _started(self) -> Flight:
        if self._flight is None:
            raise RuntimeError("the op was not started: a batch starts its ops at the end of its with block")
        return self._flight

    def wait(self, timeout: Optional[float] = None) -> T:
        """Wait until the op is complete and return its result buffer.

        After timeout seconds raises the built-in TimeoutError, and the op continues; 0: if it is not complete now.
        Otherwise raises what the op failed with: an Error.
        """
        flight = self._started()
        if flight.status is None:
            self._comm._wait(flight, timeout)
        return self._outcome(flight)

    def test(self) -> bool:
        """Return whether the op is complete, successfully or not, without waiting. wait() then returns at once."""
        flight = self._started()
        if flight.status is None:
            self._comm._test(flight)
        return flight.status is not None

    @property
    def done(self) -> bool:
        """The same as test()."""
        return self.test()

    def exception(self) -> Optional[Error]:
        """Return the exception of a completed op; None if it succeeded or is not complete."""
        return self._started().error()

    @property
    def algorithm(self) -> str:
        """The name of the algorithm that executes the op."""
        return name_of(Algorithm(self._started().request.chosen))

    @property
    def collective(self) -> str:
        """The name of the collective."""
        return name_of(Collective(self._started().call.op.collective))

    @staticmethod
    def _outcome(flight: Flight) -> T:
        error = flight.error()
        if error is not None:
            raise error
        return cast(T, flight.call.result)

    def __await__(self) -> Generator[Any, None, T]:
        flight = self._started()
        if not self.test():
            yield from self._comm.context._watch(self._comm, flight).__await__()
        return self._outcome(flight)

    def __del__(self) -> None:
        flight = getattr(self, "_flight", None)
        if flight is not None:
            self._comm._forget(flight)

    def __repr__(self) -> str:
        if self._flight is None:
            return "<torcoll.Request, not started>"
        status = self._flight.status
        state = "running" if status is None else self._flight.sentence if status else "complete"
        return f"<torcoll.Request {self.collective}: {state}>"
