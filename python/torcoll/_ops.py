# SPDX-License-Identifier: MIT
"""Calls: what a collective is called with, as the library's struct torcoll_op.

A function for each collective checks the arguments that Python can check and fills in the struct. Lengths are counted
in elements; "own block" is the calling rank's part of a vector, as Comm.block_of() has it.
"""

import ctypes
import operator
import struct
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Optional

from . import _abi
from ._buffers import View
from ._names import ALGORITHMS, BITS, PARAMS, REDOPS, TYPE_SIZE, Collective, Param, Redop, Type, lookup, name_of


COUNT_MAX = 2**63 - 1


class Options(NamedTuple):
    """What every op can be given."""

    dtype: Optional[str] = None
    algorithm: Optional[str] = None
    bits: Optional[str] = None
    timeout: Optional[float] = None
    params: Optional[Mapping[str, int]] = None


class Place(NamedTuple):
    """The rank whose call it is."""

    rank: int
    size: int


class Call:
    """An op with all that has to stay in memory until it is complete. result is what its caller gets back.

    timeout is its time, which begins with it; whoever starts it later calls begin() again.
    """

    __slots__ = ("op", "views", "keep", "result", "timeout")

    def __init__(self, collective: Collective) -> None:
        self.op = _abi.Op(collective=collective)
        self.views: list[View] = []
        self.keep: list[Any] = []
        self.result: Any = None
        self.timeout: Optional[float] = None

    def begin(self) -> None:
        """Let its time begin now."""
        self.op.deadline_ns = deadline(self.timeout)

    def view(self, obj: Any, what: str, *, write: bool) -> View:
        """Hold a buffer."""
        view = View(obj, what)
        self.views.append(view)
        if write:
            view.writable(what)
        return view

    def release(self) -> None:
        """Give all buffers back. The result stays with the caller."""
        for view in self.views:
            view.release()
        self.views.clear()
        self.keep.clear()


def seconds(timeout: float) -> float:
    """A timeout as it was given, if that is a number."""
    try:
        return timeout + 0.0
    except TypeError:
        raise TypeError(f"timeout: {timeout!r} is no number of seconds: give an int or a float, or None") from None


def deadline(timeout: Optional[float]) -> int:
    """A deadline of the library, so many seconds from now; None: none."""
    if timeout is None:
        return 0
    if not seconds(timeout) >= 0:
        raise ValueError(f"timeout: {timeout!r} is no number of seconds from 0 on")
    # an infinite one, too
    return max(1, time.monotonic_ns() + int(min(timeout * 1e9, 1 << 62)))


def number(what: str, value: int, low: int, high: int) -> int:
    """An integer that has a place in the library's struct: ctypes would make another one of what is too large."""
    try:
        integer = operator.index(value)
    except TypeError:
        raise TypeError(f"{what}: {value!r} is no integer") from None
    if not low <= integer <= high:
        raise ValueError(f"{what}: {value!r} is no number from {low} to {high}")
    return integer


def block(count: int, rank: int, size: int) -> tuple[int, int]:
    """Offset and length of a rank's block of an even split."""
    share, more = divmod(count, size)
    return rank * share + min(rank, more), share + (rank < more)


def _rank(place: Place, rank: int, what: str) -> int:
    if not 0 <= rank < place.size:
        raise ValueError(f"{what}: {rank!r} is no rank: the comm has ranks 0 to {place.size - 1}")
    return rank


def _counts(call: Call, counts: Sequence[int], place: Place, what: str) -> list[int]:
    """Lengths of blocks, one for each rank."""
    lengths = [int(count) for count in counts]
    if len(lengths) != place.size:
        raise ValueError(f"{what}: {len(lengths)} lengths of blocks for {place.size} ranks")
    if min(lengths) < 0:
        raise ValueError(f"{what}: a block of {min(lengths)} elements")
    if sum(lengths) > COUNT_MAX:
        raise ValueError(f"{what}: {sum(lengths)} elements are more than there can be")
    return lengths


def _keep_counts(call: Call, lengths: Sequence[int]) -> int:
    """Keep lengths in memory for the library. Return their address."""
    array = (ctypes.c_uint64 * len(lengths))(*lengths)
    call.keep.append(array)
    return ctypes.addressof(array)


def _options(call: Call, options: Options) -> None:
    op = call.op
    if options.algorithm is not None:
        op.algorithm = lookup(ALGORITHMS, options.algorithm, "algorithm")
    if options.bits is not None:
        op.bits = lookup(BITS, options.bits, "bits")
    call.timeout = options.timeout
    call.begin()
    if options.params:
        for name, value in options.params.items():
            param = lookup(PARAMS, name, "params")
            if not 0 <= value < 0xFFFFFFFF:
                raise ValueError(f"params: {name!r}: {value!r} is no number from 0 to {0xFFFFFFFE}")
            # 0 is the default; of r, 0 is a value
            op.param[param] = value + (param == Param.R)


_SCALARS = {
    Type.I8: "b", Type.I16: "h", Type.I32: "i", Type.I64: "q", Type.U8: "B", Type.U16: "H", Type.U32: "I",
    Type.U64: "Q", Type.F16: "e", Type.F32: "f", Type.F64: "d",
}


def _bf16(value: float) -> bytes:
    """The nearest bfloat16, ties to even."""
    bits: int = struct.unpack("=I", struct.pack("=f", value))[0]
    if value == value:
        bits += 0x7FFF + (bits >> 16 & 1)
    return struct.pack("=H", bits >> 16 & 0xFFFF)


def _scale(call: Call, redop: Redop, scale: Optional[float], kind: Type) -> None:
    """The factor of premulsum, as an element."""
    if (scale is None) == (redop == Redop.PREMULSUM):
        raise ValueError(f"scale: the factor of premulsum, and of no other operator: {name_of(redop)} with {scale!r}")
    if scale is None:
        return
    try:
        element = _bf16(scale) if kind == Type.BF16 else struct.pack("=" + _SCALARS[kind], scale)
    except (struct.error, OverflowError) as e:
        raise ValueError(f"scale: {scale!r} as {name_of(kind)}: {e}") from None
    scalar = ctypes.create_string_buffer(element, len(element))
    call.keep.append(scalar)
    call.op.scalar = ctypes.addressof(scalar)


def _redop(op: str) -> Redop:
    redop = lookup(REDOPS, op, "op")
    if redop == Redop.NONE:
        raise ValueError("op: none is no operator")
    return redop


class _Vector:
    """The buffers of a call, of one element type."""

    def __init__(self, call: Call, options: Options, redop: Redop = Redop.NONE) -> None:
        self.call = call
        self.dtype = options.dtype
        self.redop = redop
        self.type = Type.NONE
        self.first = ""

    def hold(self, obj: Any, what: str, *, write: bool) -> tuple[int, int]:
        """Address and number of elements. All buffers have the type of the first."""
        view = self.call.view(obj, what, write=write)
        kind = view.element_type(self.dtype, self.redop, what)
        if self.type == Type.NONE:
            self.type, self.first = kind, what
            self.call.op.type = kind
        elif kind != self.type:
            raise TypeError(
                f"{what}: its elements are {name_of(kind)}, those of {self.first} {name_of(self.type)}: pass buffers "
                "of one type, or name it with dtype=")
        return view.address, view.nbytes // TYPE_SIZE[kind]


def _expect(what: str, got: int, wanted: int, why: str) -> None:
    if got != wanted:
        raise ValueError(f"{what}: {got} elements, {wanted} are needed: {why}")


def _reducing(call: Call, op: str, scale: Optional[float], vector: _Vector) -> None:
    call.op.redop = vector.redop
    if scale is not None or vector.redop == Redop.PREMULSUM:
        _scale(call, vector.redop, scale, vector.type)


def _whole(place: Place, collective: Collective, send: Any, out: Any, op: Optional[str], scale: Optional[float],
           options: Options) -> Call:
    """Collectives with vectors of one length on both sides."""
    call = Call(collective)
    vector = _Vector(call, options, Redop.NONE if op is None else _redop(op))
    in_place = out is None
    call.op.send, count = vector.hold(send, "send", write=in_place)
    call.op.recv, call.op.count = call.op.send, count
    if not in_place:
        call.op.recv, got = vector.hold(out, "out", write=True)
        _expect("out", got, count, "as many as in send")
    if op is not None:
        _reducing(call, op, scale, vector)
    _options(call, options)
    call.result = send if in_place else out
    return call


def allreduce(place: Place, send: Any, out: Any = None, op: str = "sum", *, scale: Optional[float] = None,
              options: Options = Options()) -> Call:
    return _whole(place, Collective.ALLREDUCE, send, out, op, scale, options)


def scan(place: Place, send: Any, out: Any = None, op: str = "sum", *, scale: Optional[float] = None,
         options: Options = Options()) -> Call:
    return _whole(place, Collective.SCAN, send, out, op, scale, options)


def exscan(place: Place, send: Any, out: Any = None, op: str = "sum", *, scale: Optional[float] = None,
           options: Options = Options()) -> Call:
    return _whole(place, Collective.EXSCAN, send, out, op, scale, options)


def halo(place: Place, send: Any, out: Any = None, *, options: Options = Options()) -> Call:
    return _whole(place, Collective.HALO, send, out, None, None, options)


def reduce(place: Place, send: Any, out: Any = None, op: str = "sum", root: int = 0, *,
           scale: Optional[float] = None, options: Options = Options()) -> Call:
    call = Call(Collective.REDUCE)
    call.op.root = _rank(place, root, "root")
    vector = _Vector(call, options, _redop(op))
    at_root = place.rank == root
    call.op.send, count = vector.hold(send, "send", write=at_root and out is None)
    call.op.count = count
    if at_root and out is None:
        call.op.recv, call.result = call.op.send, send
    elif at_root:
        call.op.recv, got = vector.hold(out, "out", write=True)
        _expect("out", got, count, "as many as in send")
        call.result = out
    _reducing(call, op, scale, vector)
    _options(call, options)
    return call


def broadcast(place: Place, buffer: Any, root: int = 0, *, options: Options = Options()) -> Call:
    call = Call(Collective.BROADCAST)
    call.op.root = _rank(place, root, "root")
    vector = _Vector(call, options)
    call.op.send, call.op.count = vector.hold(buffer, "buffer", write=place.rank != root)
    call.op.recv = call.op.send
    _options(call, options)
    call.result = buffer
    return call


def _own(call: Call, place: Place, counts: Optional[Sequence[int]], count: int, what: str) -> tuple[int, int]:
    """Offset and length of the own block of a vector of so many elements, of the buffer called what."""
    if counts is None:
        return block(count, place.rank, place.size)
    lengths = _counts(call, counts, place, "counts")
    _expect(what, count, sum(lengths), "the sum of counts")
    call.op.counts = _keep_counts(call, lengths)
    return sum(lengths[:place.rank]), lengths[place.rank]


def reduce_scatter(place: Place, send: Any, out: Any = None, op: str = "sum", *,
                   counts: Optional[Sequence[int]] = None, scale: Optional[float] = None,
                   options: Options = Options()) -> Call:
    call = Call(Collective.REDUCE_SCATTER)
    vector = _Vector(call, options, _redop(op))
    call.op.send, count = vector.hold(send, "send", write=out is None)
    call.op.count = count
    offset, length = _own(call, place, counts, count, "send")
    if out is None:
        call.op.recv = (call.op.send or 0) + offset * TYPE_SIZE[vector.type]
    else:
        call.op.recv, got = vector.hold(out, "out", write=True)
        _expect("out", got, length, f"the block of rank {place.rank} of {count}")
    _reducing(call, op, scale, vector)
    _options(call, options)
    call.result = send if out is None else out
    return call


def _collect(call: Call, vector: _Vector, place: Place, send: Any, out: Any, counts: Optional[Sequence[int]]) -> None:
    """The buffers of a rank to which the blocks of all ranks come."""
    call.op.recv, count = vector.hold(out, "out", write=True)
    call.op.count = count
    offset, length = _own(call, place, counts, count, "out")
    if send is None:
        call.op.send = (call.op.recv or 0) + offset * TYPE_SIZE[vector.type]
    else:
        call.op.send, got = vector.hold(send, "send", write=False)
        _expect("send", got, length, f"the block of rank {place.rank} of {count}")
    call.result = out


def _part(call: Call, vector: _Vector, place: Place, got: int, counts: Optional[Sequence[int]], count: Optional[int],
          what: str) -> None:
    """The length of the whole vector, where a rank has its block alone."""
    if count is not None:
        count = number("count", count, 0, COUNT_MAX)
    elif counts is not None:
        count = sum(counts)
    else:
        count = got * place.size
    call.op.count = count
    length = _own(call, place, counts, count, "count")[1]
    _expect(what, got, length, f"the block of rank {place.rank} of {count}; count= says how long the whole vector is")


def allgather(place: Place, send: Any, out: Any, *, counts: Optional[Sequence[int]] = None,
              options: Options = Options()) -> Call:
    call = Call(Collective.ALLGATHER)
    _collect(call, _Vector(call, options), place, send, out, counts)
    _options(call, options)
    return call


def gather(place: Place, send: Any, out: Any = None, root: int = 0, *, counts: Optional[Sequence[int]] = None,
           count: Optional[int] = None, options: Options = Options()) -> Call:
    call = Call(Collective.GATHER)
    call.op.root = _rank(place, root, "root")
    vector = _Vector(call, options)
    if place.rank == root:
        if out is None:
            raise ValueError("out: the root needs a buffer for the blocks of all ranks")
        _collect(call, vector, place, send, out, counts)
        if count is not None:
            _expect("out", call.op.count, count, "count")
    else:
        call.op.send, got = vector.hold(send, "send", write=False)
        _part(call, vector, place, got, counts, count, "send")
    _options(call, options)
    return call


def scatter(place: Place, send: Any, out: Any = None, root: int = 0, *, counts: Optional[Sequence[int]] = None,
            count: Optional[int] = None, options: Options = Options()) -> Call:
    call = Call(Collective.SCATTER)
    call.op.root = _rank(place, root, "root")
    vector = _Vector(call, options)
    if place.rank != root:
        call.op.recv, got = vector.hold(out, "out", write=True)
        _part(call, vector, place, got, counts, count, "out")
        call.result = out
        _options(call, options)
        return call
    call.op.send, whole = vector.hold(send, "send", write=False)
    call.op.count = whole
    if count is not None:
        _expect("send", whole, count, "count")
    offset, length = _own(call, place, counts, whole, "send")
    if out is None:
        call.op.recv = (call.op.send or 0) + offset * TYPE_SIZE[vector.type]
    else:
        call.op.recv, got = vector.hold(out, "out", write=True)
        _expect("out", got, length, f"the block of rank {place.rank} of {whole}")
    call.result = send if out is None else out
    _options(call, options)
    return call


def alltoall(place: Place, send: Any, out: Any = None, *, send_counts: Optional[Sequence[int]] = None,
             recv_counts: Optional[Sequence[int]] = None, options: Options = Options()) -> Call:
    if send_counts is None and recv_counts is None:
        call = _whole(place, Collective.ALLTOALL, send, out, None, None, options)
        if call.op.count % place.size:
            raise ValueError(
                f"send: {call.op.count} elements are no multiple of {place.size} ranks: pass send_counts= and "
                "recv_counts=")
        return call
    if send_counts is None or recv_counts is None:
        raise ValueError("send_counts, recv_counts: pass both or neither")
    call = Call(Collective.ALLTOALL)
    vector = _Vector(call, options)
    to_send = _counts(call, send_counts, place, "send_counts")
    to_recv = _counts(call, recv_counts, place, "recv_counts")
    call.op.send, sent = vector.hold(send, "send", write=out is None)
    _expect("send", sent, sum(to_send), "the sum of send_counts")
    call.op.recv, got = call.op.send, sent
    if out is not None:
        call.op.recv, got = vector.hold(out, "out", write=True)
    _expect("out", got, sum(to_recv), "the sum of recv_counts")
    call.op.count = got
    call.op.counts = _keep_counts(call, to_send)
    call.op.recv_counts = _keep_counts(call, to_recv)
    call.result = send if out is None else out
    _options(call, options)
    return call


def barrier(place: Place, *, options: Options = Options()) -> Call:
    call = Call(Collective.BARRIER)
    _options(call, options)
    return call


def send(place: Place, buffer: Any, to: int, *, options: Options = Options()) -> Call:
    call = Call(Collective.SEND)
    call.op.peer = _rank(place, to, "to")
    call.op.send, call.op.count = _Vector(call, options).hold(buffer, "buffer", write=False)
    _options(call, options)
    return call


def recv(place: Place, buffer: Any, source: int, *, options: Options = Options()) -> Call:
    call = Call(Collective.RECV)
    call.op.peer = _rank(place, source, "source")
    call.op.recv, call.op.count = _Vector(call, options).hold(buffer, "buffer", write=True)
    _options(call, options)
    call.result = buffer
    return call


DESCRIBE: dict[str, Callable[..., Call]] = {
    "allreduce": allreduce, "reduce-scatter": reduce_scatter, "allgather": allgather, "broadcast": broadcast,
    "reduce": reduce, "barrier": barrier, "gather": gather, "scatter": scatter, "alltoall": alltoall, "scan": scan,
    "exscan": exscan, "halo": halo, "send": send, "recv": recv,
}


def describe(place: Place, collective: str, *args: Any, dtype: Optional[str] = None,
             algorithm: Optional[str] = None, bits: Optional[str] = None, timeout: Optional[float] = None,
             params: Optional[Mapping[str, int]] = None, **kwargs: Any) -> Call:
    """The call of a collective by its name, with the arguments of the method of Comm of that name."""
    name = collective.replace("_", "-")
    if name not in DESCRIBE:
        raise ValueError(f"collective: {collective!r} is not known: pass one of {', '.join(DESCRIBE)}")
    return DESCRIBE[name](place, *args, options=Options(dtype, algorithm, bits, timeout, params), **kwargs)
