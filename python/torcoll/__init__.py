# SPDX-License-Identifier: MIT
"""Collectives over directly cabled tori: torcoll's library, libtorcoll, in Python.

    import numpy, torcoll

    with torcoll.Comm.from_env() as comm:
        x = numpy.full(1024, comm.rank, dtype="f4")
        comm.allreduce(x)

docs/python.md has more. Names that begin with an underscore are the package's own.
"""

from ._batch import Batch, Prepared, start_all
from ._comm import Comm, CommInfo
from ._context import Context, ModuleInfo, Registration, context
from ._memory import empty, numpy_dtype
from ._requests import Request
from ._version import __version__
from .errors import (
    AccessDenied, Aborted, Busy, Error, FabricDeleted, Invalid, LibraryMissing, LimitReached, Mismatch, NoFabric,
    NoModule, NotSupported, PeerFailed, Timeout,
)

__all__ = [
    "AccessDenied", "Aborted", "Batch", "Busy", "Comm", "CommInfo", "Context", "Error", "FabricDeleted", "Invalid",
    "LibraryMissing", "LimitReached", "Mismatch", "ModuleInfo", "NoFabric", "NoModule", "NotSupported", "PeerFailed",
    "Prepared", "Registration", "Request", "Timeout", "__version__", "context", "empty", "numpy_dtype", "start_all",
]
