# SPDX-License-Identifier: GPL-2.0
"""The ranks of selftests/net/torch.sh: what the backend of torch.distributed does over the module, against a sequential oracle.

The data of every rank follow from its number, so that each computes what must come out. For each rank of a case there
is a line that says how it ended: right, wrong or killed. The ranks are forks of this process: to import PyTorch takes
minutes on an emulated processor.
"""

import ctypes
import datetime
import faulthandler
import math
import os
import runpy
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed import ReduceOp
from torch.distributed.algorithms.ddp_comm_hooks.powerSGD_hook import PowerSGDState, powerSGD_hook
from torch.nn.parallel import DistributedDataParallel

import torcoll.torch

RANKS = int(os.environ.get("RANKS", "4"))
NODES = int(os.environ.get("NODES", "4"))
FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
SIZES = (0, 1, 7, 1000, 65536 + 3)
DIGITS = "lib/examples/data/digits.csv.gz"


def data(rank: int, n: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Small integers: sums and products of them are exact in every type."""
    generator = torch.Generator().manual_seed(1000 * n + rank)
    return torch.randint(1, 4, (n,), generator=generator).to(dtype)


def mine(n: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return data(dist.get_rank(), n, dtype)


def every(n: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.stack([data(rank, n, dtype) for rank in range(dist.get_world_size())])


def same(got: torch.Tensor, wanted: torch.Tensor) -> None:
    assert got.dtype == wanted.dtype and got.shape == wanted.shape, (got.dtype, got.shape, wanted.dtype, wanted.shape)
    assert torch.equal(got, wanted), (got, wanted)


def raises(pattern: str, kind: Any, function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    try:
        function(*args, **kwargs)
    except kind as e:
        assert pattern in str(e), e
        return
    raise AssertionError(f"no error with: {pattern}")


# ---- cases of one group ----

def reductions() -> None:
    reduced: dict[Any, Callable[[torch.Tensor], torch.Tensor]] = {
        ReduceOp.SUM: lambda x: x.sum(0), ReduceOp.PRODUCT: lambda x: x.prod(0), ReduceOp.MIN: lambda x: x.amin(0),
        ReduceOp.MAX: lambda x: x.amax(0)}
    for n in SIZES:
        for dtype in FLOATS + INTEGERS if n in (0, 1000) else (torch.float32,):
            for op, oracle in reduced.items():
                x = mine(n, dtype)
                dist.all_reduce(x, op)
                same(x, oracle(every(n, torch.float64)).to(dtype))


def reductions_of_integers() -> None:
    whole = every(1000, torch.int32)
    for op, wanted in ((ReduceOp.BAND, whole[0] & whole[1] & whole[2] & whole[3]),
                       (ReduceOp.BOR, whole[0] | whole[1] | whole[2] | whole[3]),
                       (ReduceOp.BXOR, whole[0] ^ whole[1] ^ whole[2] ^ whole[3])):
        x = mine(1000, torch.int32)
        dist.all_reduce(x, op)
        same(x, wanted)
        raises("of tensors of type Float", ValueError, dist.all_reduce, mine(5), op)


def reductions_of_bool() -> None:
    whole = every(1000) > 1
    for op, wanted in ((ReduceOp.SUM, whole.any(0)), (ReduceOp.MAX, whole.any(0)), (ReduceOp.BOR, whole.any(0)),
                       (ReduceOp.PRODUCT, whole.all(0)), (ReduceOp.MIN, whole.all(0)), (ReduceOp.BAND, whole.all(0)),
                       (ReduceOp.BXOR, whole.sum(0) % 2 == 1)):
        x = mine(1000) > 1
        dist.all_reduce(x, op)
        same(x, wanted)
    raises("no AVG of tensors of type Bool", ValueError, dist.all_reduce, mine(5) > 1, ReduceOp.AVG)


def averages() -> None:
    make: Any = dist._make_nccl_premul_sum
    for dtype in FLOATS:
        x = mine(1000, dtype)
        dist.all_reduce(x, ReduceOp.AVG)
        same(x, (every(1000, torch.float64).sum(0) / dist.get_world_size()).to(dtype))
        x = mine(1000, dtype)
        dist.all_reduce(x, make(0.5))
        same(x, (every(1000, torch.float64).sum(0) / 2).to(dtype))
    x = mine(10)
    factor = torch.tensor([2.0])
    # PyTorch 1.13 takes one of each device
    dist.all_reduce(x, make([factor] if torch.__version__.startswith("1.") else factor))
    same(x, 2 * every(10).sum(0))
    x = mine(10, torch.int32)
    dist.all_reduce(x, make(3.0))
    same(x, 3 * every(10, torch.int32).sum(0).to(torch.int32))
    raises("PREMUL_SUM, 0.5", ValueError, dist.all_reduce, mine(10, torch.int32), make(0.5))


def strided() -> None:
    """Tensors that are not one piece of memory, and types that are only moved."""
    whole = every(600).sum(0).reshape(20, 30)
    x = mine(600).reshape(20, 30).t().contiguous().t()
    assert not x.is_contiguous()
    dist.all_reduce(x)
    same(x.contiguous(), whole)
    wide = torch.zeros(20, 60)
    part = wide[:, ::2]
    part.copy_(mine(600).reshape(20, 30))
    dist.all_reduce(part)
    same(part.contiguous(), whole)
    assert not wide[:, 1::2].any()
    z = torch.complex(mine(50), data(9, 50))
    dist.broadcast(z, 2)
    same(z, torch.complex(data(2, 50), data(9, 50)))
    out = [torch.zeros(30, 20).t() for _ in range(dist.get_world_size())]
    dist.all_gather(out, mine(600).reshape(20, 30))
    for rank, one in enumerate(out):
        same(one.contiguous(), data(rank, 600).reshape(20, 30))
    # a leaf of autograd, by the thread that waits, and by the one of futures
    leaf = mine(600).reshape(20, 30).t().contiguous().t().requires_grad_()
    dist.all_reduce(leaf)
    same(leaf.detach().contiguous(), whole)
    dist.all_reduce(leaf, async_op=True).get_future().wait()
    same(leaf.detach().contiguous(), dist.get_world_size() * whole)
    assert leaf.is_leaf
    # a tensor of inference, by the thread of futures, which is in no such mode
    with torch.inference_mode():
        x = mine(600).reshape(20, 30).t().contiguous().t()
    dist.all_reduce(x, async_op=True).get_future().wait()
    same(x.contiguous(), whole)


def rooted() -> None:
    rank, size = dist.get_rank(), dist.get_world_size()
    for root in range(size):
        for n in SIZES:
            x = mine(n)
            dist.broadcast(x, root)
            same(x, data(root, n))
            x = mine(n)
            dist.reduce(x, root)
            same(x, every(n).sum(0) if rank == root else mine(n))
            out = [torch.zeros(n) for _ in range(size)] if rank == root else None
            dist.gather(mine(n), out, root)
            for i, one in enumerate(out or []):
                same(one, data(i, n))
            x = torch.zeros(n)
            dist.scatter(x, list(every(n + 1)[:, 1:]) if rank == root else None, root)
            same(x, data(rank, n + 1)[1:])


def gathers() -> None:
    size = dist.get_world_size()
    for n in SIZES:
        for dtype in (torch.bfloat16, torch.bool, torch.int64) if n == 1000 else (torch.float32,):
            out = [torch.zeros(n, dtype=dtype) for _ in range(size)]
            dist.all_gather(out, mine(n, dtype))
            same(torch.stack(out), every(n, dtype))
            flat = torch.zeros(size * n, dtype=dtype)
            dist.all_gather(list(flat.chunk(size)) if n else [flat] * size, mine(n, dtype))
            same(flat.reshape(size, n), every(n, dtype))
            flat = torch.zeros(size * n, dtype=dtype)
            dist._all_gather_base(flat, mine(n, dtype))
            same(flat.reshape(size, n), every(n, dtype))
    out = [torch.zeros(3 + rank) for rank in range(size)]
    dist.all_gather(out, mine(3 + dist.get_rank()))
    for rank, one in enumerate(out):
        same(one, data(rank, 3 + rank))
    objects: list[Any] = [None] * size
    dist.all_gather_object(objects, {"rank": dist.get_rank(), "text": "x" * dist.get_rank()})
    assert objects == [{"rank": rank, "text": "x" * rank} for rank in range(size)], objects


def coalesced() -> None:
    size = dist.get_world_size()
    tensors = [mine(n) for n in (5, 70000, 0, 1000)]
    dist.all_reduce_coalesced(tensors)
    for x in tensors:
        same(x, every(len(x)).sum(0))
    lists = [[torch.zeros(n) for n in (5, 1000)] for _ in range(size)]
    dist.all_gather_coalesced(lists, [mine(5), mine(1000)])
    for rank, outputs in enumerate(lists):
        same(outputs[0], data(rank, 5))
        same(outputs[1], data(rank, 1000))


def sparse(rank: int, *more: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """The tensor of a rank: rank + 1 elements, two of which share an index, of 1,000 rows and any other dimensions."""
    rows = torch.tensor([[7 * i % 1000 for i in range(rank)] + [7]])
    return torch.sparse_coo_tensor(rows, data(rank, rows.numel() * math.prod(more), dtype).reshape(-1, *more), (1000, *more))


def sparse_sums() -> None:
    rank, size = dist.get_rank(), dist.get_world_size()
    for more in ((), (3,), (2, 5)):
        for dtype in (torch.float32, torch.int64, torch.float16):
            x, wanted = sparse(rank, *more, dtype=dtype), sum(sparse(r, *more, dtype=dtype).to_dense() for r in range(size))
            dist.all_reduce(x)
            assert x.is_sparse
            same(x.to_dense(), wanted)
    # nobody has any; one rank has none
    x = torch.sparse_coo_tensor(size=(4, 4))
    dist.all_reduce(x)
    assert x.is_sparse and not x._nnz()
    x = sparse(rank) if rank else torch.sparse_coo_tensor(size=(1000,))
    dist.all_reduce(x)
    same(x.to_dense(), sum(sparse(r).to_dense() for r in range(1, size)))
    # calls stay in the program's order, though one has two steps and a rank is late
    if rank == 0:
        time.sleep(0.3)
    x, y, z = sparse(rank), mine(1000), sparse(rank, 3)
    works = [dist.all_reduce(t, async_op=True) for t in (x, y, z)]
    works[2].get_future().wait()
    for work in works:
        work.wait()
    same(x.to_dense(), sum(sparse(r).to_dense() for r in range(size)))
    same(y, every(1000).sum(0))
    same(z.to_dense(), sum(sparse(r, 3).to_dense() for r in range(size)))
    raises("another type or shape", ValueError, dist.all_reduce, torch.eye(3 + (rank == 2)).to_sparse())
    raises("only the sum", ValueError, dist.all_reduce, torch.eye(3).to_sparse(), ReduceOp.MAX)
    dist.barrier()


def embedding() -> None:
    """DDP with sparse gradients, as one process computes them of all ranks' rows."""
    rank, size = dist.get_rank(), dist.get_world_size()

    def step(ddp: bool, rows: torch.Tensor) -> torch.Tensor:
        torch.manual_seed(1)
        tables = torch.nn.Sequential(torch.nn.EmbeddingBag(100, 8, sparse=True), torch.nn.Linear(8, 8))
        model = torch.nn.parallel.DistributedDataParallel(tables, bucket_cap_mb=0) if ddp else tables
        model(rows[:, None]).pow(2).sum(1).mean().backward()
        torch.optim.SGD(tables.parameters(), 1).step()
        return torch.cat([p.detach().flatten() for p in tables.parameters()])

    rows = torch.arange(4 * size) * 13 % 29
    got, wanted = step(True, rows[4 * rank:4 * rank + 4]), step(False, rows)
    assert torch.allclose(got, wanted, rtol=0, atol=1e-6), (got - wanted).abs().max()


def reduce_scatters() -> None:
    rank, size = dist.get_rank(), dist.get_world_size()
    for n in SIZES:
        total = every(size * n).sum(0)
        out = torch.zeros(n)
        dist.reduce_scatter(out, [mine(size * n)[i * n:(i + 1) * n].clone() for i in range(size)])
        same(out, total[rank * n:(rank + 1) * n])
        out = torch.zeros(n)
        dist._reduce_scatter_base(out, mine(size * n))
        same(out, total[rank * n:(rank + 1) * n])
    lengths = [4, 0, 9, 2][:size]
    begin, x = sum(lengths[:rank]), mine(sum(lengths))
    out = torch.zeros(lengths[rank])
    dist.reduce_scatter(out, list(x.split(lengths)), ReduceOp.MAX)
    same(out, every(len(x)).amax(0)[begin:begin + lengths[rank]])


def exchanges() -> None:
    rank, size = dist.get_rank(), dist.get_world_size()
    for n in SIZES:
        out = torch.zeros(size * n)
        dist.all_to_all_single(out, mine(size * n))
        same(out, torch.cat([data(i, size * n)[rank * n:(rank + 1) * n] for i in range(size)]))
    # row lengths: i + j from rank i to rank j
    sent, received = [rank + j for j in range(size)], [i + rank for i in range(size)]
    x = mine(3 * sum(sent)).reshape(-1, 3)
    out = torch.zeros(sum(received), 3)
    dist.all_to_all_single(out, x, received, sent)
    wanted = torch.cat([data(i, 3 * sum(i + j for j in range(size))).reshape(-1, 3)
                        .split([i + j for j in range(size)])[rank] for i in range(size)])
    same(out, wanted)
    outs = [torch.zeros(n, 3) for n in received]
    dist.all_to_all(outs, list(x.split(sent)))
    same(torch.cat(outs), wanted)


def messages() -> None:
    rank, size = dist.get_rank(), dist.get_world_size()
    right, left = (rank + 1) % size, (rank - 1) % size
    for n in SIZES:
        x, works = torch.zeros(n), [dist.isend(mine(n), right)]
        works.append(dist.irecv(x, left))
        for work in works:
            work.wait()
        same(x, data(left, n))
    if rank == 0:
        dist.send(torch.arange(5), 1, tag=7)
    elif rank == 1:
        x = torch.zeros(5, dtype=torch.int64)
        dist.recv(x, 0, tag=7)
        same(x, torch.arange(5))
    raises("name the rank that sends", ValueError, dist.recv, torch.zeros(1))
    x = torch.zeros(3)
    for work in dist.batch_isend_irecv([dist.P2POp(dist.isend, mine(3), right), dist.P2POp(dist.irecv, x, left)]):
        work.wait()
    same(x, data(left, 3))


def signal_masks() -> list[int]:
    """What each thread of this process blocks."""
    masks = []
    for task in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{task}/status", encoding="ascii") as status:
            masks += [int(line.split()[1], 16) for line in status if line.startswith("SigBlk:")]
    return masks


def works() -> None:
    x = mine(1000)
    work = dist.all_reduce(x, async_op=True)
    assert work.wait() and work.is_completed() and work.is_success()
    same(work.result()[0], every(1000).sum(0))
    assert work.wait()
    # futures, in any order, of ops in any number
    xs = [mine(100 + i) for i in range(40)]
    futures = [dist.all_reduce(x, async_op=True).get_future().then(lambda f: f.value()[0].sum()) for x in xs]
    for i, future in reversed(list(enumerate(futures))):
        same(future.wait(), every(100 + i).sum())
    # the thread that completes them takes no signals
    assert any(blocked & 1 << (signal.SIGTERM - 1) for blocked in signal_masks())
    # dropped, with their tensors
    for i in range(40):
        dist.all_reduce(mine(50000), async_op=True)
    # polled; and two threads wait for one
    work = dist.barrier(async_op=True)
    while not work.is_completed():
        time.sleep(0.001)
    # with a future that is asked for meanwhile
    work = dist.all_reduce(x, async_op=True)
    threads = [threading.Thread(target=work.wait) for _ in range(2)]
    for thread in threads:
        thread.start()
    work.get_future().wait()
    for thread in threads:
        thread.join()
    store = dist.distributed_c10d._get_default_store()
    if dist.get_rank():
        store.wait(["not complete"], datetime.timedelta(seconds=120))
    work = dist.barrier(async_op=True)
    if dist.get_rank() == 0:
        raises("not complete after 50 ms", RuntimeError, work.wait, datetime.timedelta(milliseconds=50))
        store.set("not complete", "1")
    work.wait()


def chained() -> None:
    """Callbacks of futures that wait for other calls: one that they begin, and ones that are under way."""
    x, y, ranks = mine(1000), mine(500), dist.get_world_size()

    def begin(future: Any) -> torch.Tensor:
        same(future.value()[0], every(1000).sum(0))
        return dist.all_reduce(y, async_op=True).get_future().wait()[0]

    def again(future: Any) -> torch.Tensor:
        return dist.all_reduce(future.value(), async_op=True).get_future().wait()[0]

    same(dist.all_reduce(x, async_op=True).get_future().then(begin).then(again).wait(), ranks * every(500).sum(0))
    # each waits for the next, whose result is there as soon as its own, or later
    for late in (False, True):
        futures = [dist.all_reduce(mine(100 + i), async_op=True).get_future() for i in range(10)]
        sums: list[Any] = [futures[-1].then(lambda f: f.value()[0].sum())]
        for future in reversed(futures[:-1]):
            sums.append(future.then(lambda f, after=sums[-1]: f.value()[0].sum() + after.wait()))
            if late:
                time.sleep(0.05)
        same(sums[-1].wait(), torch.stack([every(100 + i).sum() for i in range(10)]).sum())


def is_complete_soon(work: Any, seconds: float = 0.5) -> bool:
    for _ in range(int(seconds * 100)):
        if work.is_completed():
            return True
        time.sleep(0.01)
    return False


def ahead() -> None:
    """A rank starts many ops and waits for none; the others see all of them complete."""
    pair = dist.new_group([0, 1])
    if dist.get_rank() == 0:
        xs = [mine(1000) for _ in range(50)]
        works = [dist.all_reduce(x, group=pair, async_op=True) for x in xs]
        store = dist.distributed_c10d._get_default_store()
        store.wait(["seen"], datetime.timedelta(seconds=120))
        # the other rank has its last result, this one's may be on its way
        for work in works:
            assert is_complete_soon(work, 60)
    elif dist.get_rank() == 1:
        for _ in range(50):
            dist.all_reduce(mine(1000), group=pair)
        dist.distributed_c10d._get_default_store().set("seen", "1")


def slow() -> None:
    """Broadcasts of a root that is ahead of its peer: they are complete there, but keep their slots until the peer calls."""
    pair, store = dist.new_group([0, 1]), dist.distributed_c10d._get_default_store()
    patience = datetime.timedelta(seconds=120)

    def bcast() -> Any:
        return dist.broadcast(data(0, 10), 0, group=pair, async_op=True)

    if dist.get_rank() == 0:
        # nothing happens but that slots become free, when the thread of futures has seen all results
        futures = [bcast().get_future() for _ in range(20)]
        futures[7].wait()
        time.sleep(1)
        assert not futures[-1].done()
        store.set("futures", str(len(futures)))
        futures[-1].wait()
        store.wait(["received"], patience)
        # the last is queued, though it is the only one that is not complete, and nobody looks for it
        n, work = 1, bcast()
        while is_complete_soon(work):
            n, work = n + 1, bcast()
        store.set("works", str(n))
        store.wait(["all received"], patience)
        work.wait()
    elif dist.get_rank() == 1:
        for key, then in (("futures", "received"), ("works", "all received")):
            store.wait([key], patience)
            for _ in range(int(store.get(key))):
                bcast().wait()
            store.set(then, "1")


def refusals() -> None:
    size = dist.get_world_size()
    # PyTorch 2 asks no backend: it has no broadcast of these
    kind: Any = ValueError if torch.__version__.startswith("1.") else NotImplementedError
    raises("dense, not sparse" if kind is ValueError else "SparseCPU", kind, dist.broadcast, torch.eye(3).to_sparse(), 0)
    raises("no SUM of tensors of type ComplexFloat", ValueError, dist.reduce, torch.zeros(2, dtype=torch.complex64), 0)
    raises("elements", ValueError, dist._all_gather_base, torch.zeros(size + 1), torch.zeros(1))
    raises("rows are no multiple", ValueError, dist.all_to_all_single, torch.zeros(size + 1), torch.zeros(size + 1))
    raises("sum up to", ValueError, dist.all_to_all_single, torch.zeros(size), torch.zeros(size), [1] * size,
           [2] * size)
    raises("of one type", ValueError, dist._reduce_scatter_base, torch.zeros(1), torch.zeros(size).long())
    dist.barrier()


def groups() -> None:
    """Sub-groups, whose ranks are in another order than the world's, side by side."""
    rank, size = dist.get_rank(), dist.get_world_size()
    halves = [dist.new_group(list(range(i, size, 2))) for i in range(2)]
    half = halves[rank % 2]
    x = mine(1000)
    dist.all_reduce(x, group=half)
    same(x, every(1000)[rank % 2::2].sum(0))
    x = mine(10)
    dist.broadcast(x, 2 + rank % 2, group=half)
    same(x, data(2 + rank % 2, 10))
    alone = [dist.new_group([i]) for i in range(size)][rank]
    x = mine(10)
    dist.all_reduce(x, group=alone)
    same(x, mine(10))
    dist.all_reduce(x)
    same(x, every(10).sum(0))
    dist.destroy_process_group(half)


def monitored() -> None:
    torcoll.torch.monitored_barrier()
    torcoll.torch.monitored_barrier(timeout=60, wait_all_ranks=True)
    x = mine(10)
    dist.all_reduce(x)
    same(x, every(10).sum(0))


def rss() -> int:
    """KiB of this process in memory."""
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * 4


CALLS = int(os.environ.get("CALLS", "3000"))


def calls(n: int = CALLS) -> None:
    """So many calls: waited for, by futures, and forgotten; memory must not grow behind the first tenth of them."""
    x, before = torch.zeros(16), 0
    for i in range(n):
        if i == n // 10:
            before = rss()
        if i % 3 == 0:
            dist.all_reduce(x)
        elif i % 3 == 1:
            dist.broadcast(x, 0, async_op=True).get_future().wait()
        else:
            dist.barrier(async_op=True)
    dist.barrier()
    grown = rss() - before
    print(f"note: {n} calls, {rss()} KiB, {grown} more than after {n // 10}")
    assert grown < 1024, grown


# ---- training ----

def losses(ddp: bool, compressed: bool = False) -> tuple[list[float], torch.Tensor]:
    """Of steps of a network of two layers on the digits: of this rank's share of the rows with DDP, else of all."""
    torch.manual_seed(2)
    rank, size = (dist.get_rank(), dist.get_world_size()) if ddp else (0, 1)
    rows = torch.randn(200, 64)[rank::size]
    wanted = torch.arange(200)[rank::size] % 10
    torch.manual_seed(3)
    model: torch.nn.Module = torch.nn.Sequential(torch.nn.Linear(64, 300), torch.nn.ReLU(), torch.nn.Linear(300, 10))
    if ddp:
        # the order of the calls that a hook's callbacks begin is that of one bucket
        model = DistributedDataParallel(model, bucket_cap_mb=1 if compressed else 0.05)
    if compressed:
        model.register_comm_hook(PowerSGDState(None, 4, start_powerSGD_iter=2), powerSGD_hook)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.8)
    curve = []
    for _ in range(10):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(rows), wanted, reduction="sum") / 200
        (loss * size).backward()
        optimizer.step()
        total = loss.detach().clone()
        if ddp:
            dist.all_reduce(total)
        curve.append(total.item())
    return curve, torch.cat([p.detach().reshape(-1) for p in model.parameters()])


def training() -> None:
    """Several buckets, whose futures DDP waits for: the curve of one process, and weights equal to the last bit."""
    curve, weights = losses(True)
    if dist.get_rank() == 0:
        alone, _ = losses(False)
        assert all(abs(a - b) < 1e-6 for a, b in zip(curve, alone)), (curve, alone)
        assert curve[-1] < curve[0]
    out = [torch.zeros_like(weights) for _ in range(dist.get_world_size())]
    dist.all_gather(out, weights)
    for one in out:
        same(one, weights)


def compressed() -> None:
    """A hook of DDP whose callbacks wait for allreduces that they begin."""
    curve, weights = losses(True, True)
    assert curve[-1] < curve[0], curve
    out = [torch.zeros_like(weights) for _ in range(dist.get_world_size())]
    dist.all_gather(out, weights)
    for one in out:
        same(one, weights)


def cut() -> None:
    """Steps go on while a cable is cut: selftests/net/torch.sh cuts it when it reads that they do, and then makes the file CUT."""
    begin, after = time.monotonic(), 0
    if dist.get_rank() == 0:
        print("note: steps", flush=True)
    while True:
        x = mine(20000)
        dist.all_reduce(x)
        same(x, every(20000).sum(0))
        after += os.path.exists(os.environ["CUT"])
        # that there was no cut, the script sees
        end = torch.tensor([after > 20 or time.monotonic() - begin > 200])
        dist.broadcast(end, 0)
        if end:
            return


# ---- cases that end a group ----

def killed() -> None:
    """Rank 2 dies in the middle; the others are told in seconds, by which rank: one that waits, one by a future."""
    dist.barrier()
    if dist.get_rank() == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    begin, x = time.monotonic(), torch.zeros(1000)
    try:
        while True:
            if dist.get_rank() == 1:
                dist.all_reduce(x, async_op=True).get_future().wait()
            else:
                dist.all_reduce(x)
    except RuntimeError as e:
        took = time.monotonic() - begin
        assert "torcoll: " in str(e) and "rank 2" in str(e), e
        print(f"note: rank {dist.get_rank()}: {type(e).__name__} after {took:.2f} s: {e}")
        # that of a process with PyTorch in it takes long to go; far less than the time that calls have
        assert took < 60, took
    raises("rank 2", RuntimeError, dist.barrier)


def mismatch() -> None:
    """Ranks disagree on the count."""
    raises("allreduce f32 sum count 10", RuntimeError, dist.all_reduce, torch.zeros(100 + (dist.get_rank() == 1)))


def tags() -> None:
    """A message comes with another tag than its receiver expects."""
    # rank 0, which has the store, would leave before ranks without a message have begun
    dist.barrier()
    if dist.get_rank() == 0:
        dist.send(torch.zeros(5), 1, tag=7)
    elif dist.get_rank() == 1:
        raises("has sent tag 7 where tag 8 was expected", RuntimeError, dist.recv, torch.zeros(5), 0, None, 8)


def late() -> None:
    """Rank 3 does not call; rank 0's timeout passes, which begins when the others say that they have called. They learn who gave up."""
    group = dist.new_group()
    said, all_said = "", [""] * dist.get_world_size()
    try:
        if dist.get_rank() == 0:
            for source in 1, 2:
                dist.recv(torch.zeros(1), source)
            options = dist.BarrierOptions()
            options.timeout = datetime.timedelta(seconds=2)
            group.barrier(options).wait()
        elif dist.get_rank() < 3:
            work = dist.barrier(group, async_op=True)
            dist.send(torch.zeros(1), 0)
            work.wait()
    except RuntimeError as e:
        said = str(e)
    # the world is another comm
    dist.all_gather_object(all_said, said)
    assert "rank 3" in all_said[0] and "the timeout passed" in all_said[0], all_said
    assert all("rank 0" in one for one in all_said[1:3]), all_said


def absent() -> None:
    """Ranks 1 and 3 do not come to a monitored barrier, to which the others come at the same time."""
    dist.barrier()
    if dist.get_rank() == 0:
        raises("Ranks 1, 3 failed to pass monitoredBarrier in 3000 ms", RuntimeError, torcoll.torch.monitored_barrier, timeout=3.0,
               wait_all_ranks=True)
    elif dist.get_rank() == 2:
        raises("rank 0", RuntimeError, torcoll.torch.monitored_barrier, timeout=60.0, wait_all_ranks=True)
    else:
        time.sleep(8)


def mistaken() -> None:
    """A byte that rank 1 sends is not its signal at a monitored barrier, to which it does not come."""
    if dist.get_rank() == 1:
        dist.send(torch.zeros(1, dtype=torch.uint8), 0)
    else:
        raises("EPROTO", RuntimeError, torcoll.torch.monitored_barrier, timeout=60.0)


# ---- programs, which make their own group ----

def program(path: str, *arguments: str) -> None:
    """Execute a program of Python here."""
    sys.argv = [path, *arguments]
    runpy.run_path(path, run_name="__main__")


def ddp() -> None:
    program("python/examples/ddp.py", DIGITS)


def ddp_alone() -> None:
    """The same in one process."""
    if os.environ["RANK"] == "0":
        os.environ["WORLD_SIZE"] = "1"
        program("python/examples/ddp.py", DIGITS, "gloo")


def lost() -> None:
    """A rank is on no fabric: all are told which."""
    if os.environ["RANK"] == "3":
        os.environ["TORCOLL_FABRIC"] = "99"
        raises("this host is not in fabric 99", RuntimeError, dist.init_process_group, "torcoll")
    else:
        raises("rank 3: this host is not in fabric 99", RuntimeError, dist.init_process_group, "torcoll")


def again() -> None:
    """A group after another on one store: it must not join by what the first left there."""
    rank = int(os.environ["RANK"])
    plain = {} if torch.__version__.startswith("1.") else {"use_libuv": False}
    store = dist.TCPStore("10.7.0.1", int(os.environ["MASTER_PORT"]), RANKS, rank == 0, **plain)
    for _ in range(2):
        # the others ask the store before it tells anything new
        if rank == 0:
            time.sleep(1)
        group = torcoll.torch._create(store, rank, RANKS, datetime.timedelta(seconds=60))
        x = data(rank, 10)
        group.allreduce([x]).wait()
        same(x, torch.stack([data(i, 10) for i in range(RANKS)]).sum(0))
        del group


PROGRAMS: list[Callable[[], None]] = [ddp, ddp_alone, lost, again]
CASES: list[Callable[[], None]] = [
    reductions, reductions_of_integers, reductions_of_bool, averages, strided, rooted, gathers, coalesced, sparse_sums, embedding,
    reduce_scatters, exchanges, messages, works, chained, ahead, slow, refusals, groups, monitored, calls, training,
    compressed, cut, killed, mismatch, tags, late, absent, mistaken]


def become(rank: int, number: int) -> None:
    """A rank on its node, as a launcher starts one: with RANK, WORLD_SIZE and MASTER_ADDR alone."""
    clone_newnet = 0x40000000
    libc = ctypes.CDLL(None, use_errno=True)
    with open(f"/run/netns/tor-{rank % NODES}", encoding="ascii") as netns:
        if libc.setns(netns.fileno(), clone_newnet):
            raise OSError(ctypes.get_errno(), f"setns to the node of rank {rank}")
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(RANKS), MASTER_ADDR="10.7.0.1", MASTER_PORT=str(29500 + number))
    torch.set_num_threads(1)


def more_cases() -> list[Callable[[], None]]:
    """Of PyTorch 2; what they import takes minutes."""
    if torch.__version__.startswith("1."):
        return []
    sys.modules["torch_ranks"] = sys.modules["__main__"]
    import torch2_ranks

    return list(torch2_ranks.CASES)


def execute(name: str) -> None:
    for one in PROGRAMS:
        if one.__name__ == name:
            one()
            return
    dist.init_process_group("torcoll", timeout=datetime.timedelta(seconds=300))
    {case.__name__: case for case in CASES + more_cases()}[name]()
    dist.destroy_process_group()


def child(rank: int, number: int, name: str) -> int:
    """What a rank's process exits with. One that hangs says where."""
    code = 1
    faulthandler.dump_traceback_later(400 + CALLS // 25, exit=True)
    try:
        become(rank, number)
        execute(name)
        code = 0
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def main() -> None:
    more_cases()
    for number, name in enumerate(sys.argv[1:]):
        begin = time.monotonic()
        ranks = []
        for rank in range(RANKS):
            pid = os.fork()
            if not pid:
                os._exit(child(rank, number, name))
            ranks.append(pid)
        for rank, pid in enumerate(ranks):
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            how = {0: "right", -signal.SIGKILL: "killed"}.get(code, "wrong")
            print(f"{how} {name} rank {rank} after {time.monotonic() - begin:.1f} s", flush=True)


if __name__ == "__main__":
    main()
