# SPDX-License-Identifier: MIT
"""Communicators: joining, leaving, groups, shrinking; and how their ops are started and waited for.

A blocking call is a start and a wait, so that a signal handler of Python's, such as that of Ctrl-C, runs while it
waits.

Locking: Comm._lock guards the handle and who uses it. close() waits until nobody does. A flight's own lock is held
while the library is asked about it, and taken before Comm._lock.

A signal handler's exception comes as a Python function begins, or after a call, before what that returned is stored. So
a use is an object that is made before the try statement in which it enters _users: what ends the use, the first call of
the finally, is right whether it has entered or not.
"""

import contextlib
import ctypes
import errno
import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Optional

from . import _abi
from ._collectives import Collectives
from ._context import Context, context as own_context, interruptible
from ._names import BITS, COLOUR_NONE, NAME_MAX, OP_NOWAIT, RANK_SELF, lookup
from ._ops import Call, Place, block, deadline, number
from ._requests import Flight, Forgotten, Request, Series, take
from .errors import Aborted, Busy, Error, error_for

if TYPE_CHECKING:
    from ._batch import Batch, Held, Prepared

# How long a wait leaves signals to wait, at most.
SLICE_NS = 100_000_000

# s; how often close() looks whether others still use the comm, which it aborted
LEAVE_INTERVAL = 0.001


class CommInfo(NamedTuple):
    """A comm as the module has it. error is 0 or the errno of its first failure, error_rank the rank that caused it."""

    rank: int
    size: int
    node: int
    generation: int
    dims: tuple[int, ...]
    frame_bytes: int
    error: int
    error_rank: Optional[int]


class Comm(Collectives):
    """A communicator: an ordered list of ranks, of which this process is one.

    All ranks call the same ops in the same order. A comm that failed raises its first error from every later op;
    shrink() makes one of the surviving ranks. Threads that share a comm must order their calls; give each its own
    (dup()) otherwise.

    As a context manager it is closed at the end of the block, and aborted before if the block raises: then the other
    ranks get PeerFailed.
    """

    def __init__(self, name: str = "world", *, fabric: int, members: Optional[Sequence[int]] = None,
                 rank: Optional[int] = None, secret: Optional[str] = None, depth: int = 0, bits: str = "default",
                 timeout: Optional[float] = 120.0, context: Optional[Context] = None) -> None:
        """Join a comm, and wait until every member has.

        fabric is the fabric's key; members the node of each rank, None: all nodes in order; rank the caller's, None: a
        free one of this node; depth the ops in flight, 0: the module chooses; bits those of ops that name none; timeout
        in seconds, None: no limit. Raises NoFabric, AccessDenied (wrong secret), Mismatch (members disagree), Timeout
        (names the missing rank), Error with EEXIST, Invalid, LimitReached.
        """
        context = context or own_context()
        for text, what in ((name, "name"), (secret or "", "secret")):
            if len(text.encode()) > NAME_MAX or "\0" in text:
                raise ValueError(f"{what}: {text!r} has more than {NAME_MAX} bytes or a zero in it")
        config = _abi.CommConfig(
            fabric=number("fabric", fabric, 0, 2**64 - 1), name=name.encode(),
            secret=None if secret is None else secret.encode(),
            members=None if members is None else _words("members", members),
            size=0 if members is None else len(members),
            rank=RANK_SELF if rank is None else number("rank", rank, 0, RANK_SELF - 1),
            depth=number("depth", depth, 0, 2**32 - 1), bits=lookup(BITS, bits, "bits"), deadline_ns=deadline(timeout))
        lib = context._lib
        _join(context, lambda handle, out: lib.torcoll_comm_create(handle, ctypes.byref(config), out), self, name)

    @classmethod
    def from_env(cls, *, context: Optional[Context] = None) -> "Comm":
        """Join the comm that the variables TORCOLL_* describe, or those of Slurm, Open MPI and MPICH: see
        torcoll_comm_from_env(3).

        Raises Invalid, with a message about the variable, and what Comm() raises.
        """
        context = context or own_context()
        lib = context._lib
        comm = cls.__new__(cls)
        _join(context, lambda handle, out: lib.torcoll_comm_from_env(handle, out), comm,
              os.environ.get("TORCOLL_COMM") or "world")
        return comm

    def _adopt(self, context: Context, use: object, handle: int, name: str) -> None:
        """Own a comm of the library, and a use of its context."""
        lib = context._lib
        self.context = context
        self.name = name
        self.rank: int = lib.torcoll_comm_rank(handle)
        self.size: int = lib.torcoll_comm_size(handle)
        self._place = Place(self.rank, self.size)
        self._nodes: tuple[int, ...] = tuple(lib.torcoll_comm_node(handle, rank) for rank in range(self.size))
        self._lib = lib
        self._pid = os.getpid()
        self._use = use
        self._lock = threading.RLock()
        # and the thread of each
        self._users: dict[object, int] = {}
        # calls that make a comm of this one, and who waits for its ops to leave it
        self._joins: set[object] = set()
        self._closing = False
        # what the library's end of it returned; and whether the rest was done, by whom has _ending
        self._left: list[None] = []
        self._ended = False
        self._ending = threading.RLock()
        self._pending: dict[int, Flight] = {}
        self._forgotten = Forgotten()
        self._prepared: "set[Held]" = set()
        self._handle: Optional[int] = handle
        with context._lock:
            context._comms.add(self)
            closed = context._closed
        if closed:
            # while this joined: who closes it has not seen this one, perhaps
            self.close()
            raise Aborted(errno.ECANCELED, "the context was closed during the join")

    # ---- what it is ----

    @property
    def nodes(self) -> tuple[int, ...]:
        """The node of each rank."""
        return self._nodes

    @property
    def node(self) -> int:
        """The node of this rank."""
        return self._nodes[self.rank]

    @property
    def local_ranks(self) -> tuple[int, ...]:
        """The ranks on this node, the caller's included."""
        return tuple(rank for rank, node in enumerate(self._nodes) if node == self.node)

    @property
    def closed(self) -> bool:
        """Whether the comm was closed."""
        return self._handle is None

    def info(self) -> CommInfo:
        """Describe the comm as the module has it, its first error included."""
        info = _abi.CommInfo()
        self._checked(lambda handle: self._lib.torcoll_comm_info(handle, ctypes.byref(info)))
        return CommInfo(info.rank, info.ranks, info.node, info.generation, tuple(info.side[:info.ndim]),
                        info.frame_bytes, -info.error, _abi.rank_or_none(info.error_rank))

    def block_of(self, count: int, rank: Optional[int] = None) -> slice:
        """The block of a rank, None: of this one, in a vector of count elements that is split evenly."""
        offset, length = block(count, self.rank if rank is None else rank, self.size)
        return slice(offset, offset + length)

    def __repr__(self) -> str:
        return f"<torcoll.Comm {self.name}: rank {self.rank} of {self.size}{', closed' if self.closed else ''}>"

    # ---- using the handle ----

    def _enter(self, use: object) -> int:
        """Use the handle: it stays valid while _users has use.

        Context: a try statement whose finally pops the use before it calls anything else.
        """
        with self._lock:
            if self._closing or self._handle is None:
                raise Aborted(errno.ECANCELED, f"comm {self.name}: it is closed")
            self._users[use] = threading.get_ident()
            return self._handle

    def _checked(self, function: Callable[[int], Any]) -> None:
        """Call a function of the library, and raise its error."""
        use = object()
        try:
            _abi.check(function(self._enter(use)))
        finally:
            self._users.pop(use, None)

    # ---- ops ----

    def _start(self, flight: Flight) -> None:
        """Start an op. Whatever interrupts this, what the library was given stays in memory, in _pending."""
        call, use = flight.call, object()
        try:
            handle = self._enter(use)
            self._sweep()
            # others, such as an event loop, would find a request that the library does not know yet
            with flight.lock:
                self._pending[id(flight)] = flight
                error = self._submit(handle, flight)
                if error is not None:
                    del self._pending[id(flight)]
                    call.release()
                    raise error
        finally:
            self._users.pop(use, None)
        self.context._see()

    def _refusal(self, handle: int, err: int) -> Error:
        """What a call that could not begin returned, with the rank that failed the comm if it has failed."""
        sentence = _abi.last_sentence()
        info = _abi.CommInfo()
        rank = None
        if not self._lib.torcoll_comm_info(handle, ctypes.byref(info)) and info.error == err:
            rank = _abi.rank_or_none(info.error_rank)
        return error_for(err, sentence, rank)

    def _submit(self, handle: int, flight: Flight) -> Optional[Error]:
        """Start it; if forgotten ops keep it from a slot, look for one that is complete, or wait for one first.

        Return why it was refused, if it was.
        """
        nowait = flight.call.op.flags & OP_NOWAIT
        all_ended = False
        while True:
            err: int = self._lib.torcoll_submit(
                handle, ctypes.byref(flight.call.op), ctypes.byref(flight.request))
            if not err:
                return None
            # before a sweep calls the library, which then has another sentence
            error = self._refusal(handle, err)
            if err != -errno.EBUSY or not self._forgotten:
                return error
            if self._sweep(every=True):
                continue
            oldest = None if nowait else self._forgotten.oldest()
            if oldest is not None:
                # another one may end before it
                with contextlib.suppress(TimeoutError):
                    self._await(oldest, SLICE_NS / 1e9)
            elif nowait or all_ended:
                return error
            # another thread has seen that, perhaps just now
            all_ended = oldest is None

    def _request(self, call: Call, nowait: bool = False) -> "Request[Any]":
        if nowait:
            call.op.flags |= OP_NOWAIT
        flight = Flight(call)
        # if a signal's handler raises from now on, it is forgotten
        request: "Request[Any]" = Request(self, flight)
        self._start(flight)
        return request

    def _run(self, call: Call) -> Any:
        """Start an op and wait for it."""
        flight = Flight(call)
        try:
            self._start(flight)
            self._wait(flight, None)
        except BaseException:
            self._forget(flight)
            raise
        error = flight.error()
        if error is not None:
            raise error
        return flight.call.result

    def _forget(self, flight: Flight) -> None:
        """The program has dropped it: look for its end when others start. One that the library has not is no more."""
        if id(flight) in self._pending:
            self._forgotten.append(flight)

    def _wait(self, flight: Flight, timeout: Optional[float]) -> None:
        """Wait until a flight is complete; raises TimeoutError after so many seconds."""
        use = object()
        try:
            self._enter(use)
            self._await(flight, timeout)
        except Aborted:
            if flight.status is None:
                raise
        finally:
            self._users.pop(use, None)

    def _await(self, flight: Flight, timeout: Optional[float]) -> None:
        """Context: the handle is in use."""
        until = None if timeout is None else deadline(timeout)
        while flight.status is None:
            now = time.monotonic_ns()
            end = now + SLICE_NS if until is None else min(now + SLICE_NS, until)
            # another thread may be waiting, which has it as long as a slice
            got: list[bool] = []
            try:
                if take(flight.lock, got, max(end - now, 0) / 1e9) and flight.status is None:
                    status = self._lib.torcoll_wait_until(ctypes.byref(flight.request), end)
                    if status != -errno.EAGAIN:
                        self._finish(flight, status)
                    else:
                        flight.look_for_slot(self._lib)
            finally:
                if True in got:
                    flight.lock.release()
            # only now: without any time it is looked for once
            if flight.status is None and until is not None and time.monotonic_ns() >= until:
                raise TimeoutError(f"the op is not complete after {timeout} s, and continues")

    def _finish(self, flight: Flight, status: int) -> None:
        flight.finish(status)
        self._pending.pop(id(flight), None)

    def _test(self, flight: Flight) -> None:
        """Finish a flight if it is complete. A closed comm has finished all of its own."""
        use = object()
        try:
            self._enter(use)
            flight.test()
        except Aborted:
            pass
        finally:
            self._users.pop(use, None)
        if flight.status is not None:
            self._pending.pop(id(flight), None)

    def _reap(self) -> bool:
        """Finish all that are complete. Return whether any of the others may wait for a slot.

        What follows one that waits for a slot does so, too, and is not looked at.
        """
        stuck: set[Series] = set()
        unknown = False
        use = object()
        try:
            self._enter(use)
            for flight in list(self._pending.values()):
                if flight.series() in stuck:
                    continue
                flight.test()
                if flight.status is not None:
                    self._pending.pop(id(flight), None)
                    continue
                waits = flight.waits_for_slot(self._lib)
                if waits:
                    stuck.add(flight.series())
                # another thread asks about it
                unknown |= waits is None
        except Aborted:
            # it has finished all
            return False
        finally:
            self._users.pop(use, None)
        return bool(stuck) or unknown

    def _sweep(self, every: bool = False) -> bool:
        """Before ops start: drop forgotten flights that are complete, every one or those that are found at once, and
        memory that ops used. Return whether there was a flight."""
        some = bool(self._forgotten) and self._forgotten.sweep(self, every)
        if self.context._kept:
            self.context._drop_kept()
        return some

    # ---- batches and prepared calls ----

    def batch(self) -> "Batch":
        """Collect ops that start together, in one system call, at the end of a with block: see Batch."""
        from ._batch import Batch

        return Batch(self)

    def prepare(self, collective: str, *args: Any, **kwargs: Any) -> "Prepared":
        """Prepare a call that is repeated: check and encode it once, and register its buffers. See Prepared.

        The arguments are those of the method named collective, without timeout.
        """
        from ._batch import Prepared

        return Prepared(self, collective, *args, **kwargs)

    def set_algorithm(self, text: str) -> None:
        """Restrict what the module chooses from, as "allreduce:bibucket,ring;broadcast:^ring". All ranks must pass the
        same text. Raises Invalid."""
        self._checked(lambda handle: self._lib.torcoll_comm_set_algorithm(handle, text.encode()))

    # ---- groups ----

    def _group(self, name: str, make: Callable[[int, Any], Any]) -> "Optional[Comm]":
        """A comm of the library that another one makes, or None if this rank gets none."""
        comm = Comm.__new__(Comm)
        joined = _join(self.context, lambda _, out: self._make(make, out), comm, f"{self.name}/{name}")
        return comm if joined else None

    def _make(self, make: Callable[[int, Any], Any], out: Any) -> int:
        """Make a comm from this one. It may take minutes that nothing can end: close() does not wait for this."""
        own = object()
        with self._lock:
            if self._closing or self._handle is None:
                raise Aborted(errno.ECANCELED, f"comm {self.name}: it is closed")
            self._joins.add(own)
            handle = self._handle
        try:
            err: int = make(handle, out)
            return err
        finally:
            self._join_ends(own, handle)

    def _join_ends(self, own: object, handle: int) -> None:
        """The last one after the handle is gone closes the comm. May be called again."""
        with self._lock:
            self._joins.discard(own)
            last = self._closing and self._handle is None and not self._joins
        if last:
            self._shut(handle)

    def dup(self, *, timeout: Optional[float] = None) -> "Comm":
        """Duplicate the comm, for a thread or library that must not disturb the order of ops of others.

        Like split(), slice() and block(): all ranks call, in the same order relative to other ops of the comm.
        """
        comm = self._group("dup", lambda own, out: self._lib.torcoll_comm_dup(own, deadline(timeout), out))
        assert comm is not None
        return comm

    def split(self, colour: Optional[int], key: int = 0, *, timeout: Optional[float] = None) -> "Optional[Comm]":
        """Make a comm for each colour. Its ranks are ordered by key, then by their rank here.

        A rank with colour None takes part in the call and gets None.
        """
        group = COLOUR_NONE if colour is None else number("colour", colour, 0, COLOUR_NONE - 1)
        order = number("key", key, -2**31, 2**31 - 1)
        return self._group(
            "split", lambda own, out: self._lib.torcoll_comm_split(own, group, order, deadline(timeout), out))

    def slice(self, *dims: int, timeout: Optional[float] = None) -> "Comm":
        """Make a comm of the nodes whose coordinates differ from this node's in these dimensions only.

        slice(0) gives a row of a 2D torus, slice(1) a column. Raises Invalid if one of the nodes is not in this comm.
        """
        mask = 0
        for dim in dims:
            if not 0 <= dim < 32:
                raise ValueError(f"dims: {dim!r} is no dimension")
            mask |= 1 << dim
        comm = self._group(
            "slice", lambda own, out: self._lib.torcoll_comm_slice(own, mask, deadline(timeout), out))
        assert comm is not None
        return comm

    def block(self, start: Sequence[int], extent: Sequence[int], *,
              timeout: Optional[float] = None) -> "Optional[Comm]":
        """Make a comm of the block of extent nodes in each dimension from coordinates start on; it may wrap.

        Ranks outside the block call as well and get None. Raises Invalid if there is no such block.
        """
        dims = len(self.info().dims)
        if len(start) != dims or len(extent) != dims:
            raise ValueError(f"start, extent: the fabric has {dims} dimensions")
        corner, sides = _words("start", start), _words("extent", extent)
        return self._group(
            "block", lambda own, out: self._lib.torcoll_comm_block(own, corner, sides, deadline(timeout), out))

    # ---- the end ----

    def shrink(self, *, timeout: Optional[float] = None, close: bool = True) -> "Comm":
        """Continue after a failure: make a comm of the surviving ranks, in the same order, and close this one.

        Blocks until all survivors have called this; it does not wait for ranks whose host is down or cut off, or
        whose process has ended. If the comm has not failed yet, this fails it. The failed op may be complete on some
        ranks and not on others: agree on the step to continue from, for example by an allreduce with "min" of the
        last completed one. Requests of this comm are finished by closing it; with close=False it stays open, failed.

        Raises Timeout (names the missing rank, unless this one had agreed already; call again: the others wait for
        that, perhaps in the new comm), PeerFailed (the others continued without this rank), Invalid (shrunk
        before), NotSupported (several ranks on a node).
        """
        comm = self._group(
            "shrunk", lambda own, out: self._lib.torcoll_comm_shrink(own, deadline(timeout), out))
        assert comm is not None
        comm.name = self.name
        if close:
            self.close()
        return comm

    def abort(self) -> None:
        """Fail the comm, from any thread or signal handler: ops raise Aborted here, PeerFailed on the other ranks."""
        self._checked(self._lib.torcoll_abort)

    def close(self) -> None:
        """Leave the comm. Running ops are aborted, and their requests raise Aborted.

        Data sent to ranks that have not called yet still reaches them. Blocking calls of other threads raise Aborted; one
        that makes a comm of this one goes on, and the comm is aborted then, for the other ranks, too; a split() that
        still asks who goes where raises Aborted. Raises Busy within a call of the same thread, as that of a signal
        handler can be: call abort() there.
        """
        if os.getpid() != self._pid:
            # it is the parent's
            self._handle = None
            return
        own = object()
        handle = None
        gone = False
        try:
            with self._lock:
                if self._closing:
                    return
                self._check_unused_here()
                self._closing = True
                handle = self._handle
                used = bool(self._users or self._joins)
            if used:
                self._lib.torcoll_abort(handle)
                self._await_users()
            with self._lock:
                others = bool(self._joins)
                self._handle = None
                gone = True
                # this needs the handle, too
                self._joins.add(own)
            if others:
                self._await_all()
        finally:
            if gone:
                assert handle is not None
                try:
                    self._join_ends(own, handle)
                finally:
                    # what the exception of a signal's handler has ended
                    self._join_ends(own, handle)
            elif handle is not None:
                # a signal: the next call closes it
                self._closing = False

    def _check_unused_here(self) -> None:
        """Who waits for calls of other threads would wait for ever for one that it interrupts. Context: lock held."""
        if threading.get_ident() in list(self._users.values()):
            raise Busy(errno.EBUSY, f"comm {self.name}: this thread is in a call of it, for which it would wait: "
                       "abort the comm, and close it when the call has ended")

    def _await_users(self) -> None:
        """Wait until nobody uses the handle. There are no new ones, and those wait for slices."""
        while self._users:
            time.sleep(LEAVE_INTERVAL)

    def _await_all(self) -> None:
        """Wait for all ops, which were aborted. Context: the handle is in use."""
        for flight in list(self._pending.values()):
            self._await(flight, None)

    def _shut(self, handle: int) -> None:
        """Close the library's comm, which nobody uses any more. May be called again."""
        with self._ending:
            if self._ended:
                return
            if not self._left:
                self._end_ops(handle)
                # one call closes it and notes that
                self._left.extend(map(self._lib.torcoll_comm_close, (handle,)))
            self._drop_ops()
            self.context._leave(self._use)
            self._ended = True

    def _end_ops(self, handle: int) -> None:
        """Context: the library still has the comm."""
        for flight in list(self._pending.values()):
            flight.test()
        if self._prepared and any(flight.status is None for flight in self._pending.values()):
            # their memory cannot be unregistered while ops run
            self._lib.torcoll_abort(handle)
            self._await_all()
        for held in list(self._prepared):
            held.end()

    def _drop_ops(self) -> None:
        """Context: the library has it no more."""
        for flight in list(self._pending.values()):
            if flight.status is None:
                flight.finish(-errno.ECANCELED, f"comm {self.name} was closed before the op was waited for")
        self._pending.clear()
        self._forgotten.clear()
        self.context._drop_kept()

    def __enter__(self) -> "Comm":
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        if error is not None and not self.closed and os.getpid() == self._pid:
            with contextlib.suppress(OSError):
                self.abort()
        self.close()

    def __del__(self) -> None:
        # at the end of the process the module knows how it ended, and tells the other ranks
        if getattr(self, "_handle", None) is None or os.getpid() != self._pid or sys.is_finalizing():
            return
        try:
            warnings.warn(f"comm {self.name} was not closed", ResourceWarning, source=self)
        finally:
            # warnings may be exceptions
            self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a comm is of its process: join one in each")


def _words(what: str, values: Sequence[int]) -> "ctypes.Array[ctypes.c_uint32]":
    """Numbers for the library."""
    return (ctypes.c_uint32 * len(values))(*(number(what, value, 0, 2**32 - 1) for value in values))


def _join(context: Context, make: Callable[[int, Any], Any], comm: Comm, name: str) -> bool:
    """Execute a call that makes a comm, which a signal handler may end, and let the comm own it. False: it made none.

    The context is used until the comm is closed, so that whoever closes the context meanwhile does not free the comm.
    """

    def call() -> bool:
        out = ctypes.c_void_p()
        use = object()
        try:
            _abi.check(make(context._enter(use), ctypes.byref(out)))
        finally:
            if not out.value:
                context._leave(use)
        if out.value:
            comm._adopt(context, use, out.value, name)
        return bool(out.value)

    def undo(joined: bool) -> None:
        if joined:
            comm.close()

    return interruptible(call, undo)
