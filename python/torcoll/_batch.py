# SPDX-License-Identifier: MIT
"""Many ops by one system call, and ops that are prepared once and started many times."""

import ctypes
import errno
import os
import sys
import threading
from collections.abc import Sequence
from operator import methodcaller
from types import TracebackType
from typing import TYPE_CHECKING, Any, Optional

from . import _abi
from ._names import BATCH_MAX
from ._ops import Call, describe
from ._requests import Flight, Request
from .errors import Aborted, Error, error_for

if TYPE_CHECKING:
    from ._comm import Comm


def _launch(requests: "Sequence[Request[Any]]", calls: Sequence[Any], start: Any) -> Optional[Error]:
    """Start calls by one function of the library, start(array, started). Their requests get flights, if they run.

    Return the error of the one behind these if there is one.
    """
    array = (_abi.Request * len(calls))()
    flights = [Flight(call, array[i]) for i, call in enumerate(calls)]
    started = ctypes.c_uint32()
    # nobody else has them yet, and nobody is to ask about them before the library knows them
    for flight in flights:
        flight.lock.acquire()
    # the finally has one call for all: a signal's handler may raise after one
    releases = map(methodcaller("release"), [flight.lock for flight in flights])
    try:
        for request, flight in zip(requests, flights):
            request._flight = flight
            request._comm._pending[id(flight)] = flight
        err = start(array, ctypes.byref(started))
        error = error_for(err, _abi.last_sentence()) if err else None
        for request, flight in list(zip(requests, flights))[started.value:]:
            request._flight = None
            del request._comm._pending[id(flight)]
            flight.call.release()
    finally:
        any(releases)
    requests[0]._comm.context._see()
    return error


class Batch:
    """Ops that start together, in the order in which they were added, by one system call.

        with comm.batch() as batch:
            a = batch.add("allreduce", x)
            b = batch.add("broadcast", y, root=2)
        a.wait(), b.wait()

    The time of an op's timeout begins with the start. Ops beyond the depth of the comm wait in the library, and start as
    slots become free while the program waits for, awaits or tests others. Nothing starts if the block raises.
    """

    def __init__(self, comm: "Comm") -> None:
        self._comm = comm
        self._calls: list[Call] = []
        self._requests: "list[Request[Any]]" = []

    def add(self, collective: str, *args: Any, **kwargs: Any) -> "Request[Any]":
        """Add an op, with the arguments of the method of Comm named collective.

        Raises what that method raises of its arguments, ValueError if the batch is full (1024).
        """
        if len(self._calls) == BATCH_MAX:
            raise ValueError(f"a batch takes {BATCH_MAX} ops: start this one, and the next in another")
        self._calls.append(describe(self._comm._place, collective, *args, **kwargs))
        self._requests.append(Request(self._comm, None))
        return self._requests[-1]

    def start(self) -> "list[Request[Any]]":
        """Start what was added and return its requests. The end of the with block does this.

        If the module refuses one of the ops, raises its error. Those before it run, and their requests, which add()
        returned, can be waited for.
        """
        calls, requests = self._calls, self._requests
        self._calls, self._requests = [], []
        if not calls:
            return []
        comm = self._comm
        for call in calls:
            call.begin()
        ops = (_abi.Op * len(calls))(*(call.op for call in calls))
        use = object()
        try:
            handle = comm._enter(use)
            comm._sweep()
            error = _launch(requests, calls, lambda array, started: comm._lib.torcoll_submit_many(
                handle, ops, len(calls), array, started))
        finally:
            comm._users.pop(use, None)
        if error is not None:
            raise error
        return requests

    def __enter__(self) -> "Batch":
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        if error is None:
            self.start()
            return
        for call in self._calls:
            call.release()
        self._calls, self._requests = [], []


class Held:
    """A prepared op of the library and its buffers: what a comm has of a Prepared.

    Both go together, once it is closed and no start of it runs: the kernel writes to the buffers until then, and a
    start that waits for a slot needs the op. Locking: _lock is held while the library frees the op, so that the comm
    stays until then; it is a leaf.
    """

    __slots__ = ("handle", "_unfreed", "_comms", "_free", "_call", "_pid", "_lock", "_starts", "_closed", "_ended")

    def __init__(self, comm: "Comm", call: Call) -> None:
        # what the library is to fill in, so that an exception of a signal does not come between
        self.handle = ctypes.c_void_p()
        self._unfreed = iter([self.handle])
        # not the comm, which this would keep alive
        self._comms = comm._prepared
        self._free = comm._lib.torcoll_prepared_free
        self._call = call
        self._pid = os.getpid()
        # the collector may run what ends another use of this
        self._lock = threading.RLock()
        self._starts: "set[_Start]" = set()
        self._closed = self._ended = False

    def enter(self, start: "_Start") -> Optional[int]:
        """Use the op: it stays until leave()."""
        with self._lock:
            if self._closed or self._ended:
                raise Aborted(errno.ECANCELED, "the prepared op was closed")
            self._starts.add(start)
            return self.handle.value

    def leave(self, start: "_Start") -> None:
        """A start is complete, or was none."""
        with self._lock:
            self._starts.discard(start)
            if self._closed and not self._starts:
                self.end()

    def close(self) -> None:
        """No more starts."""
        if os.getpid() != self._pid:
            # the op is the parent's, and so is the lock, perhaps held by a thread that this process has not
            self._call.release()
            return
        with self._lock:
            self._closed = True
            if not self._starts:
                self.end()

    def end(self) -> None:
        """Free it. No start of it runs."""
        with self._lock:
            if self._ended:
                return
            if os.getpid() == self._pid:
                # one call frees it and notes that, and may be made again if a signal's handler raises
                any(map(self._free, self._unfreed))
            self._ended = True
            self._comms.discard(self)
        self._call.release()


class Prepared:
    """An op that was checked and encoded once, and whose buffers are registered until close().

        with comm.prepare("allreduce", gradient) as reduce_gradient:
            for step in range(steps):
                ...
                reduce_gradient()

    Calling it starts the op, waits for it and returns its result buffer. The buffers belong to it only while it runs.
    """

    def __init__(self, comm: "Comm", collective: str, *args: Any, **kwargs: Any) -> None:
        if kwargs.get("timeout") is not None:
            raise ValueError("timeout: a deadline is of one start, not of a prepared call")
        self._comm = comm
        self._call = describe(comm._place, collective, *args, **kwargs)
        self._held = Held(comm, self._call)
        try:
            comm._prepared.add(self._held)
            comm._checked(lambda handle: comm._lib.torcoll_prepare(
                handle, ctypes.byref(self._call.op), ctypes.byref(self._held.handle)))
        except BaseException:
            self._held.close()
            raise

    def start(self) -> "Request[Any]":
        """Start the op. Earlier starts of it may still run if its buffers allow that."""
        return start_all([self])[0]

    def __call__(self) -> Any:
        """Start the op and wait for it. Raises what the blocking call raises."""
        return self.start().wait()

    def close(self) -> None:
        """Free the prepared op, and give its buffers back: those of starts that run when these are complete.

        Closing the comm does so, too.
        """
        self._held.close()

    def __enter__(self) -> "Prepared":
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def __del__(self) -> None:
        held = getattr(self, "_held", None)
        # at the end of the process the kernel frees it, and a thread that is no more may have the lock
        if held is not None and not sys.is_finalizing():
            held.close()


class _Start:
    """A start of a prepared call, as a Call."""

    __slots__ = ("op", "result", "handle", "_held")

    def __init__(self, prepared: Prepared) -> None:
        self.op = prepared._call.op
        self.result = prepared._call.result
        self.handle: Optional[int] = None
        self._held = prepared._held

    def begin(self) -> None:
        """Use the op until release()."""
        self.handle = self._held.enter(self)

    def release(self) -> None:
        self._held.leave(self)


def start_all(prepared: "Sequence[Prepared]") -> "list[Request[Any]]":
    """Start prepared ops, on comms of one context, by one system call, in this order. Return their requests.

    If the module refuses one of them, raises its error; those before it run and are waited for by their comms.
    """
    if not prepared:
        return []
    comms = [p._comm for p in prepared]
    starts = [_Start(p) for p in prepared]
    requests: "list[Request[Any]]" = [Request(comm, None) for comm in comms]
    use = object()
    # one call for all, as in _launch()
    leaves = map(methodcaller("pop", use, None), [comm._users for comm in comms])
    try:
        try:
            for comm in dict.fromkeys(comms):
                comm._enter(use)
                comm._sweep()
            for start in starts:
                start.begin()
            handles = (ctypes.c_void_p * len(starts))(*(start.handle for start in starts))
            lib = comms[0]._lib
            error = _launch(requests, starts, lambda array, started: lib.torcoll_start_many(
                handles, len(starts), array, started))
        except BaseException:
            for request, start in zip(requests, starts):
                # the others may be running; those of which the comm does not know are not
                if request._flight is None or id(request._flight) not in request._comm._pending:
                    start.release()
            raise
    finally:
        list(leaves)
    if error is not None:
        raise error
    return requests
