# SPDX-License-Identifier: MIT
"""The backend "torcoll" of torch.distributed: import torcoll.torch, then init_process_group("torcoll").

    import torch.distributed as dist
    import torcoll.torch

    dist.init_process_group("torcoll")
    dist.all_reduce(x)

It is built for one version of PyTorch by "make torch"; docs/pytorch.md has more.
"""

from __future__ import annotations

import datetime
from typing import Any, Optional

import torch
import torch.distributed as dist

from ._ops import seconds

try:
    import _torcoll_torch
except ImportError as e:
    raise ImportError(f"torcoll.torch: the backend is not there, or is for another PyTorch than {torch.__version__}: "
                      f"build it by make torch, and install it by make install-torch ({e})") from e


def _create(store: Any, rank: int, size: int, timeout: datetime.timedelta) -> Any:
    return _torcoll_torch.backend_new(store, rank, size, timeout)


def _register() -> None:
    """Make the backend known, once.

    From PyTorch 2 on a backend says what devices it is for when it is named alone; "cpu:torcoll,cuda:torcoll" gives it
    tensors on others as well, which it copies.
    """
    if hasattr(dist.Backend, "TORCOLL"):
        return
    if int(torch.__version__.split(".")[0]) >= 2:
        dist.Backend.register_backend("torcoll", _create, devices=["cpu"])
    else:
        dist.Backend.register_backend("torcoll", _create)


def monitored_barrier(group: Optional[Any] = None, timeout: Optional[float] = None,
                      wait_all_ranks: bool = False) -> None:
    """Wait until all ranks have called this, as dist.monitored_barrier(), which PyTorch has for Gloo alone.

    timeout is in seconds, 0.001 or more; None: the group's. Raises on rank 0, with the first rank that did not call, or
    with all of them, and on the others; the group has failed then. They wait up to twice the timeout if it is rank 0
    that does not call. All ranks pass the same arguments, and have no message to or from rank 0 under way. Returns at
    once on a rank that is not in the group.
    """
    if timeout is not None and seconds(timeout) < 0.001:
        raise ValueError(f"monitored_barrier: a timeout of {timeout} s: give 0.001 or more, or None for the group's")
    if group == dist.GroupMember.NON_GROUP_MEMBER:
        return
    group = group or dist.distributed_c10d._get_default_group()
    if hasattr(group, "_get_backend"):
        group = group._get_backend(torch.device("cpu"))
    group.monitored_barrier(datetime.timedelta(milliseconds=-1) if timeout is None
                            else datetime.timedelta(seconds=timeout), wait_all_ranks)


_register()
