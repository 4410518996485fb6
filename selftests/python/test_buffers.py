# SPDX-License-Identifier: GPL-2.0
"""Buffers of every kind: where they are, what they are made of, and what is refused with which words."""

import array
import ctypes
import mmap
import sys
from typing import Any

import numpy
import pytest

import torcoll
from conftest import Fake
from torcoll._buffers import View, _contiguous, _DLTensor
from torcoll._names import Type, name_of


def address_of(x: Any) -> int:
    return int(x.ctypes.data)


@pytest.mark.parametrize("dtype,name", [
    ("i1", "i8"), ("i2", "i16"), ("i4", "i32"), ("i8", "i64"), ("u1", "u8"), ("u2", "u16"), ("u4", "u32"),
    ("u8", "u64"), ("f2", "f16"), ("f4", "f32"), ("f8", "f64"), ("?", "u8"), ("longlong", "i64")])
def test_numpy__types(fake: Fake, comm: torcoll.Comm, dtype: str, name: str) -> None:
    x = numpy.zeros((3, 4), dtype=dtype)
    assert comm.allreduce(x, op="max") is x
    assert name_of(Type(fake.last.type)) == name
    assert (fake.last.count, fake.last.send_addr, fake.last.recv_addr) == (12, address_of(x), address_of(x))


@pytest.mark.parametrize("code,name", [("b", "i8"), ("B", "u8"), ("h", "i16"), ("H", "u16"), ("i", "i32"),
                                       ("I", "u32"), ("l", "i64"), ("L", "u64"), ("q", "i64"), ("f", "f32"),
                                       ("d", "f64")])
def test_array__types(fake: Fake, comm: torcoll.Comm, code: str, name: str) -> None:
    x = array.array(code, [1, 2, 3, 4, 5])
    comm.allreduce(x)
    assert name_of(Type(fake.last.type)) == name
    assert (fake.last.count, fake.last.send_addr) == (5, x.buffer_info()[0])
    assert x.tobytes() == b"\x2a" * (5 * x.itemsize)


def test_bytes_like__every_kind(comm: torcoll.Comm) -> None:
    plain, part = bytearray(8), bytearray(12)
    mapped = mmap.mmap(-1, 4096)
    made = (ctypes.c_double * 2)()
    for x in (plain, memoryview(part)[4:8], mapped, made):
        comm.allreduce(x)
    assert plain == b"\x2a" * 8
    assert part == b"\0" * 4 + b"\x2a" * 4 + b"\0" * 4
    assert mapped[:] == b"\x2a" * 4096
    assert bytes(made) == b"\x2a" * 16
    mapped.close()


def test_send_only__read_only_is_enough(fake: Fake, comm: torcoll.Comm) -> None:
    out = bytearray(4)
    assert comm.allreduce(b"\1\2\3\4", out) is out
    assert out == b"****" and fake.state.sum == 10


def test_output__read_only_is_refused(comm: torcoll.Comm) -> None:
    x = numpy.zeros(4)
    x.flags.writeable = False
    with pytest.raises(ValueError, match="send: the buffer is read-only, .*pass a writable one"):
        comm.allreduce(x)
    with pytest.raises(ValueError, match="out: the buffer is read-only"):
        comm.allreduce(b"1234", b"1234")


def test_not_contiguous__is_refused(comm: torcoll.Comm) -> None:
    x = numpy.zeros((4, 4))
    for bad in (x[:, 1], x.T, memoryview(bytearray(8))[::2]):
        with pytest.raises(ValueError, match="send: the buffer is not C-contiguous.*ascontiguousarray"):
            comm.allreduce(bad)


@pytest.mark.parametrize("dtype", ["c16", "S3", ">f8", "g"])
def test_elements__without_a_type_are_refused(comm: torcoll.Comm, dtype: str) -> None:
    with pytest.raises(TypeError, match="torcoll has no type for elements .*view them"):
        comm.allreduce(numpy.zeros(2, dtype=dtype))


def test_elements__without_a_buffer_format_are_refused(comm: torcoll.Comm) -> None:
    with pytest.raises(TypeError, match="view the elements as a type that torcoll knows"):
        comm.allreduce(numpy.zeros(2, dtype="M8[s]"))


def test_no_buffer__is_refused(comm: torcoll.Comm) -> None:
    for bad in (3, None, [1, 2]):
        with pytest.raises(TypeError, match="send: a .* has no buffer: pass a NumPy array"):
            comm.allreduce(bad)


def test_bool__only_where_it_stays_one(comm: torcoll.Comm) -> None:
    x = numpy.zeros(2, dtype=bool)
    comm.allreduce(x, op="lor")
    comm.broadcast(x)
    with pytest.raises(TypeError, match="sum of booleans: use land"):
        comm.allreduce(x)


def test_dtype__by_name(fake: Fake, comm: torcoll.Comm) -> None:
    x = numpy.zeros(4, dtype="u2")
    for name in ("bf16", "f16", "u16", "i16"):
        comm.allreduce(x, dtype=name)
        assert name_of(Type(fake.last.type)) == name and fake.last.count == 4
    comm.allreduce(bytearray(32), dtype="double_int", op="minloc")
    assert fake.last.type == Type.DOUBLE_INT and fake.last.count == 2
    comm.allreduce(numpy.zeros(3, torcoll.numpy_dtype("float-int")), dtype="float-int", op="maxloc")
    assert fake.last.type == Type.FLOAT_INT and fake.last.count == 3
    comm.allreduce(numpy.zeros(3, "V8"), dtype="2int", op="maxloc")
    assert fake.last.type == Type._2INT


@pytest.mark.parametrize("dtype,name", [
    (">f4", "f32"), (">f8", "f64"), (">i4", "u32"), (">i2", "bf16"), ("c8", "f64"), ("c16", "double-int"), ("S4", "f32"),
    (">i8", "2int"), ([("Z", ">f4"), ("index", "i4")], "float-int"), ([("value", "f2"), ("index", "i2")], "f32")])
def test_dtype__does_not_make_other_elements_numbers(comm: torcoll.Comm, dtype: Any, name: str) -> None:
    with pytest.raises(TypeError, match="are not"):
        comm.allreduce(numpy.zeros(4, dtype), dtype=name, op="max")
    with pytest.raises(TypeError, match="are not f64"):
        comm.allreduce(Tensor(numpy.zeros(4, "i8"), code=5), dtype="f64")


def test_dtype__that_does_not_fit_is_refused(comm: torcoll.Comm) -> None:
    for x, name in ((numpy.zeros(4, "i4"), "f32"), (numpy.zeros(4, "f4"), "f64"), (bytearray(7), "i16"),
                    (numpy.zeros(4, "f2"), "bf16"), (bytearray(8), "none")):
        with pytest.raises(TypeError, match="are not"):
            comm.allreduce(x, dtype=name)
    with pytest.raises(ValueError, match="dtype: 'float' is not known: pass one of .*bf16"):
        comm.allreduce(bytearray(8), dtype="float")
    with pytest.raises(TypeError, match="dtype: .* is no name"):
        comm.allreduce(bytearray(8), dtype=numpy.float32)  # type: ignore[arg-type]


def test_types__differ(comm: torcoll.Comm) -> None:
    with pytest.raises(TypeError, match="out: its elements are f64, those of send f32"):
        comm.allreduce(numpy.zeros(4, "f4"), numpy.zeros(4))


def test_empty__is_a_vector_too(fake: Fake, comm: torcoll.Comm) -> None:
    comm.allreduce(numpy.zeros(0))
    assert fake.last.count == 0


def test_resize__not_while_an_op_runs(fake: Fake, comm: torcoll.Comm) -> None:
    fake.state.hold = True
    x = bytearray(16)
    request = comm.iallreduce(x)
    with pytest.raises(BufferError):
        x.append(1)
    fake.complete()
    request.wait()
    x.append(1)


class Tensor:
    """What torch's tensors offer, of a NumPy array; or of other types, by changing the capsule."""

    def __init__(self, x: Any, device: int = 1, **change: int) -> None:
        self.x, self.device, self.change = x, device, change

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device, 0

    def __dlpack__(self) -> Any:
        capsule = self.x.__dlpack__()
        get = ctypes.pythonapi.PyCapsule_GetPointer
        tensor = _DLTensor.from_address(get(ctypes.py_object(capsule), b"dltensor"))
        for name, value in self.change.items():
            setattr(tensor, name, value)
        return capsule


def test_dlpack__is_used_where_it_is(fake: Fake, comm: torcoll.Comm) -> None:
    x = numpy.zeros((2, 3), dtype="f4")
    before = sys.getrefcount(x)
    tensor = Tensor(x)
    assert comm.allreduce(tensor) is tensor
    assert (fake.last.send_addr, fake.last.count, fake.last.type) == (address_of(x), 6, Type.F32)
    assert x.tobytes() == b"\x2a" * 24
    del tensor
    assert sys.getrefcount(x) == before


def test_dlpack__types(fake: Fake, comm: torcoll.Comm) -> None:
    comm.allreduce(Tensor(numpy.zeros(4, "u2"), code=4))
    assert fake.last.type == Type.BF16
    comm.allreduce(Tensor(numpy.zeros(4, "u1"), code=6), op="land")
    assert fake.last.type == Type.U8
    with pytest.raises(TypeError, match="of booleans"):
        comm.allreduce(Tensor(numpy.zeros(4, "u1"), code=6))
    with pytest.raises(TypeError, match="no type for elements 'DLPack type 5 of 64 bits'"):
        comm.allreduce(Tensor(numpy.zeros(4, "i8"), code=5))
    with pytest.raises(TypeError, match="no type"):
        comm.allreduce(Tensor(numpy.zeros(4, "f4"), lanes=2))


def test_dlpack__what_cannot_be_used(comm: torcoll.Comm) -> None:
    with pytest.raises(ValueError, match="send: the tensor is not contiguous: pass x.contiguous()"):
        comm.allreduce(Tensor(numpy.zeros((4, 4))[:, 1]))
    with pytest.raises(TypeError, match="in a device's memory: copy it"):
        comm.allreduce(Tensor(numpy.zeros(4), device=2))
    read_only = numpy.zeros(4)
    read_only.flags.writeable = False
    with pytest.raises(TypeError, match="gives no access to its memory"):
        comm.allreduce(Tensor(read_only))


@pytest.mark.parametrize("shape,strides,good", [([2, 3], [3, 1], True), ([2, 3], [1, 2], False), ([1, 3], [9, 1], True),
                                                ([0, 3], [7, 7], True), ([], [], True)])
def test_contiguous(shape: list[int], strides: list[int], good: bool) -> None:
    assert _contiguous(shape, strides) is good


def test_view__gives_its_buffer_back() -> None:
    x = bytearray(4)
    view = View(x, "x")
    with pytest.raises(BufferError):
        x.append(1)
    del view
    x.append(1)
    view = View(x, "x")
    view.release()
    view.release()
    x.append(2)
