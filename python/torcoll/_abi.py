# SPDX-License-Identifier: MIT
"""libtorcoll by ctypes: its structs, its functions, and where it is found.

ctypes releases the GIL in every call. The structs and prototypes are compared with the headers by
selftests/python/test_abi.py.
"""

import errno
import os
import threading
from ctypes import (
    CDLL, POINTER, Structure, c_char, c_char_p, c_int, c_int32, c_size_t, c_uint32, c_uint64, c_void_p,
)
from typing import Any, NoReturn, Optional

from ._names import MAX_DIMS, NO_RANK, PARAM_COUNT
from .errors import LibraryMissing, error_for

SONAME = "libtorcoll.so.0"


class Info(Structure):
    """struct torcoll_info"""

    _fields_ = [
        ("size", c_uint32), ("flags", c_uint32), ("abi_version", c_uint32), ("max_channels", c_uint32),
        ("features", c_uint64), ("collectives", c_uint64), ("types", c_uint64), ("redops", c_uint64),
        ("algorithms", c_uint64), ("version", c_char * 32),
    ]


class CommInfo(Structure):
    """struct torcoll_comm_info"""

    _fields_ = [
        ("size", c_uint32), ("comm", c_uint32), ("rank", c_uint32), ("ranks", c_uint32), ("node", c_uint32),
        ("generation", c_uint32), ("ndim", c_uint32), ("side", c_uint32 * MAX_DIMS), ("frame_bytes", c_uint32),
        ("error", c_int32), ("error_rank", c_uint32), ("__reserved", c_uint32),
    ]


class CommConfig(Structure):
    """struct torcoll_comm_config"""

    _fields_ = [
        ("fabric", c_uint64), ("name", c_char_p), ("secret", c_char_p), ("members", POINTER(c_uint32)),
        ("size", c_uint32), ("rank", c_uint32), ("depth", c_uint32), ("bits", c_uint32),
        ("deadline_ns", c_uint64), ("flags", c_uint64), ("reserved", c_uint64 * 3),
    ]


class Op(Structure):
    """struct torcoll_op"""

    _fields_ = [
        ("collective", c_uint32), ("type", c_uint32), ("redop", c_uint32), ("algorithm", c_uint32),
        ("bits", c_uint32), ("flags", c_uint32), ("root", c_uint32), ("peer", c_uint32), ("count", c_uint64),
        ("counts", c_void_p), ("send", c_void_p), ("recv", c_void_p), ("scalar", c_void_p),
        ("param", c_uint32 * PARAM_COUNT), ("deadline_ns", c_uint64), ("recv_counts", c_void_p),
        ("displs", c_void_p), ("function", c_void_p), ("reserved", c_uint64),
    ]


class Request(Structure):
    """struct torcoll_request"""

    _fields_ = [
        ("comm", c_void_p), ("op", c_uint64), ("status", c_int32), ("state", c_uint32), ("error_rank", c_uint32),
        ("collective", c_uint32), ("chosen", c_uint32), ("looked", c_uint32), ("ring", c_uint64),
    ]


# Result, then arguments. Pointers to structs that callers fill in are passed by reference, as void pointers.
PROTOTYPES: dict[str, tuple[Any, ...]] = {
    "torcoll_abort": (c_int, c_void_p),
    "torcoll_algorithm_name": (c_char_p, c_uint32),
    "torcoll_alloc": (c_int, c_void_p, c_size_t, c_void_p),
    "torcoll_close": (None, c_void_p),
    "torcoll_collective_name": (c_char_p, c_uint32),
    "torcoll_comm_block": (c_int, c_void_p, c_void_p, c_void_p, c_uint64, c_void_p),
    "torcoll_comm_close": (None, c_void_p),
    "torcoll_comm_create": (c_int, c_void_p, c_void_p, c_void_p),
    "torcoll_comm_dup": (c_int, c_void_p, c_uint64, c_void_p),
    "torcoll_comm_from_env": (c_int, c_void_p, c_void_p),
    "torcoll_comm_info": (c_int, c_void_p, c_void_p),
    "torcoll_comm_node": (c_uint32, c_void_p, c_uint32),
    "torcoll_comm_rank": (c_uint32, c_void_p),
    "torcoll_comm_set_algorithm": (c_int, c_void_p, c_char_p),
    "torcoll_comm_shrink": (c_int, c_void_p, c_uint64, c_void_p),
    "torcoll_comm_size": (c_uint32, c_void_p),
    "torcoll_comm_slice": (c_int, c_void_p, c_uint32, c_uint64, c_void_p),
    "torcoll_comm_split": (c_int, c_void_p, c_uint32, c_int32, c_uint64, c_void_p),
    "torcoll_fd": (c_int, c_void_p),
    "torcoll_free": (c_int, c_void_p, c_void_p),
    "torcoll_info": (c_int, c_void_p, c_void_p),
    "torcoll_last_error": (c_char_p,),
    "torcoll_open": (c_int, c_void_p),
    "torcoll_prepare": (c_int, c_void_p, c_void_p, c_void_p),
    "torcoll_prepared_free": (None, c_void_p),
    "torcoll_redop_name": (c_char_p, c_uint32),
    "torcoll_register": (c_int, c_void_p, c_void_p, c_size_t),
    "torcoll_request_algorithm": (c_uint32, c_void_p),
    "torcoll_request_error_rank": (c_uint32, c_void_p),
    "torcoll_start_many": (c_int, c_void_p, c_uint32, c_void_p, c_void_p),
    "torcoll_strerror": (c_char_p, c_int),
    "torcoll_submit": (c_int, c_void_p, c_void_p, c_void_p),
    "torcoll_submit_many": (c_int, c_void_p, c_void_p, c_uint32, c_void_p, c_void_p),
    "torcoll_test": (c_int, c_void_p),
    "torcoll_type_name": (c_char_p, c_uint32),
    "torcoll_type_size": (c_size_t, c_uint32),
    "torcoll_unregister": (c_int, c_void_p, c_void_p),
    "torcoll_version": (c_char_p,),
    "torcoll_wait_until": (c_int, c_void_p, c_uint64),
}

_lock = threading.Lock()
_library: Optional[CDLL] = None


def _candidates() -> list[str]:
    """The library named in the environment; or by the linker's cache, then beside an installed package."""
    named = os.environ.get("TORCOLL_LIBRARY")
    if named:
        return [named]
    # PREFIX/lib/python3*/dist-packages/torcoll/_abi.py
    path = os.path.realpath(__file__).split(os.sep)
    return [SONAME, os.sep.join(path[:-3] + [SONAME]), os.sep.join(path[:-4] + [SONAME])]


def _open() -> CDLL:
    reasons = []
    for name in _candidates():
        try:
            return CDLL(name)
        except OSError as e:
            reasons.append(str(e))
    raise LibraryMissing(
        errno.ENOENT, f"{SONAME} cannot be loaded: install it (make install, then ldconfig), or name it in "
        f"TORCOLL_LIBRARY ({'; '.join(reasons)})")


def load() -> CDLL:
    """Return the library with its prototypes set. Raises LibraryMissing."""
    global _library
    if _library is not None:
        return _library
    with _lock:
        library = _library or _open()
        for name, (result, *arguments) in PROTOTYPES.items():
            try:
                function = getattr(library, name)
            except AttributeError:
                raise LibraryMissing(
                    errno.ENOSYS, f"{library._name} has no {name}(): it is older than this package; install both of "
                    "one version") from None
            function.restype, function.argtypes = result, arguments
        _library = library
    return library


def last_sentence() -> str:
    """The library's message about the last failed call of this thread."""
    sentence: bytes = load().torcoll_last_error()
    return sentence.decode(errors="replace")


def fail(err: int, rank: Optional[int] = None) -> NoReturn:
    """Raise what the calling thread's last call returned."""
    raise error_for(err, last_sentence(), rank)


def check(err: int) -> None:
    """Raise if a call of this thread returned an error."""
    if err:
        fail(err)


def rank_or_none(rank: int) -> Optional[int]:
    """The library's ~0 as None."""
    return None if rank == NO_RANK else rank
