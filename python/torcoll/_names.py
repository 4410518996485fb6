# SPDX-License-Identifier: MIT
"""The enumerations of <linux/torcoll.h>, and the names by which callers choose among them.

The values are those of the header; selftests/python/test_abi.py compares them with it by a compiler. The names
are the library's ("reduce-scatter", "swing-bw", "float-int"); an underscore may replace each hyphen.
"""

from enum import IntEnum
from typing import TypeVar

E = TypeVar("E", bound=IntEnum)


class Collective(IntEnum):
    """enum torcoll_collective"""

    NONE = 0
    ALLREDUCE = 1
    REDUCE_SCATTER = 2
    ALLGATHER = 3
    BROADCAST = 4
    REDUCE = 5
    BARRIER = 6
    GATHER = 7
    SCATTER = 8
    ALLTOALL = 9
    SCAN = 10
    EXSCAN = 11
    HALO = 12
    SEND = 13
    RECV = 14


class Type(IntEnum):
    """enum torcoll_type"""

    NONE = 0
    I8 = 1
    I16 = 2
    I32 = 3
    I64 = 4
    U8 = 5
    U16 = 6
    U32 = 7
    U64 = 8
    F16 = 9
    BF16 = 10
    F32 = 11
    F64 = 12
    FLOAT_INT = 13
    DOUBLE_INT = 14
    LONG_INT = 15
    _2INT = 16
    SHORT_INT = 17


class Redop(IntEnum):
    """enum torcoll_redop"""

    NONE = 0
    SUM = 1
    PROD = 2
    MIN = 3
    MAX = 4
    AVG = 5
    BAND = 6
    BOR = 7
    BXOR = 8
    LAND = 9
    LOR = 10
    LXOR = 11
    MINLOC = 12
    MAXLOC = 13
    PREMULSUM = 14


class Bits(IntEnum):
    """enum torcoll_bits"""

    DEFAULT = 0
    AGREE = 1
    ORDERED = 2
    RELAXED = 3


class Algorithm(IntEnum):
    """enum torcoll_algorithm"""

    AUTO = 0
    SWING_BW = 1
    SWING_LAT = 2
    TRIVANCE_BW = 3
    TRIVANCE_LAT = 4
    CIRCULANT = 5
    GENERAL = 6
    RING = 7
    HAMILTONIAN = 8
    BUCKET = 9
    BIBUCKET = 10
    RECDOUB_LAT = 11
    RECDOUB_BW = 12
    RECDOUB_BW_MIRRORED = 13
    BRUCK_LAT = 14
    BRUCK_BW = 15
    WINDOW = 16
    FLOOD = 17
    TREE = 18
    MOORE = 19
    ALLPORT = 20
    BINE = 21
    DIRECT = 22
    LAYERS = 23


class Param(IntEnum):
    """enum torcoll_param"""

    CHANNELS = 0
    R = 1
    BLOCKS = 2
    GROUP = 3
    VARIANT = 4
    EXCLUDE = 5
    CHUNKS = 6


PARAM_COUNT = 8
NAME_MAX = 64
MAX_DIMS = 6
BATCH_MAX = 1024
ABI_VERSION = 1
RANK_SELF = 0xFFFFFFFF
COLOUR_NONE = 0xFFFFFFFF
NO_RANK = 0xFFFFFFFF
OP_NOWAIT = 1 << 1

FEATURES = {
    "plain-pointers": 1 << 0,
    "poll": 1 << 1,
    "shrink": 1 << 2,
    "ring": 1 << 3,
    "spin": 1 << 4,
    "alloc": 1 << 5,
    "watch": 1 << 6,
    "try": 1 << 7,
    "tell": 1 << 8,
    "wait-ns": 1 << 9,
}

# Bytes of an element in memory, as torcoll_type_size() has them on 64-bit systems.
TYPE_SIZE = {
    Type.I8: 1, Type.I16: 2, Type.I32: 4, Type.I64: 8,
    Type.U8: 1, Type.U16: 2, Type.U32: 4, Type.U64: 8,
    Type.F16: 2, Type.BF16: 2, Type.F32: 4, Type.F64: 8,
    Type.FLOAT_INT: 8, Type.DOUBLE_INT: 16, Type.LONG_INT: 16, Type._2INT: 8, Type.SHORT_INT: 8,
}


def name_of(member: IntEnum) -> str:
    """Return the library's name of a value, for example "reduce-scatter"."""
    return member.name.lower().lstrip("_").replace("_", "-")


def _table(enum: type[E]) -> dict[str, E]:
    return {name_of(member): member for member in enum}


TYPES = _table(Type)
REDOPS = _table(Redop)
BITS = _table(Bits)
ALGORITHMS = _table(Algorithm)
COLLECTIVES = _table(Collective)
PARAMS = _table(Param)


def lookup(table: dict[str, E], name: str, what: str) -> E:
    """Return the value of a name; raise ValueError, or TypeError if it is no string, with the names that exist."""
    member = table.get(name) if isinstance(name, str) else None
    if member is not None:
        return member
    if not isinstance(name, str):
        raise TypeError(f"{what}: {name!r} is no name: pass one of {', '.join(table)}")
    member = table.get(name.lower().replace("_", "-"))
    if member is None:
        raise ValueError(f"{what}: {name!r} is not known: pass one of {', '.join(table)}")
    return member
