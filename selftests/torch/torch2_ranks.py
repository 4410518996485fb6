# SPDX-License-Identifier: GPL-2.0
"""Cases of torch_ranks.py that only PyTorch 2 has: functional and coalesced collectives, meshes, FSDP."""

import os
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor

from torch_ranks import every, mine, raises, same


def mine_of(total: torch.Tensor) -> torch.Tensor:
    """The share of this rank."""
    return total.reshape(dist.get_world_size(), -1)[dist.get_rank()]


def functional_collectives() -> None:
    """Calls that return new tensors, which wait for their result where it is used."""
    group, size = dist.group.WORLD, dist.get_world_size()
    x = mine(1000)
    same(functional.all_reduce(x, "sum", group) + 0, every(1000).sum(0))
    same(x, mine(1000))
    same(functional.all_reduce(x, "avg", group) + 0, every(1000).sum(0) / size)
    same(functional.broadcast(x, 2, group) + 0, every(1000)[2])
    same(functional.all_gather_tensor(x, 0, group) + 0, every(1000).reshape(-1))
    total = every(1000 * size).sum(0)
    same(functional.reduce_scatter_tensor(mine(1000 * size), "sum", 0, group) + 0, mine_of(total))
    got = functional.all_to_all_single(mine(3 * size), None, None, group) + 0
    same(got, every(3 * size).reshape(size, size, 3)[:, dist.get_rank()].reshape(-1))
    a, b = functional.all_reduce_coalesced([mine(5), mine(1000)], "max", group)
    same(a + 0, every(5).amax(0))
    same(b + 0, every(1000).amax(0))
    # nobody waits
    functional.all_reduce(x, "sum", group)
    dist.barrier()


def coalescing() -> None:
    size = dist.get_world_size()
    tensors = [mine(n) for n in (5, 70000, 1000)]
    with dist._coalescing_manager():
        for x in tensors:
            dist.all_reduce(x)
    for x in tensors:
        same(x, every(len(x)).sum(0))
    out = [torch.zeros(size * n) for n in (5, 1000)]
    with dist._coalescing_manager(async_ops=True) as manager:
        for x in out:
            dist.all_gather_into_tensor(x, mine(len(x) // size))
    manager.wait()
    for x in out:
        same(x, every(len(x) // size).reshape(-1))
    out = [torch.zeros(n) for n in (5, 1000)]
    with dist._coalescing_manager():
        for x in out:
            dist.reduce_scatter_tensor(x, mine(len(x) * size))
    for x in out:
        same(x, mine_of(every(len(x) * size).sum(0)))


def batches() -> None:
    """Messages to both neighbours in a batch."""
    rank, size = dist.get_rank(), dist.get_world_size()
    before, after = (rank - 1) % size, (rank + 1) % size
    got = [torch.zeros(1000), torch.zeros(1000)]
    ops = [dist.P2POp(dist.isend, mine(1000), before), dist.P2POp(dist.isend, mine(1000), after),
           dist.P2POp(dist.irecv, got[0], before), dist.P2POp(dist.irecv, got[1], after)]
    for work in dist.batch_isend_irecv(ops):
        work.wait()
    same(got[0], every(1000)[before])
    same(got[1], every(1000)[after])


def meshes() -> None:
    """Tensors that are spread over a mesh of 2 by 2, whose rows and columns are groups."""
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("row", "column"))
    whole = torch.arange(96.0).reshape(8, 12)
    spread = distribute_tensor(whole, mesh, [Shard(0), Shard(1)])
    assert spread.to_local().shape == (4, 6)
    same(spread.full_tensor(), whole)
    same(spread.redistribute(mesh, [Replicate(), Shard(0)]).full_tensor(), whole)
    product = torch.mm(spread, distribute_tensor(whole.t().contiguous(), mesh, [Replicate(), Shard(0)]))
    assert isinstance(product, DTensor)
    same(product.full_tensor(), whole @ whole.t())


def layers() -> Any:
    torch.manual_seed(3)
    return torch.nn.Sequential(torch.nn.Linear(64, 300), torch.nn.ReLU(), torch.nn.Linear(300, 10))


def steps(model: torch.nn.Module, rank: int, size: int) -> list[float]:
    """Losses of a training by a share of the rows."""
    torch.manual_seed(2)
    rows, wanted = torch.randn(200, 64)[rank::size], torch.arange(200)[rank::size] % 10
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.8)
    curve = []
    for _ in range(10):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(rows), wanted, reduction="sum") / 200
        (loss * size).backward()
        optimizer.step()
        total = loss.detach().clone()
        if size > 1:
            dist.all_reduce(total)
        curve.append(total.item())
    return curve


def sharded() -> None:
    """Parameters, gradients and the optimizer's state in shards: the curve of one process."""
    rank, size = dist.get_rank(), dist.get_world_size()
    model = FullyShardedDataParallel(layers(), device_id=torch.device("cpu"))
    curve = steps(model, rank, size)
    alone = steps(layers(), 0, 1)
    assert all(abs(a - b) < 1e-5 for a, b in zip(curve, alone)), (curve, alone)
    assert sum(p.numel() for p in model.parameters()) < 300 * 64


def checked() -> None:
    """TORCH_DISTRIBUTED_DEBUG=DETAIL: PyTorch compares what ranks call, over Gloo."""
    os.environ["GLOO_SOCKET_IFNAME"] = "tor0"
    dist.set_debug_level(dist.DebugLevel.DETAIL)
    group = dist.new_group()
    x = mine(1000)
    dist.all_reduce(x, group=group)
    same(x, every(1000).sum(0))
    dist.barrier(group)
    raises("Detected mismatch between collectives on ranks", RuntimeError, dist.all_reduce,
           torch.zeros(100 + (dist.get_rank() == 1)), group=group)


def errors() -> None:
    """What is wrong with a call, by kind."""
    raises("no AVG of tensors of type Bool", ValueError, dist.all_reduce, torch.zeros(2) > 1, dist.ReduceOp.AVG)
    if dist.get_rank() == 3:
        raises("allreduce f32 sum", dist.DistBackendError, dist.barrier)
    else:
        raises("barrier", dist.DistBackendError, dist.all_reduce, mine(10))


CASES: list[Callable[[], None]] = [
    functional_collectives, coalescing, batches, meshes, sharded, checked, errors]
