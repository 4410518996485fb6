# SPDX-License-Identifier: MIT
"""The collectives and messages of a comm: each in a blocking and in a non-blocking form."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Optional

from . import _ops
from ._ops import Call, Options, Place

if TYPE_CHECKING:
    from ._requests import Request


class Collectives:
    """What a comm can be called for.

    Buffers are NumPy arrays, array.array, bytearray, memoryview, anything else with the buffer protocol, or tensors
    in host memory with DLPack (torch). They are used where they are, so they must be C-contiguous, and writable where
    a result goes: ValueError otherwise, also for lengths that do not match. TypeError: elements of a type that
    torcoll has not, or of different types in one call.

    Arguments of all:

    op          sum, prod, min, max, avg, band, bor, bxor, land, lor, lxor, minloc, maxloc, premulsum (with scale, the
                factor)
    dtype       the type of the elements, if it is not that of the buffer: f16 or bf16 on 16-bit integers, any on bytes
    algorithm   by name ("ring", "bibucket", ...: torcoll-plan --list), all ranks the same; None: the module chooses
    bits        agree (the default: the same bits on all ranks), ordered (those of the sequential result in rank order),
                relaxed (no guarantee)
    timeout     seconds, after which the op fails with Timeout on the rank that waited, and with PeerFailed on others
    params      parameters of the algorithm: channels, chunks, ...; r is the number that torcoll-plan prints

    Non-blocking forms, named i..., start the op and return a Request. Any number can be started: those beyond the
    depth of the comm wait in the library, and start as slots become free while the program waits for, awaits or tests
    others; with nowait they raise Busy instead.

    Raises PeerFailed, Mismatch, Timeout, Aborted, FabricDeleted: the comm has failed then. NotSupported, Invalid,
    LimitReached and others mean that the op was refused, and no data was sent; a Request that raises them was refused
    when its turn came, and the comm has failed then; so has it if a call raises them that had to wait for earlier ops
    or was done in part.
    """

    _place: Place

    def _run(self, call: Call) -> Any:
        raise NotImplementedError

    def _request(self, call: Call, nowait: bool = False) -> "Request[Any]":
        raise NotImplementedError

    def allreduce(self, send: Any, out: Any = None, op: str = "sum", *, scale: Optional[float] = None,
                  dtype: Optional[str] = None, algorithm: Optional[str] = None, bits: Optional[str] = None,
                  timeout: Optional[float] = None, params: Optional[Mapping[str, int]] = None) -> Any:
        """Reduce over all ranks; all ranks get the same bits.

        send and out have n elements on every rank. Without out the result goes to send. Returns the buffer of the
        result.
        """
        return self._run(_ops.allreduce(self._place, send, out, op, scale=scale,
                                        options=Options(dtype, algorithm, bits, timeout, params)))

    def iallreduce(self, send: Any, out: Any = None, op: str = "sum", *, scale: Optional[float] = None,
                   dtype: Optional[str] = None, algorithm: Optional[str] = None, bits: Optional[str] = None,
                   timeout: Optional[float] = None, params: Optional[Mapping[str, int]] = None,
                   nowait: bool = False) -> "Request[Any]":
        """Start an allreduce() and return a Request for it."""
        return self._request(_ops.allreduce(self._place, send, out, op, scale=scale,
                                            options=Options(dtype, algorithm, bits, timeout, params)), nowait)

    def reduce_scatter(self, send: Any, out: Any = None, op: str = "sum", *, counts: Optional[Sequence[int]] = None,
                       scale: Optional[float] = None, dtype: Optional[str] = None, algorithm: Optional[str] = None,
                       bits: Optional[str] = None, timeout: Optional[float] = None,
                       params: Optional[Mapping[str, int]] = None) -> Any:
        """Reduce over all ranks; each rank gets its block of the result.

        send has n elements, out the own block: n / size, one more on ranks below n % size, or counts[rank] of blocks
        of any length (counts is the same on all ranks, its sum is n). Without out the result goes to the own block of
        send, send[comm.block_of(n)], and the rest of send is undefined afterwards. Returns the buffer of the result.
        """
        return self._run(_ops.reduce_scatter(self._place, send, out, op, counts=counts, scale=scale,
                                             options=Options(dtype, algorithm, bits, timeout, params)))

    def ireduce_scatter(self, send: Any, out: Any = None, op: str = "sum", *, counts: Optional[Sequence[int]] = None,
                        scale: Optional[float] = None, dtype: Optional[str] = None, algorithm: Optional[str] = None,
                        bits: Optional[str] = None, timeout: Optional[float] = None,
                        params: Optional[Mapping[str, int]] = None, nowait: bool = False) -> "Request[Any]":
        """Start a reduce_scatter() and return a Request for it."""
        return self._request(_ops.reduce_scatter(self._place, send, out, op, counts=counts, scale=scale,
                                                 options=Options(dtype, algorithm, bits, timeout, params)), nowait)

    def allgather(self, send: Any, out: Any, *, counts: Optional[Sequence[int]] = None, dtype: Optional[str] = None,
                  algorithm: Optional[str] = None, bits: Optional[str] = None, timeout: Optional[float] = None,
                  params: Optional[Mapping[str, int]] = None) -> Any:
        """Gather the blocks of all ranks on all ranks, in rank order.

        out has n elements, send the own block: n / size, one more on ranks below n % size, or counts[rank] of blocks of
        any length. With send None the own block is in out already. Returns out.
        """
        return self._run(_ops.allgather(self._place, send, out, counts=counts,
                                        options=Options(dtype, algorithm, bits, timeout, params)))

    def iallgather(self, send: Any, out: Any, *, counts: Optional[Sequence[int]] = None, dtype: Optional[str] = None,
                   algorithm: Optional[str] = None, bits: Optional[str] = None, timeout: Optional[float] = None,
                   params: Optional[Mapping[str, int]] = None, nowait: bool = False) -> "Request[Any]":
        """Start an allgather() and return a Request for it."""
        return self._request(_ops.allgather(self._place, send, out, counts=counts,
                                            options=Options(dtype, algorithm, bits, timeout, params)), nowait)

    def broadcast(self, buffer: Any, root: int = 0, *, dtype: Optional[str] = None, algorithm: Optional[str] = None,
                  bits: Optional[str] = None, timeout: Optional[float] = None,
                  params: Optional[Mapping[str, int]] = None) -> Any:
        """Copy the n elements of rank root to the buffer of all other ranks. Returns buffer."""
        return self._run(_ops.broadcast(self._place, buffer, root,
                                        options=Options(dtype, algorithm, bits, timeout, params)))

    def ibroadcast(self, buffer: Any, root: int = 0, *, dtype: Optional[str] = None, algorithm: Optional[str] = None,
                   bits: Optional[str] = None, timeout: Optional[float] = None,
                   params: Optional[Mapping[str, int]] = None, nowait: bool = False) -> "Request[Any]":
        """Start a broadcast() and return a Request for it."""
        return self._request(_ops.broadcast(self._place, buffer, root,
                                            options=Options(dtype, algorithm, bits, timeout, params)), nowait)

    def reduce(self, send: Any, out: Any = None, op: str = "sum", root: int = 0, *, scale: Optional[float] = None,
               dtype: Optional[str] = None, algorithm: Optional[str] = None, bits: Optional[str] = None,
               timeout: Optional[float] = None, params: Optional[Mapping[str, int]] = None) -> Any:
        """Reduce over all ranks; rank root gets the result.

        send has n elements on every rank, out as many at the root; without it the result goes to the root's send. Other
        ranks ignore out. Returns the buffer of the result, None on other ranks.
        """
        return self._run(_ops.reduce(self._place, send, out, op, root, scale=scale,
                                     options=Options(dtype, algorithm, bits, timeout, params)))

    def ireduce(self, send: Any, out: Any = None, op: str = "sum", root: int = 0, *, scale: Optional[float] = None,
                dtype: Optional[str] = None, algorithm: Optional[str] = None, bits: Optional[str] = None,
                timeout: Optional[float] = None, params: Optional[Mapping[str, int]] = None,
                nowait: bool = False) -> "Request[Any]":
        """Start a reduce() and return a Request for it."""
        return self._request(_ops.reduce(self._place, send, out, op, root, scale=scale,
                                         options=Options(dtype, algorithm, bits, timeout, params)), nowait)

    def gather(self, send: Any, out: Any = None, root: int = 0, *, counts: Optional[Sequence[int]] = None,
               count: Optional[int] = None, dtype: Optional[str] = None, algorithm: Optional[str] = None,
               bits: Optional[str] = None, timeout: Optional[float] = None, params: Optional[Mapping[str,
               int]] = None) -> Any:
        """Gather the blocks of all ranks at rank root, in rank order.

        At the root out has n elements, send the own block (None: it is in out already). Other ranks ignore out; if n
        is no multiple of size they must pass it as count, or the lengths of all blocks as counts. Returns out, None
        on other ranks.
        """
        return self._run(_ops.gather(self._place, send, out, root, counts=counts, count=count,
                                     options=Options(dtype, algorithm, bits, timeout, params)))

    def igather(self, send: Any, out: Any = None, root: int = 0, *, counts: Optional[Sequence[int]] = None,
                count: Optional[int] = None, dtype: Optional[str] = None, algorithm: Optional[str] = None,
                bits: Optional[str] = None, timeout: Optional[float] = None,
                params: Optional[Mapping[str, int]] = None, nowait: bool = False) -> "Request[Any]":
        """Start a gather() and return a Request for it."""
        return self._request(_ops.gather(self._place, send, out, root, counts=counts, count=count,
                                         options=Options(dtype, algorithm, bits, timeout, params)), nowait)

    def scatter(self, send: Any, out: Any = None, root: int = 0, *, counts: Optional[Sequence[int]] = None,
                count: Optional[int] = None, dtype: Optional[str] = None, algorithm: Optional[str] = None,
                bits: Optional[str] = None, timeout: Optional[float] = None,
                params: Optional[Mapping[str, int]] = None) -> Any:
        """Distribute the blocks of rank root: each rank gets its own.

        At the root send has n elements, out the own block (None: it stays in send). Other ranks ignore send; if n is no
        multiple of size they must pass it as count, or the lengths of all blocks as counts. Returns the buffer of the
        result.
        """
        return self._run(_ops.scatter(self._place, send, out, root, counts=counts, count=count,
                                      options=Options(dtype, algorithm, bits, timeout, params)))

    def iscatter(self, send: Any, out: Any = None, root: int = 0, *, counts: Optional[Sequence[int]] = None,
                 count: Optional[int] = None, dtype: Optional[str] = None, algorithm: Optional[str] = None,
                 bits: Optional[str] = None, timeout: Optional[float] = None,
                 params: Optional[Mapping[str, int]] = None, nowait: bool = False) -> "Request[Any]":
        """Start a scatter() and return a Request for it."""
        return self._request(_ops.scatter(self._place, send, out, root, counts=counts, count=count,
                                          options=Options(dtype, algorithm, bits, timeout, params)), nowait)

    def alltoall(self, send: Any, out: Any = None, *, send_counts: Optional[Sequence[int]] = None,
                 recv_counts: Optional[Sequence[int]] = None, dtype: Optional[str] = None,
                 algorithm: Optional[str] = None, bits: Optional[str] = None, timeout: Optional[float] = None,
                 params: Optional[Mapping[str, int]] = None) -> Any:
        """Send each rank a block, and collect those from all ranks, both in rank order.

        send and out have n elements, a multiple of size; or, with blocks of any length, send_counts[i] elements go to
        rank i and recv_counts[i] come from it. Without out the result goes to send. Returns the buffer of the result.
        """
        return self._run(_ops.alltoall(self._place, send, out, send_counts=send_counts, recv_counts=recv_counts,
                                       options=Options(dtype, algorithm, bits, timeout, params)))

    def ialltoall(self, send: Any, out: Any = None, *, send_counts: Optional[Sequence[int]] = None,
                  recv_counts: Optional[Sequence[int]] = None, dtype: Optional[str] = None,
                  algorithm: Optional[str] = None, bits: Optional[str] = None, timeout: Optional[float] = None,
                  params: Optional[Mapping[str, int]] = None, nowait: bool = False) -> "Request[Any]":
        """Start an alltoall() and return a Request for it."""
        return self._request(_ops.alltoall(self._place, send, out, send_counts=send_counts, recv_counts=recv_counts,
                                           options=Options(dtype, algorithm, bits, timeout, params)), nowait)

    def halo(self, send: Any, out: Any = None, *, dtype: Optional[str] = None, algorithm: Optional[str] = None,
             bits: Optional[str] = None, timeout: Optional[float] = None, params: Optional[Mapping[str,
             int]] = None) -> Any:
        """Exchange blocks with the neighbours on the torus that the ranks form, or on a ring if they form none.

        send and out have a block for each neighbour: down, then up, along each dimension longer than 1. Without out the
        result goes to send. Returns the buffer of the result.
        """
        return self._run(_ops.halo(self._place, send, out, options=Options(dtype, algorithm, bits, timeout, params)))

    def ihalo(self, send: Any, out: Any = None, *, dtype: Optional[str] = None, algorithm: Optional[str] = None,
              bits: Optional[str] = None, timeout: Optional[float] = None, params: Optional[Mapping[str, int]] = None,
              nowait: bool = False) -> "Request[Any]":
        """Start a halo() and return a Request for it."""
        return self._request(_ops.halo(self._place, send, out,
                                       options=Options(dtype, algorithm, bits, timeout, params)), nowait)

    def scan(self, send: Any, out: Any = None, op: str = "sum", *, scale: Optional[float] = None,
             dtype: Optional[str] = None, algorithm: Optional[str] = None, bits: Optional[str] = None,
             timeout: Optional[float] = None, params: Optional[Mapping[str, int]] = None) -> Any:
        """Reduce over the ranks up to and including this one, in rank order.

        send and out have n elements. Without out the result goes to send. Returns the buffer of the result.
        """
        return self._run(_ops.scan(self._place, send, out, op, scale=scale,
                                   options=Options(dtype, algorithm, bits, timeout, params)))

    def iscan(self, send: Any, out: Any = None, op: str = "sum", *, scale: Optional[float] = None,
              dtype: Optional[str] = None, algorithm: Optional[str] = None, bits: Optional[str] = None,
              timeout: Optional[float] = None, params: Optional[Mapping[str, int]] = None,
              nowait: bool = False) -> "Request[Any]":
        """Start a scan() and return a Request for it."""
        return self._request(_ops.scan(self._place, send, out, op, scale=scale,
                                       options=Options(dtype, algorithm, bits, timeout, params)), nowait)

    def exscan(self, send: Any, out: Any = None, op: str = "sum", *, scale: Optional[float] = None,
               dtype: Optional[str] = None, algorithm: Optional[str] = None, bits: Optional[str] = None,
               timeout: Optional[float] = None, params: Optional[Mapping[str, int]] = None) -> Any:
        """Reduce over the ranks before this one. On rank 0 the result is undefined. Otherwise as scan()."""
        return self._run(_ops.exscan(self._place, send, out, op, scale=scale,
                                     options=Options(dtype, algorithm, bits, timeout, params)))

    def iexscan(self, send: Any, out: Any = None, op: str = "sum", *, scale: Optional[float] = None,
                dtype: Optional[str] = None, algorithm: Optional[str] = None, bits: Optional[str] = None,
                timeout: Optional[float] = None, params: Optional[Mapping[str, int]] = None,
                nowait: bool = False) -> "Request[Any]":
        """Start an exscan() and return a Request for it."""
        return self._request(_ops.exscan(self._place, send, out, op, scale=scale,
                                         options=Options(dtype, algorithm, bits, timeout, params)), nowait)

    def barrier(self, *, algorithm: Optional[str] = None, bits: Optional[str] = None, timeout: Optional[float] = None,
                params: Optional[Mapping[str, int]] = None) -> None:
        """Wait until all ranks have called the barrier."""
        self._run(_ops.barrier(self._place, options=Options(None, algorithm, bits, timeout, params)))

    def ibarrier(self, *, algorithm: Optional[str] = None, bits: Optional[str] = None,
                 timeout: Optional[float] = None, params: Optional[Mapping[str, int]] = None,
                 nowait: bool = False) -> "Request[Any]":
        """Start a barrier() and return a Request for it."""
        return self._request(_ops.barrier(self._place,
                                          options=Options(None, algorithm, bits, timeout, params)), nowait)

    def send(self, buffer: Any, to: int, *, dtype: Optional[str] = None, algorithm: Optional[str] = None,
             bits: Optional[str] = None, timeout: Optional[float] = None, params: Optional[Mapping[str,
             int]] = None) -> None:
        """Send the n elements of buffer to rank to, which receives them with the same count and type.

        Messages from one rank to another arrive in their order. Returns when buffer can be used again, which can be
        before the receiver has called. Ranks that send to each other before they receive must use isend().
        """
        self._run(_ops.send(self._place, buffer, to, options=Options(dtype, algorithm, bits, timeout, params)))

    def isend(self, buffer: Any, to: int, *, dtype: Optional[str] = None, algorithm: Optional[str] = None,
              bits: Optional[str] = None, timeout: Optional[float] = None, params: Optional[Mapping[str, int]] = None,
              nowait: bool = False) -> "Request[Any]":
        """Start a send() and return a Request for it."""
        return self._request(_ops.send(self._place, buffer, to,
                                       options=Options(dtype, algorithm, bits, timeout, params)), nowait)

    def recv(self, buffer: Any, source: int, *, dtype: Optional[str] = None, algorithm: Optional[str] = None,
             bits: Optional[str] = None, timeout: Optional[float] = None, params: Optional[Mapping[str,
             int]] = None) -> Any:
        """Receive n elements from rank source into buffer. Returns buffer."""
        return self._run(_ops.recv(self._place, buffer, source,
                                   options=Options(dtype, algorithm, bits, timeout, params)))

    def irecv(self, buffer: Any, source: int, *, dtype: Optional[str] = None, algorithm: Optional[str] = None,
              bits: Optional[str] = None, timeout: Optional[float] = None, params: Optional[Mapping[str, int]] = None,
              nowait: bool = False) -> "Request[Any]":
        """Start a recv() and return a Request for it."""
        return self._request(_ops.recv(self._place, buffer, source,
                                       options=Options(dtype, algorithm, bits, timeout, params)), nowait)
