# SPDX-License-Identifier: GPL-2.0
"""What each collective passes to the module, and which lengths it refuses."""

import datetime
import re
import struct
import time
from typing import Any

import numpy
import pytest

import torcoll
from conftest import Fake
from torcoll._names import Algorithm, Bits, Collective, Redop, Type
from torcoll._ops import _bf16

FILLED = b"\x2a"


def zeros(n: int) -> Any:
    return numpy.zeros(n, dtype="u1")


def addresses(fake: Fake) -> tuple[int, int]:
    return fake.last.send_addr, fake.last.recv_addr


@pytest.mark.parametrize("name", ["allreduce", "scan", "exscan", "alltoall", "halo"])
def test_whole__in_place_and_not(fake: Fake, comm: torcoll.Comm, name: str) -> None:
    x, y = zeros(8), zeros(8)
    assert getattr(comm, name)(x) is x
    assert fake.last.collective == Collective[name.upper()]
    assert addresses(fake) == (x.ctypes.data, x.ctypes.data) and x.tobytes() == FILLED * 8
    assert getattr(comm, name)(x, y) is y
    assert addresses(fake) == (x.ctypes.data, y.ctypes.data) and y.tobytes() == FILLED * 8
    assert fake.last.count == 8
    assert fake.last.redop == (Redop.NONE if name in ("alltoall", "halo") else Redop.SUM)
    with pytest.raises(ValueError, match="out: 7 elements, 8 are needed: as many as in send"):
        getattr(comm, name)(x, zeros(7))


def test_options__by_name(fake: Fake, comm: torcoll.Comm) -> None:
    before = time.monotonic_ns()
    comm.allreduce(zeros(8), op="max", algorithm="swing_bw", bits="ordered", timeout=2.5,
                   params={"channels": 2, "chunks": 3})
    s = fake.last
    assert (s.redop, s.algorithm, s.bits) == (Redop.MAX, Algorithm.SWING_BW, Bits.ORDERED)
    assert list(s.param) == [2, 0, 0, 0, 0, 0, 3, 0]
    assert before + 2.5e9 <= s.deadline_ns <= time.monotonic_ns() + 2.5e9


def test_params__r_is_what_the_module_takes_less_one(fake: Fake, comm: torcoll.Comm) -> None:
    for r in (0, 2):
        comm.allreduce(zeros(8), algorithm="general", params={"r": r})
        assert list(fake.last.param) == [0, r + 1, 0, 0, 0, 0, 0, 0]


def test_timeout__may_be_infinite(fake: Fake, comm: torcoll.Comm) -> None:
    comm.allreduce(zeros(8), timeout=float("inf"))
    assert time.monotonic_ns() + (1 << 61) < fake.last.deadline_ns < 1 << 63
    assert comm.iallreduce(zeros(8)).wait(timeout=float("inf")) is not None


@pytest.mark.parametrize("options,words", [
    ({"op": "plus"}, "op: 'plus' is not known: pass one of none, sum"), ({"op": "none"}, "op: none is no operator"),
    ({"algorithm": "best"}, "algorithm: 'best'"), ({"bits": "all"}, "bits: 'all'"),
    ({"params": {"speed": 1}}, "params: 'speed'"), ({"params": {"r": -1}}, "params: 'r': -1 is no number from 0"),
    ({"timeout": -1.0}, "timeout: -1.0"),
    ({"timeout": float("nan")}, "timeout: nan")])
def test_options__unknown_are_refused(comm: torcoll.Comm, options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        comm.allreduce(zeros(8), **options)


@pytest.mark.parametrize("timeout", ["1s", datetime.timedelta(seconds=1), [1], b"1"])
def test_timeout__of_another_type(comm: torcoll.Comm, timeout: Any) -> None:
    words = re.escape(f"timeout: {timeout!r} is no number of seconds: give an int or a float, or None")
    with pytest.raises(TypeError, match=words):
        comm.allreduce(zeros(8), timeout=timeout)
    with pytest.raises(TypeError, match=words):
        torcoll.Comm(fabric=1, timeout=timeout)
    request = comm.iallreduce(zeros(8))
    with pytest.raises(TypeError, match=words):
        request.wait(timeout=timeout)
    request.wait()


def test_reduce__at_the_root_and_elsewhere(fake: Fake, comm: torcoll.Comm) -> None:
    x, y = zeros(8), zeros(8)
    assert comm.reduce(x, root=1) is x and x.tobytes() == FILLED * 8
    assert comm.reduce(x, y, root=1, op="band") is y and addresses(fake) == (x.ctypes.data, y.ctypes.data)
    assert comm.reduce(b"12345678", root=2) is None
    assert (fake.last.root, fake.last.recv_addr) == (2, 0)
    with pytest.raises(ValueError, match="out: 9 elements"):
        comm.reduce(x, zeros(9), root=1)
    for bad in (-1, 4):
        with pytest.raises(ValueError, match="root: -?[0-9] is no rank: the comm has ranks 0 to 3"):
            comm.reduce(x, root=bad)


def test_broadcast__writes_elsewhere(fake: Fake, comm: torcoll.Comm) -> None:
    x = bytearray(8)
    assert comm.broadcast(x, root=0) is x and x == FILLED * 8
    with pytest.raises(ValueError, match="buffer: the buffer is read-only"):
        comm.broadcast(b"12345678", root=0)


def test_broadcast__the_root_reads(fake: Fake, comm: torcoll.Comm) -> None:
    fake.state.hold = True
    request = comm.ibroadcast(b"\1\2", root=1)
    assert fake.last.count == 2
    fake.end(5)
    fake.complete()
    with pytest.raises(torcoll.Error):
        request.wait()


def test_reduce_scatter__even(fake: Fake, comm: torcoll.Comm) -> None:
    x, out = zeros(10), zeros(3)
    assert comm.reduce_scatter(x, out) is out
    assert (fake.last.count, fake.last.counts) == (10, 0) and out.tobytes() == FILLED * 3
    assert comm.reduce_scatter(x) is x
    assert fake.last.recv_addr == x.ctypes.data + 3
    assert x.tobytes() == b"\0" * 3 + FILLED * 3 + b"\0" * 4
    assert comm.block_of(10) == slice(3, 6) and comm.block_of(10, 3) == slice(8, 10)
    with pytest.raises(ValueError, match="out: 2 elements, 3 are needed: the block of rank 1 of 10"):
        comm.reduce_scatter(x, zeros(2))


def test_reduce_scatter__counts(fake: Fake, comm: torcoll.Comm) -> None:
    x = numpy.zeros(10, "u2")
    comm.reduce_scatter(x, counts=[1, 2, 3, 4], op="bor")
    assert list(fake.state.counts[0][:4]) == [1, 2, 3, 4] and fake.last.count == 10
    assert fake.last.recv_addr == x.ctypes.data + 2
    for counts, words in (([1, 2, 3], "counts: 3 lengths of blocks for 4 ranks"),
                          ([1, 2, 3, 5], "send: 10 elements, 11"),
                          ([-1, 2, 4, 5], "a block of -1 elements")):
        with pytest.raises(ValueError, match=words):
            comm.reduce_scatter(x, counts=counts)


def test_allgather__blocks(fake: Fake, comm: torcoll.Comm) -> None:
    own, out = numpy.arange(3, dtype="u1"), zeros(12)
    assert comm.allgather(own, out) is out
    assert out.tolist() == [0, 1, 2] * 4 and fake.last.count == 12
    out[3:6] = 7
    comm.allgather(None, out)
    assert fake.last.send_addr == out.ctypes.data + 3 and out.tolist() == [7] * 12
    comm.allgather(own, zeros(9), counts=[1, 3, 0, 5])
    assert list(fake.state.counts[0][:4]) == [1, 3, 0, 5]
    with pytest.raises(ValueError, match="send: 3 elements, 2 are needed"):
        comm.allgather(own, zeros(8))


def test_gather__at_the_root(fake: Fake, comm: torcoll.Comm) -> None:
    out = zeros(12)
    assert comm.gather(zeros(3), out, root=1) is out
    comm.gather(None, out, root=1)
    assert fake.last.send_addr == out.ctypes.data + 3
    with pytest.raises(ValueError, match="out: the root needs a buffer"):
        comm.gather(zeros(3), root=1)
    with pytest.raises(ValueError, match="out: 12 elements, 13 are needed: count"):
        comm.gather(None, out, root=1, count=13)


def test_gather__elsewhere(fake: Fake, comm: torcoll.Comm) -> None:
    assert comm.gather(zeros(3), root=0) is None
    assert (fake.last.count, fake.last.recv_addr) == (12, 0)
    comm.gather(zeros(3), root=0, count=10)
    assert fake.last.count == 10
    comm.gather(zeros(3), root=0, counts=[5, 3, 1, 1])
    assert fake.last.count == 10 and fake.state.counts[0][0] == 5
    with pytest.raises(ValueError, match="send: 3 elements, 2 are needed: .*count= says how long"):
        comm.gather(zeros(3), root=0, count=8)
    with pytest.raises(ValueError, match="count: 9 elements, 10 are needed: the sum of counts"):
        comm.gather(zeros(3), root=0, counts=[5, 3, 1, 1], count=9)


@pytest.mark.parametrize("count", [-1, -2, -4, 1 << 63, 1 << 64])
def test_gather__count_is_no_length(fake: Fake, comm: torcoll.Comm, count: int) -> None:
    with pytest.raises(ValueError, match="^count: .* is no number from 0 to "):
        comm.gather(zeros(0), root=0, count=count)
    with pytest.raises(ValueError, match="^count: .* is no number from 0 to "):
        comm.scatter(None, zeros(0), root=0, count=count)
    assert not fake.calls("submit")


def test_gather__counts_are_no_lengths(fake: Fake, comm: torcoll.Comm) -> None:
    for length in (1 << 63, 1 << 64):
        with pytest.raises(ValueError, match="^counts: .* elements are more than there can be"):
            comm.gather(zeros(3), root=0, counts=[length, 3, 0, 0])
    assert not fake.calls("submit")


def test_scatter__both_ends(fake: Fake, comm: torcoll.Comm) -> None:
    x, out = zeros(12), zeros(3)
    assert comm.scatter(x, out, root=1) is out
    assert comm.scatter(x, root=1) is x and fake.last.recv_addr == x.ctypes.data + 3
    assert comm.scatter(None, out, root=0) is out and fake.last.count == 12
    comm.scatter(None, out, root=0, counts=[1, 3, 2, 2])
    assert fake.last.count == 8
    for args, words in (((x, zeros(2), 1), "out: 2 elements, 3"), ((None, None, 0), "out: a NoneType has no buffer")):
        with pytest.raises((ValueError, TypeError), match=words):
            comm.scatter(*args)
    with pytest.raises(ValueError, match="send: 12 elements, 11 are needed: count"):
        comm.scatter(x, root=1, count=11)


def test_alltoall__blocks(fake: Fake, comm: torcoll.Comm) -> None:
    with pytest.raises(ValueError, match="send: 10 elements are no multiple of 4 ranks"):
        comm.alltoall(zeros(10))
    out = zeros(6)
    comm.alltoall(zeros(10), out, send_counts=[1, 2, 3, 4], recv_counts=[0, 2, 4, 0])
    assert fake.last.count == 6
    assert [list(counts[:4]) for counts in fake.state.counts] == [[1, 2, 3, 4], [0, 2, 4, 0]]
    comm.alltoall(out, send_counts=[0, 2, 4, 0], recv_counts=[4, 2, 0, 0])
    for to_send, to_recv, words in (([1, 2, 3, 4], None, "pass both or neither"),
                                    ([1, 2, 3, 3], [0, 2, 4, 0], "send: 10 elements, 9"),
                                    ([1, 2, 3, 4], [0, 2, 4, 1], "out: 6 elements, 7")):
        with pytest.raises(ValueError, match=words):
            comm.alltoall(zeros(10), out, send_counts=to_send, recv_counts=to_recv)


def test_messages(fake: Fake, comm: torcoll.Comm) -> None:
    x = bytearray(5)
    assert comm.recv(x, 3) is x and x == FILLED * 5
    assert (fake.last.collective, fake.last.peer, fake.last.send_addr) == (Collective.RECV, 3, 0)
    comm.send(b"\1\2\3", 2, timeout=1.0)
    assert (fake.last.collective, fake.last.peer, fake.last.count, fake.state.sum) == (Collective.SEND, 2, 3, 6)
    with pytest.raises(ValueError, match="to: 4 is no rank"):
        comm.send(x, 4)
    with pytest.raises(ValueError, match="source: -1 is no rank"):
        comm.recv(x, -1)


def test_barrier(fake: Fake, comm: torcoll.Comm) -> None:
    comm.barrier()
    assert (fake.last.collective, fake.last.type, fake.last.count) == (Collective.BARRIER, 0, 0)


FORMATS = {"i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I", "i64": "q", "u64": "Q", "f16": "e",
           "f32": "f", "f64": "d"}


@pytest.mark.parametrize("dtype", FORMATS)
def test_premulsum__the_factor_is_an_element(fake: Fake, comm: torcoll.Comm, dtype: str) -> None:
    comm.allreduce(bytearray(16), dtype=dtype, op="premulsum", scale=3)
    size = struct.calcsize(FORMATS[dtype])
    assert struct.unpack(FORMATS[dtype], fake.state.scalar.to_bytes(8, "little")[:size])[0] == 3


@pytest.mark.parametrize("value,bits", [(1.0, 0x3F80), (-2.5, 0xC020), (1 + 1 / 256, 0x3F80), (1 + 3 / 256, 0x3F82),
                                        (float("inf"), 0x7F80)])
def test_premulsum__bf16_is_rounded(value: float, bits: int) -> None:
    assert struct.unpack("=H", _bf16(value))[0] == bits
    nan = struct.unpack("=H", _bf16(float("nan")))[0]
    assert nan & 0x7F80 == 0x7F80 and nan & 0x7F


def test_premulsum__needs_a_factor(fake: Fake, comm: torcoll.Comm) -> None:
    comm.reduce_scatter(bytearray(16), dtype="bf16", op="premulsum", scale=0.5)
    assert fake.state.scalar == 0x3F00
    with pytest.raises(ValueError, match="scale: .*premulsum with None"):
        comm.allreduce(zeros(8), op="premulsum")
    with pytest.raises(ValueError, match="scale: .*sum with 2"):
        comm.allreduce(zeros(8), scale=2)
    for scale in (300, 0.5):
        with pytest.raises(ValueError, match="as u8"):
            comm.allreduce(zeros(8), op="premulsum", scale=scale)


def test_forms__every_collective_starts(fake: Fake, comm: torcoll.Comm) -> None:
    x, y, own = zeros(8), zeros(8), zeros(2)
    requests = [
        comm.iallreduce(x, y), comm.ireduce_scatter(x, own), comm.iallgather(own, y), comm.ibroadcast(x),
        comm.ireduce(x), comm.ibarrier(), comm.igather(own, y, 1)]
    requests += [request for request in requests if request.wait() is None and request.collective == "none"]
    requests += [comm.iscatter(x, own, 1), comm.ialltoall(x), comm.iscan(x), comm.iexscan(x), comm.ihalo(x),
                 comm.isend(x, 0), comm.irecv(x, 0)]
    done = [(request.wait(), request.collective)[1] for request in requests]
    assert done == ["allreduce", "reduce-scatter", "allgather", "broadcast", "reduce", "barrier", "gather", "scatter",
                    "alltoall", "scan", "exscan", "halo", "send", "recv"]


def test_type__of_the_first_buffer(fake: Fake, comm: torcoll.Comm) -> None:
    comm.allgather(numpy.zeros(1, "f2"), numpy.zeros(4, "f2"))
    assert fake.last.type == Type.F16
