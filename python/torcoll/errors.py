# SPDX-License-Identifier: MIT
"""Exceptions: one class for each failure that a program handles in its own way.

All are subclasses of Error, which is an OSError: errno is the positive errno of <linux/torcoll.h>, strerror the
library's sentence, rank the rank that caused the failure, or None if there is none or it is not known.
"""

import errno as _errno
from typing import Optional


class Error(OSError):
    """A call of libtorcoll failed."""

    def __init__(self, err: int, sentence: str, rank: Optional[int] = None) -> None:
        super().__init__(err, sentence)
        self.rank = rank

    def __str__(self) -> str:
        return str(self.strerror)

    def __reduce__(self) -> tuple[type["Error"], tuple[Optional[int], str, Optional[int]]]:
        return type(self), (self.errno, str(self.strerror), self.rank)


class PeerFailed(Error):
    """Another rank ended, aborted or closed the comm (ECONNABORTED), its host died or restarted (EHOSTDOWN), or no
    path leads to it (EHOSTUNREACH). Comm.shrink() makes a comm of those that are left."""


class FabricDeleted(Error):
    """The fabric was deleted by force (ENETDOWN)."""


class Timeout(Error, TimeoutError):
    """The deadline of an op or of a join passed (ETIMEDOUT); the sentence names the missing rank."""


class Mismatch(Error):
    """Ranks called different ops, or disagree about the comm (EPROTO); the sentence has both calls."""


class Aborted(Error):
    """This rank aborted the comm, or closed it while the op was running (ECANCELED)."""


class Invalid(Error, ValueError):
    """An argument is out of its range (EINVAL)."""


class NotSupported(Error):
    """A valid request that the module or the algorithm does not serve (EOPNOTSUPP)."""


class LimitReached(Error):
    """RLIMIT_MEMLOCK, or a limit of `torcollctl limit` (EDQUOT)."""


class AccessDenied(Error, PermissionError):
    """Wrong secret, no permission for /dev/torcoll, or a context of the parent process (EACCES, EPERM)."""


class NoModule(Error):
    """The module is not loaded (ENOENT from opening the device)."""


class NoFabric(Error):
    """This network namespace has no fabric of that key (ENODEV)."""


class Busy(Error):
    """The object is in use, or no op slot is free (EBUSY)."""


class LibraryMissing(Error):
    """libtorcoll.so.0 was not found, or is older than this package."""


CLASSES: dict[int, type[Error]] = {
    _errno.ECONNABORTED: PeerFailed,
    _errno.EHOSTDOWN: PeerFailed,
    _errno.EHOSTUNREACH: PeerFailed,
    _errno.ENETDOWN: FabricDeleted,
    _errno.ETIMEDOUT: Timeout,
    _errno.EPROTO: Mismatch,
    _errno.ECANCELED: Aborted,
    _errno.EINVAL: Invalid,
    _errno.EOPNOTSUPP: NotSupported,
    _errno.EDQUOT: LimitReached,
    _errno.EACCES: AccessDenied,
    _errno.EPERM: AccessDenied,
    _errno.ENODEV: NoFabric,
    _errno.EBUSY: Busy,
}


def error_for(err: int, sentence: str, rank: Optional[int] = None) -> Error:
    """Make the exception of an errno of either sign."""
    err = abs(err)
    return CLASSES.get(err, Error)(err, sentence, rank)
