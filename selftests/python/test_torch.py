# SPDX-License-Identifier: GPL-2.0
"""torcoll.torch, with modules in the place of PyTorch and of the extension: selftests/net/torch.sh has the real ones."""

import datetime
import importlib
import sys
from types import ModuleType
from typing import Any

import pytest


class Backend:
    """What torch.distributed knows of backends."""

    registered: dict[str, tuple[Any, dict[str, Any]]]

    @classmethod
    def register_backend(cls, name: str, create: Any, **kwargs: Any) -> None:
        cls.registered[name] = create, kwargs
        setattr(cls, name.upper(), name)


class Group:
    """A process group, as far as a barrier is concerned."""

    def __init__(self) -> None:
        self.called: list[tuple[datetime.timedelta, bool]] = []

    def monitored_barrier(self, timeout: datetime.timedelta, wait_all_ranks: bool) -> None:
        self.called.append((timeout, wait_all_ranks))


class Group2(Group):
    """That of PyTorch 2, which has a backend for each kind of device."""

    def __init__(self) -> None:
        super().__init__()
        self.backend = Group()

    def _get_backend(self, device: str) -> Group:
        assert device == "device cpu"
        return self.backend


def load(monkeypatch: pytest.MonkeyPatch, version: str, extension: bool = True) -> Any:
    """Import torcoll.torch with a PyTorch of that version."""
    torch, dist = ModuleType("torch"), ModuleType("torch.distributed")
    registry = type("Backend", (Backend,), {"registered": {}})
    torch.__dict__.update(__version__=version, device=lambda kind: f"device {kind}", distributed=dist)
    world = Group()
    c10d = ModuleType("c10d")
    c10d.__dict__.update(_get_default_group=lambda: world)
    member = type("GroupMember", (), {"NON_GROUP_MEMBER": -100})
    dist.__dict__.update(Backend=registry, GroupMember=member, distributed_c10d=c10d, world=world)
    ours = ModuleType("_torcoll_torch")
    ours.__dict__.update(backend_new=lambda *args: ("backend", *args))
    modules: Any = sys.modules
    monkeypatch.setitem(modules, "torch", torch)
    monkeypatch.setitem(modules, "torch.distributed", dist)
    monkeypatch.setitem(modules, "_torcoll_torch", ours if extension else None)
    monkeypatch.delitem(sys.modules, "torcoll.torch", raising=False)
    return importlib.import_module("torcoll.torch")


def test_torch_1_registers(monkeypatch: pytest.MonkeyPatch) -> None:
    module = load(monkeypatch, "1.13.0a0")
    create, kwargs = module.dist.Backend.registered["torcoll"]
    assert not kwargs
    assert create("store", 1, 4, datetime.timedelta(seconds=5)) == ("backend", "store", 1, 4, datetime.timedelta(seconds=5))


def test_torch_2_says_for_which_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    module = load(monkeypatch, "2.6.0+debian")
    assert module.dist.Backend.registered["torcoll"][1] == {"devices": ["cpu"]}
    # once, whoever imports it again
    module.dist.Backend.registered.clear()
    importlib.reload(module)
    assert not module.dist.Backend.registered


def test_torch_without_the_extension(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ImportError, match="another PyTorch than 1.13.0: build it by make torch"):
        load(monkeypatch, "1.13.0", extension=False)


def test_torch_monitored_barrier(monkeypatch: pytest.MonkeyPatch) -> None:
    module = load(monkeypatch, "2.6.0")
    module.monitored_barrier()
    module.monitored_barrier(timeout=2.5, wait_all_ranks=True)
    assert module.dist.world.called == [(datetime.timedelta(milliseconds=-1), False), (datetime.timedelta(seconds=2.5), True)]
    for timeout in (0, 0.0004, -0.001):
        with pytest.raises(ValueError, match="give 0.001 or more"):
            module.monitored_barrier(timeout=timeout)
    with pytest.raises(TypeError, match="timeout: '1s' is no number of seconds"):
        module.monitored_barrier(timeout="1s")
    assert len(module.dist.world.called) == 2
    group = Group2()
    module.monitored_barrier(group, timeout=1)
    assert group.backend.called == [(datetime.timedelta(seconds=1), False)]


@pytest.mark.parametrize("other", [-100, object()], ids=["torch_2", "torch_1"])
def test_torch_monitored_barrier_of_others(monkeypatch: pytest.MonkeyPatch, other: Any) -> None:
    module = load(monkeypatch, "2.6.0")
    monkeypatch.setattr(module.dist.GroupMember, "NON_GROUP_MEMBER", other)
    # what new_group() gives to ranks that are not in the group
    module.monitored_barrier(other, timeout=1)
    assert not module.dist.world.called
