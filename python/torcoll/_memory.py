# SPDX-License-Identifier: MIT
"""NumPy arrays in the module's memory, and the NumPy types of torcoll's types."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Optional, Union

from ._context import Context, context as own_context
from ._names import TYPES, lookup

if TYPE_CHECKING:
    import numpy
    from numpy.typing import DTypeLike, NDArray

_NUMPY = {
    "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8", "u8": "u1", "u16": "u2", "u32": "u4", "u64": "u8",
    "f16": "f2", "bf16": "u2", "f32": "f4", "f64": "f8",
}
_PAIRS = {"float-int": "f4", "double-int": "f8", "long-int": "i8", "2int": "i4", "short-int": "i2"}


def numpy_dtype(name: str) -> "numpy.dtype[Any]":
    """Return the NumPy type of a torcoll type.

    bf16 gives uint16, since NumPy has no such type: name it in calls, dtype="bf16". The pair types give structures of
    "value" and "index" in C layout. Raises ValueError for unknown names.
    """
    import numpy

    name = lookup(TYPES, name, "dtype").name.lower().lstrip("_").replace("_", "-")
    if name in _PAIRS:
        return numpy.dtype([("value", _PAIRS[name]), ("index", "i4")], align=True)
    if name not in _NUMPY:
        raise ValueError(f"dtype: {name} is no type of elements")
    return numpy.dtype(_NUMPY[name])


def empty(shape: Union[int, Sequence[int]], dtype: "Union[str, DTypeLike]" = "f32", *,
          context: Optional[Context] = None) -> "NDArray[Any]":
    """Return a C-ordered NumPy array of zeros in the module's memory, which calls use without copies.

    dtype is a name of torcoll ("f32", "bf16", "double-int": see numpy_dtype()) or a type of NumPy. The memory is freed
    with the last array that refers to it. Raises what Context.alloc() raises.
    """
    import numpy

    kind = numpy_dtype(dtype) if isinstance(dtype, str) and dtype.replace("_", "-") in TYPES else numpy.dtype(dtype)
    sides = (shape,) if isinstance(shape, int) else tuple(shape)
    count = 1
    for side in sides:
        if side < 0:
            raise ValueError(f"shape: a side of {side}")
        count *= side
    memory = (context or own_context()).alloc(count * kind.itemsize)
    array: "NDArray[Any]" = numpy.frombuffer(memory, dtype=kind).reshape(sides)
    return array
