# SPDX-License-Identifier: MIT
"""Buffers of callers: their address, length and element type, without a copy.

An object with the buffer protocol (NumPy arrays, array.array, bytearray, memoryview, mmap, ctypes arrays) is held by
an export of its buffer, which also keeps it from being resized; a tensor with DLPack (torch) by its capsule. Both
stay valid until View.release().
"""

import re
import sys
from ctypes import POINTER, Structure, byref, c_char_p, c_int, c_int32, c_int64, c_ssize_t, c_uint8, c_uint16
from ctypes import c_uint64, c_void_p, py_object, pythonapi
from typing import Any, Optional

from ._names import TYPE_SIZE, TYPES, Redop, Type, lookup, name_of


class _PyBuffer(Structure):
    """Py_buffer of Python's stable ABI."""

    _fields_ = [
        ("buf", c_void_p), ("obj", c_void_p), ("len", c_ssize_t), ("itemsize", c_ssize_t), ("readonly", c_int),
        ("ndim", c_int), ("format", c_char_p), ("shape", POINTER(c_ssize_t)), ("strides", POINTER(c_ssize_t)),
        ("suboffsets", POINTER(c_ssize_t)), ("internal", c_void_p),
    ]


class _DLTensor(Structure):
    """DLTensor of DLPack, with which a DLManagedTensor begins."""

    _fields_ = [
        ("data", c_void_p), ("device_type", c_int32), ("device_id", c_int32), ("ndim", c_int32),
        ("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16), ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)), ("byte_offset", c_uint64),
    ]


_get_buffer = pythonapi.PyObject_GetBuffer
_get_buffer.argtypes = [py_object, POINTER(_PyBuffer), c_int]
_get_buffer.restype = c_int
_release_buffer = pythonapi.PyBuffer_Release
_release_buffer.argtypes = [POINTER(_PyBuffer)]
_release_buffer.restype = None
_check_buffer = pythonapi.PyObject_CheckBuffer
_check_buffer.argtypes = [py_object]
_check_buffer.restype = c_int
_capsule_pointer = pythonapi.PyCapsule_GetPointer
_capsule_pointer.argtypes = [py_object, c_char_p]
_capsule_pointer.restype = c_void_p

_FORMAT, _C_CONTIGUOUS, _FULL_RO = 0x4, 0x38, 0x11C

# Of DLPack: devices whose memory processes can address; codes of types.
_DL_CPU, _DL_CUDA_HOST = 1, 3
_DL_TYPES = {
    (0, 8): Type.I8, (0, 16): Type.I16, (0, 32): Type.I32, (0, 64): Type.I64,
    (1, 8): Type.U8, (1, 16): Type.U16, (1, 32): Type.U32, (1, 64): Type.U64,
    (2, 16): Type.F16, (2, 32): Type.F32, (2, 64): Type.F64, (4, 16): Type.BF16,
}
_DL_BOOL = (6, 8)

_SIGNED = {1: Type.I8, 2: Type.I16, 4: Type.I32, 8: Type.I64}
_UNSIGNED = {1: Type.U8, 2: Type.U16, 4: Type.U32, 8: Type.U64}
_FLOATS = {"e": Type.F16, "f": Type.F32, "d": Type.F64}
_OTHER_ORDER = ">!" if sys.byteorder == "little" else "<"

# Operators for which a byte of a boolean gives a boolean.
_BOOL_REDOPS = {Redop.NONE, Redop.MIN, Redop.MAX, Redop.BAND, Redop.BOR, Redop.BXOR, Redop.LAND, Redop.LOR, Redop.LXOR}

_formats: dict[tuple[Optional[bytes], int], Optional[Type]] = {}


def _type_of_format(form: Optional[bytes], itemsize: int) -> Optional[Type]:
    """The type of a format of the struct module; None if torcoll has none for it."""
    text = (form or b"B").decode()
    if text[0] in _OTHER_ORDER and itemsize > 1:
        return None
    code = text.lstrip("@=<>!")
    if len(code) != 1:
        return None
    if code in "bhilqn":
        return _SIGNED.get(itemsize)
    if code in "BHILQNc?":
        return _UNSIGNED.get(itemsize)
    return _FLOATS.get(code)


class View:
    """The memory of a caller's object.

    address and nbytes say where it is; itemsize and type what its elements are, type None if torcoll has no such type;
    text is the element type in the object's own words, for messages.
    """

    __slots__ = ("address", "nbytes", "itemsize", "type", "readonly", "boolean", "raw", "text", "_export", "_capsule")

    def __init__(self, obj: Any, what: str) -> None:
        self._export: Optional[_PyBuffer] = None
        self._capsule: Any = None
        if _check_buffer(obj):
            self._from_buffer(obj, what)
        elif hasattr(obj, "__dlpack__"):
            self._from_dlpack(obj, what)
        else:
            raise TypeError(
                f"{what}: a {type(obj).__name__} has no buffer: pass a NumPy array, array.array, bytearray, memoryview "
                "or a tensor in host memory (an array of one element for a single number)")

    def _from_buffer(self, obj: Any, what: str) -> None:
        # before it has one: a signal's handler may raise just behind; without one, its release does nothing
        export = self._export = _PyBuffer()
        try:
            _get_buffer(obj, byref(export), _C_CONTIGUOUS | _FORMAT)
        except (BufferError, ValueError) as e:
            raise _refusal(obj, what, e) from None
        self.address = export.buf or 0
        self.nbytes = export.len
        self.itemsize = export.itemsize
        self.readonly = bool(export.readonly)
        key = (export.format, export.itemsize)
        try:
            self.type = _formats[key]
        except KeyError:
            self.type = _formats[key] = _type_of_format(*key)
        self.text = (key[0] or b"B").decode()
        self.boolean = self.text == "?"
        self.raw = self.text in ("B", "b", "c")

    def _from_dlpack(self, obj: Any, what: str) -> None:
        device = obj.__dlpack_device__()[0]
        if device not in (_DL_CPU, _DL_CUDA_HOST):
            raise TypeError(f"{what}: the tensor is in a device's memory: copy it to the host first (torch: x.cpu())")
        try:
            self._capsule = obj.__dlpack__()
        except (BufferError, RuntimeError, TypeError) as e:
            raise TypeError(f"{what}: the tensor gives no access to its memory: {e}") from None
        tensor = _DLTensor.from_address(_capsule_pointer(self._capsule, b"dltensor"))
        shape = tensor.shape[:tensor.ndim]
        strides = tensor.strides[:tensor.ndim] if tensor.strides else None
        if strides is not None and not _contiguous(shape, strides):
            raise ValueError(f"{what}: the tensor is not contiguous: pass x.contiguous()")
        count = 1
        for side in shape:
            count *= side
        code = (tensor.code, tensor.bits)
        self.address = (tensor.data or 0) + tensor.byte_offset
        self.itemsize = tensor.bits * tensor.lanes // 8
        self.nbytes = count * self.itemsize
        self.readonly = False
        self.boolean = code == _DL_BOOL
        self.type = None if tensor.lanes != 1 else Type.U8 if self.boolean else _DL_TYPES.get(code)
        self.text = f"DLPack type {code[0]} of {code[1]} bits"
        self.raw = self.type in (Type.U8, Type.I8)

    def element_type(self, dtype: Optional[str], redop: Redop, what: str) -> Type:
        """The type that the caller names, or else that of the elements. Raises TypeError if they do not fit."""
        if dtype is not None:
            return self._as_type(lookup(TYPES, dtype, "dtype"), what)
        if self.type is None:
            raise TypeError(
                f"{what}: torcoll has no type for elements {self.text!r} of {self.itemsize} bytes: view them as "
                "another type of this machine's byte order (x.view() of NumPy), or name the type of pairs with dtype=")
        if self.boolean and redop not in _BOOL_REDOPS:
            raise TypeError(
                f"{what}: {name_of(redop)} of booleans: use land, lor or lxor, or view them as bytes "
                "(x.view(numpy.uint8)) if their sums fit into one")
        return self.type

    def _as_type(self, wanted: Type, what: str) -> Type:
        """Elements of the same size and kind; 16-bit integers also as f16 and bf16; bytes as anything."""
        size = TYPE_SIZE.get(wanted, 0)
        if self.type is None:
            fits = size == self.itemsize and wanted > Type.F64 and self._may_be_pairs()
        else:
            fits = size == self.itemsize and (
                wanted == self.type or wanted > Type.F64 or (wanted < Type.F16 and self.type < Type.F16) or
                (wanted in (Type.F16, Type.BF16) and self.type in (Type.I16, Type.U16)))
        if self.raw and size:
            fits = self.nbytes % size == 0
        if not fits:
            raise TypeError(
                f"{what}: elements {self.text!r} of {self.itemsize} bytes are not {name_of(wanted)}: view or convert "
                "them (x.view() or x.astype() of NumPy), or leave dtype out")
        return wanted

    def _may_be_pairs(self) -> bool:
        """Elements without a type that are of this machine's byte order, and not complex."""
        codes = re.sub(":[^:]*:", "", self.text)
        return self._capsule is None and not any(code in _OTHER_ORDER + "Z" for code in codes)

    def writable(self, what: str) -> None:
        """Raise ValueError if the result cannot be written here."""
        if self.readonly:
            raise ValueError(f"{what}: the buffer is read-only, and the result goes there: pass a writable one")

    def release(self) -> None:
        """Give the memory back to its owner. May be called again."""
        export = self._export
        if export is not None:
            _release_buffer(byref(export))
            self._export = None
        self._capsule = None

    def __del__(self) -> None:
        if getattr(self, "_export", None) is not None:
            self.release()


def _contiguous(shape: list[int], strides: list[int]) -> bool:
    """Is this C order? Strides, in elements, of sides of 1 do not matter."""
    step = 1
    for side, stride in zip(reversed(shape), reversed(strides)):
        if side > 1 and stride != step:
            return 0 in shape
        step *= side
    return True


def _refusal(obj: Any, what: str, e: Exception) -> Exception:
    """Why there is no contiguous buffer: its order, or its elements."""
    # which gives it back
    view = View.__new__(View)
    export = view._export = _PyBuffer()
    try:
        _get_buffer(obj, byref(export), _FULL_RO)
    except (BufferError, ValueError):
        return TypeError(
            f"{what}: {e}: view the elements as a type that torcoll knows (bfloat16: x.view(numpy.uint16) with "
            "dtype='bf16')")
    return ValueError(
        f"{what}: the buffer is not C-contiguous ({e}): pass a contiguous copy (numpy.ascontiguousarray), and copy a "
        "result back from one")
