# SPDX-License-Identifier: MIT
"""Many ops by one system call, and ops that are prepared once and started many times."""

import ctypes
import errno
import os
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Optional

from . import _abi
from ._names import BATCH_MAX
from ._ops import Call, describe
from ._requests import Flight, Request
from .errors import Aborted, Error, error_for

if TYPE_CHECKING:
    from ._comm import Comm


def _launch(comms: "Sequence[Comm]", calls: Sequence[Any], start: Any) -> tuple[list[Flight], Optional[Error]]:
    """Start calls by one function of the library, start(requests, started).

    Return flights of those that run, and the error of the one behind them if there is one.
    """
    requests = (_abi.Request * len(calls))()
    flights = [Flight(call, requests[i]) for i, call in enumerate(calls)]
    started = ctypes.c_uint32()
    try:
        for comm, flight in zip(comms, flights):
            comm._pending[id(flight)] = flight
        err = start(requests, ctypes.byref(started))
        error = error_for(err, _abi.last_sentence()) if err else None
        for comm, flight in list(zip(comms, flights))[started.value:]:
            del comm._pending[id(flight)]
            flight.call.release()
    except BaseException:
        # a signal's: some may be running
        for comm, flight in zip(comms, flights):
            comm._forgotten.append(flight)
        raise
    return flights[:started.value], error


class Batch:
    """Ops that start together, in the order in which they were added, by one system call.

        with comm.batch() as batch:
            a = batch.add("allreduce", x)
            b = batch.add("broadcast", y, root=2)
        a.wait(), b.wait()

    The depth of the comm limits the ops in flight: a batch that is longer waits for slots. Nothing starts if the block
    raises.
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
        ops = (_abi.Op * len(calls))(*(call.op for call in calls))
        handle = comm._enter()
        try:
            comm._sweep()
            flights, error = _launch([comm] * len(calls), calls, lambda reqs, started: comm._lib.torcoll_submit_many(
                handle, ops, len(calls), reqs, started))
        finally:
            comm._leave()
        for request, flight in zip(requests, flights):
            request._flight = flight
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
        self._handle: Optional[int] = None
        self._call = describe(comm._place, collective, *args, **kwargs)
        out = ctypes.c_void_p()
        try:
            comm._checked(lambda handle: comm._lib.torcoll_prepare(
                handle, ctypes.byref(self._call.op), ctypes.byref(out)))
        except BaseException:
            self._call.release()
            raise
        self._handle = out.value
        comm._prepared.add(self)

    def start(self) -> "Request[Any]":
        """Start the op. Earlier starts of it may still run if its buffers allow that."""
        return start_all([self])[0]

    def __call__(self) -> Any:
        """Start the op and wait for it. Raises what the blocking call raises."""
        return self.start().wait()

    def close(self) -> None:
        """Free the prepared op, after all its starts were waited for. Closing the comm does so, too."""
        handle, self._handle = self._handle, None
        if handle is None:
            return
        if os.getpid() == self._comm._pid:
            self._comm._lib.torcoll_prepared_free(handle)
        self._call.release()

    def __enter__(self) -> "Prepared":
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_handle", None) is not None:
            self.close()


class _Start:
    """A start of a prepared call, as a Call: the buffers are held by the prepared one, which this keeps."""

    __slots__ = ("op", "result", "prepared")

    def __init__(self, prepared: Prepared) -> None:
        self.op = prepared._call.op
        self.result = prepared._call.result
        self.prepared: Optional[Prepared] = prepared

    def release(self) -> None:
        self.prepared = None


def start_all(prepared: "Sequence[Prepared]") -> "list[Request[Any]]":
    """Start prepared ops, on comms of one context, by one system call, in this order. Return their requests.

    If the module refuses one of them, raises its error; those before it run and are waited for by their comms.
    """
    if not prepared:
        return []
    handles = []
    comms = [p._comm for p in prepared]
    entered: "list[Comm]" = []
    try:
        for p in prepared:
            p._comm._enter()
            entered.append(p._comm)
            if p._handle is None:
                raise Aborted(errno.ECANCELED, "the prepared op was closed")
            handles.append(p._handle)
        array = (ctypes.c_void_p * len(handles))(*handles)
        lib = comms[0]._lib
        calls: list[Any] = [_Start(p) for p in prepared]
        flights, error = _launch(comms, calls, lambda reqs, started: lib.torcoll_start_many(
            array, len(handles), reqs, started))
    finally:
        for comm in entered:
            comm._leave()
    requests: "list[Request[Any]]" = [Request(comm, flight) for comm, flight in zip(comms, flights)]
    if error is not None:
        raise error
    return requests
