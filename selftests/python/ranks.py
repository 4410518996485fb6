# SPDX-License-Identifier: GPL-2.0
"""The ranks of selftests/net/python.sh: what the package does over the module, against NumPy.

The data of every rank follow from its number, so that each computes what must come out. For each rank of a
case there is a line that says how it ended: right, wrong or killed.
"""

import asyncio
import ctypes
import os
import resource
import runpy
import signal
import sys
import time
import traceback
from array import array
from collections.abc import Callable
from typing import Any

import numpy as np

import torcoll
from torcoll import _abi, _names

RANKS = 4
SIZES = (1, 7, 1000, 65536 + 3)
REDUCE: dict[str, Any] = {"sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum,
                          "band": np.bitwise_and, "bor": np.bitwise_or, "bxor": np.bitwise_xor}


def data(rank: int, n: int, dtype: str = "f4") -> Any:
    """Small integers: sums and products of them are exact in every type."""
    return np.random.default_rng([rank, n]).integers(1, 4, n).astype(dtype)


def every(comm: torcoll.Comm, n: int, dtype: str = "f4") -> Any:
    return np.stack([data(rank, n, dtype) for rank in range(comm.size)])


def same(got: Any, wanted: Any) -> None:
    np.testing.assert_array_equal(np.asarray(got), wanted)


def bf16(x: Any) -> Any:
    """The upper half of f32, for values that lose nothing by it."""
    return (x.astype("f4").view("u4") >> 16).astype("u2")


# ---- cases of one comm ----

def allreduce(comm: torcoll.Comm) -> None:
    for n in SIZES:
        for dtype in ("i1", "u2", "i4", "u8", "f2", "f4", "f8") if n == 1000 else ("f4",):
            names = ("sum", "prod", "min", "max") + (() if dtype[0] == "f" else ("band", "bor", "bxor"))
            for op in names:
                wanted = REDUCE[op].reduce(every(comm, n, dtype), axis=0, dtype=dtype)
                x, out = data(comm.rank, n, dtype), np.zeros(n, dtype)
                same(comm.allreduce(x, out, op=op), wanted)
                same(x, data(comm.rank, n, dtype))
                same(comm.allreduce(x, op=op), wanted)


def allreduce_types(comm: torcoll.Comm) -> None:
    total = every(comm, 100).sum(axis=0)
    x = bf16(data(comm.rank, 100))
    same(comm.allreduce(x, dtype="bf16"), bf16(total))
    same(comm.allreduce(array("d", data(comm.rank, 100)), op="avg"), total / comm.size)
    scaled = comm.allreduce(data(comm.rank, 100), op="premulsum", scale=0.5)
    same(scaled, total / 2)
    x = bf16(data(comm.rank, 100))
    same(comm.allreduce(x, dtype="bf16", op="premulsum", scale=2.0), bf16(2 * total))
    same(comm.allreduce(np.array([True, False, comm.rank == 1]), op="lor"), [True, False, True])
    pair = np.zeros(3, torcoll.numpy_dtype("double-int"))
    pair["value"], pair["index"] = [comm.rank, -comm.rank, 1], comm.rank
    comm.allreduce(pair, dtype="double-int", op="maxloc")
    same(pair["value"], [comm.size - 1, 0, 1])
    same(pair["index"], [comm.size - 1, 0, 0])


def allreduce_options(comm: torcoll.Comm) -> None:
    wanted = every(comm, 5000).sum(axis=0)
    for algorithm in ("ring", "bibucket", "swing-bw", "flood"):
        request = comm.iallreduce(data(comm.rank, 5000), algorithm=algorithm)
        same(request.wait(), wanted)
        assert request.algorithm == algorithm
    for bits in ("agree", "ordered", "relaxed"):
        same(comm.allreduce(data(comm.rank, 5000), bits=bits, timeout=60), wanted)
    same(comm.allreduce(data(comm.rank, 5000), algorithm="ring", params={"channels": 1}), wanted)
    comm.set_algorithm("allreduce:ring")
    assert comm.iallreduce(data(comm.rank, 5000)).wait() is not None
    comm.set_algorithm("auto")


def reduce_scatter(comm: torcoll.Comm) -> None:
    for n in SIZES:
        total, own = every(comm, n).sum(axis=0), comm.block_of(n)
        out = np.zeros(own.stop - own.start, "f4")
        same(comm.reduce_scatter(data(comm.rank, n), out), total[own])
        same(comm.reduce_scatter(data(comm.rank, n))[own], total[own])
    counts = [5, 0, 3, 92][:comm.size - 1] + [7]
    n, begin = sum(counts), sum(counts[:comm.rank])
    out = np.zeros(counts[comm.rank], "f4")
    same(comm.reduce_scatter(data(comm.rank, n), out, op="max", counts=counts),
         every(comm, n).max(axis=0)[begin:begin + len(out)])


def allgather(comm: torcoll.Comm) -> None:
    for n in SIZES:
        whole, own = data(99, n), comm.block_of(n)
        same(comm.allgather(whole[own].copy(), np.zeros(n, "f4")), whole)
        out = np.zeros(n, "f4")
        out[own] = whole[own]
        same(comm.allgather(None, out), whole)
    counts = list(range(comm.size))
    whole, begin = data(99, sum(counts)), sum(counts[:comm.rank])
    same(comm.allgather(whole[begin:begin + comm.rank], np.zeros(len(whole), "f4"), counts=counts), whole)


def rooted(comm: torcoll.Comm) -> None:
    for root in range(comm.size):
        for n in SIZES:
            own, whole, at_root = comm.block_of(n), data(root, n), comm.rank == root
            same(comm.broadcast(data(comm.rank, n), root), whole)
            total = comm.reduce(data(comm.rank, n), np.zeros(n, "f4") if at_root else None, root=root)
            assert (total is None) != at_root
            if at_root:
                same(total, every(comm, n).sum(axis=0))
            got = comm.gather(whole[own].copy(), np.zeros(n, "f4") if at_root else None, root, count=n)
            if at_root:
                same(got, whole)
            out = np.zeros(own.stop - own.start, "f4")
            same(comm.scatter(whole if at_root else None, out, root, count=n), whole[own])
        counts = [2, 0, 5, 1][:comm.size]
        begin, whole = sum(counts[:comm.rank]), data(root, sum(counts))
        part = whole[begin:begin + counts[comm.rank]]
        got = comm.gather(part, np.zeros(len(whole), "f4") if comm.rank == root else None, root, counts=counts)
        if comm.rank == root:
            same(got, whole)
        same(comm.scatter(whole if comm.rank == root else None, np.zeros(len(part), "f4"), root, counts=counts), part)


def exchange(comm: torcoll.Comm) -> None:
    for n in (1, 33, 5000):
        blocks = every(comm, n * comm.size).reshape(comm.size, comm.size, n)
        mine = np.ascontiguousarray(blocks[comm.rank])
        same(comm.alltoall(mine, np.zeros_like(mine)), blocks[:, comm.rank])
        same(comm.alltoall(mine), blocks[:, comm.rank])
    # rank i sends i + j elements to rank j
    to = [comm.rank + rank for rank in range(comm.size)]
    send = np.concatenate([np.full(count, comm.rank * 10 + rank) for rank, count in enumerate(to)])
    got = comm.alltoall(send, np.zeros(sum(to), send.dtype), send_counts=to, recv_counts=to)
    same(got, np.concatenate([np.full(count, rank * 10 + comm.rank) for rank, count in enumerate(to)]))
    # 2x2: one neighbour along each dimension, on both sides
    x, y = comm.rank ^ 1, comm.rank ^ 2
    halo = comm.halo(np.full(8, comm.rank, "i4"))
    same(np.sort(halo), np.sort(np.repeat([x, y], 4)))


def scans(comm: torcoll.Comm) -> None:
    for n in SIZES:
        sums = np.cumsum(every(comm, n), axis=0)
        same(comm.scan(data(comm.rank, n)), sums[comm.rank])
        got = comm.exscan(data(comm.rank, n), np.zeros(n, "f4"))
        if comm.rank:
            same(got, sums[comm.rank - 1])


def messages(comm: torcoll.Comm) -> None:
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    for n in SIZES:
        request = comm.isend(data(comm.rank, n), right)
        same(comm.recv(np.zeros(n, "f4"), left), data(left, n))
        request.wait()
    if comm.rank == 0:
        comm.send(b"a word", 1)
    elif comm.rank == 1:
        assert comm.recv(bytearray(6), 0) == b"a word"
    comm.barrier()


def in_flight(comm: torcoll.Comm) -> None:
    vectors = [data(comm.rank, n) for n in (10, 2000, 30000, 5, 70000)]
    requests = [comm.iallreduce(x) for x in vectors]
    for request, x in reversed(list(zip(requests, vectors))):
        assert request.wait() is x
        same(x, every(comm, len(x)).sum(axis=0))
    for _ in range(3):
        # these are forgotten, and more than there are slots
        for _ in range(10):
            comm.iallreduce(data(comm.rank, 100))
    comm.barrier()
    with comm.batch() as batch:
        first = batch.add("allreduce", data(comm.rank, 100), op="max")
        second = batch.add("broadcast", data(comm.rank, 50000), 1)
    same(second.wait(), data(1, 50000))
    same(first.wait(), every(comm, 100).max(axis=0))


def prepared(comm: torcoll.Comm) -> None:
    x, y = torcoll.empty(3000, "f4"), np.zeros(20000, "f4")
    with comm.prepare("allreduce", x) as one, comm.prepare("allreduce", y, op="min") as two:
        for turn in range(5):
            x[:], y[:] = data(comm.rank, 3000) + turn, data(comm.rank, 20000)
            for request in torcoll.start_all([one, two]):
                request.wait()
            same(x, (every(comm, 3000) + turn).sum(axis=0))
            same(y, every(comm, 20000).min(axis=0))
        assert one() is x


def left(comm: torcoll.Comm) -> None:
    """A prepared call and registered memory that are left while an op uses them: what comes to the address is right."""
    def late(x: Any) -> None:
        comm.barrier()
        if comm.rank == 1:
            time.sleep(0.5)
        x[:] = data(comm.rank, len(x))

    n = 200000
    for _ in range(3):
        x = np.zeros(n, "f4")
        late(x)
        try:
            with comm.prepare("allreduce", x) as call:
                call.start().wait(timeout=0.05)
        except TimeoutError:
            pass
        del x, call
        y = data(comm.rank, n)
        same(comm.allreduce(y), every(comm, n).sum(axis=0))
        x = np.zeros(n, "f4")
        registration = comm.context.register(x)
        late(x)
        request = comm.iallreduce(x)
        del registration
        same(request.wait(), every(comm, n).sum(axis=0))
        del x, y, request
        y = data(comm.rank, n)
        same(comm.allreduce(y), every(comm, n).sum(axis=0))


def memory(comm: torcoll.Comm) -> None:
    x = torcoll.empty((100, 1000), "f8")
    x[:] = data(comm.rank, 1000, "f8")
    same(comm.allreduce(x), np.tile(every(comm, 1000, "f8").sum(axis=0), (100, 1)))
    y = np.zeros(300000, "f4")
    with comm.context.register(y):
        for _ in range(3):
            y[:] = data(comm.rank, len(y))
            same(comm.allreduce(y), every(comm, len(y)).sum(axis=0))
    raw = comm.context.alloc(64)
    raw[:] = bytes([comm.rank]) * 64
    assert bytes(comm.allreduce(raw, op="max")) == bytes([comm.size - 1]) * 64


def tasks(comm: torcoll.Comm) -> None:
    async def one(n: int) -> None:
        same(await comm.iallreduce(data(comm.rank, n)), every(comm, n).sum(axis=0))

    async def main() -> None:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                await asyncio.sleep(0.001)
                ticks += 1

        ticker = asyncio.ensure_future(tick())
        for n in SIZES:
            await one(n)
        # tasks start in their order, which is that of the calls
        await asyncio.gather(*(one(n) for n in (5, 40000, 17, 90000)))
        # more than the comm has slots
        await asyncio.gather(*(one(8) for _ in range(100)))
        peer = comm.rank ^ 1
        await asyncio.gather(comm.isend(data(comm.rank, 50), peer), comm.irecv(np.zeros(50, "f4"), peer))
        ticker.cancel()
        assert ticks

    asyncio.run(main())


def groups(comm: torcoll.Comm) -> None:
    with comm.dup() as other, comm.slice(0) as row:
        same(other.allreduce(data(comm.rank, 10)), every(comm, 10).sum(axis=0))
        same(row.allgather(np.array([comm.rank]), np.zeros(2, int)), [comm.rank & ~1, comm.rank | 1])
    half = comm.split(comm.rank % 2, -comm.rank)
    assert half is not None and (half.size, half.rank) == (comm.size // 2, 1 - comm.rank // 2)
    half.barrier()
    half.close()
    none = comm.split(None if comm.rank else 5)
    assert (none is None) == (comm.rank != 0)
    if none:
        none.close()
    info = comm.info()
    assert info.dims == (2, 2) and info.error == 0 and info.size == comm.size and comm.local_ranks == (comm.rank,)


def rss() -> int:
    """KiB of this process in memory."""
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize() // 1024


def calls(comm: torcoll.Comm, n: int = int(os.environ.get("CALLS", "10000"))) -> None:
    """So many calls, blocking, not, and forgotten; memory must not grow behind the first tenth of them."""
    x, y = np.zeros(16, "f4"), np.zeros(16, "f4")
    before = 0
    for i in range(n):
        if i == n // 10:
            before = rss()
        if i % 3 == 0:
            comm.allreduce(x, y)
        elif i % 3 == 1:
            comm.ibroadcast(x).wait()
        else:
            comm.ibarrier()
    comm.barrier()
    grown = rss() - before
    print(f"rank {comm.rank}: {n} calls, {rss()} KiB, {grown} more than after {n // 10}")
    assert grown < 512, grown


def overhead(comm: torcoll.Comm) -> None:
    """What the package adds to a call of the library, alone on its node so that nobody is waited for."""
    alone = comm.split(comm.rank)
    assert alone is not None
    x = np.zeros(2, "f4")
    op = _abi.Op(collective=_names.Collective.ALLREDUCE, type=_names.Type.F32, redop=_names.Redop.SUM, count=2,
                 send=x.ctypes.data, recv=x.ctypes.data)
    request, lib, handle = _abi.Request(), alone._lib, alone._handle

    def bare() -> None:
        lib.torcoll_submit(handle, ctypes.byref(op), ctypes.byref(request))
        lib.torcoll_wait_until(ctypes.byref(request), 0)

    def microseconds(function: Callable[[], Any]) -> float:
        best = float("inf")
        for _ in range(5):
            begin = time.perf_counter_ns()
            for _ in range(200):
                function()
            best = min(best, (time.perf_counter_ns() - begin) / 200e3)
        return best

    with alone, alone.prepare("allreduce", x) as again:
        of_library, of_prepared = microseconds(bare), microseconds(again)
        method = alone.allreduce
        of_package = microseconds(lambda: method(x))
    if comm.rank == 0:
        print(f"note: one rank's allreduce of 8 bytes: {of_library:.1f} us start and wait of the library by ctypes, "
              f"{of_package:.1f} us Comm.allreduce(), {of_prepared:.1f} us prepared")


# ---- cases that end a comm ----

def killed(comm: torcoll.Comm) -> None:
    """Rank 2 dies in the middle; the others are told in seconds, and go on without it."""
    comm.barrier()
    if comm.rank == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    begin = time.monotonic()
    try:
        while True:
            comm.allreduce(np.zeros(1000))
    except torcoll.PeerFailed as e:
        took = time.monotonic() - begin
        assert e.rank == 2 and "caused by rank 2" in str(e), e
        print(f"rank {comm.rank}: {type(e).__name__} after {took:.2f} s: {e}")
        # far less than the time that calls have
        assert took < 60, took
    try:
        comm.barrier()
        raise AssertionError("a failed comm works")
    except torcoll.PeerFailed:
        pass
    with comm.shrink(timeout=60) as heir:
        assert heir.nodes == (0, 1, 3), heir.nodes
        same(heir.allreduce(np.ones(3)), [heir.size] * 3)
    assert comm.closed


def killed_task(comm: torcoll.Comm) -> None:
    """The same for a task that awaits."""
    comm.barrier()
    if comm.rank == 2:
        os.kill(os.getpid(), signal.SIGKILL)

    async def main() -> None:
        try:
            while True:
                await asyncio.wait_for(_await(comm.iallreduce(np.zeros(1000))), 10)
        except torcoll.PeerFailed as e:
            assert e.rank == 2, e

    async def _await(request: Any) -> Any:
        return await request

    asyncio.run(main())


def mismatch(comm: torcoll.Comm) -> None:
    """Ranks disagree on the count."""
    try:
        comm.allreduce(np.zeros(100 + (comm.rank == 1), "f4"))
    except torcoll.Mismatch as e:
        assert "allreduce f32 sum count 10" in str(e), e
        return
    raise AssertionError("nobody noticed")


def late(comm: torcoll.Comm) -> None:
    """Rank 3 does not call; rank 0's deadline passes, which begins when the others say that they have called."""
    try:
        if comm.rank == 3:
            comm.recv(bytearray(1), 0)
        elif comm.rank:
            request = comm.ibarrier()
            comm.send(bytes(1), 0)
            request.wait()
        else:
            for source in 1, 2:
                comm.recv(bytearray(1), source)
            comm.barrier(timeout=1.0)
    except torcoll.Timeout as e:
        assert comm.rank == 0 and e.rank == 3, e
        return
    except torcoll.PeerFailed as e:
        assert comm.rank != 0, e
        return
    raise AssertionError("the deadline did not pass")


def interrupted(comm: torcoll.Comm) -> None:
    """Ctrl-C in the middle of a wait; the others learn of it when the block ends."""
    try:
        with comm:
            if comm.rank == 1:
                signal.setitimer(signal.ITIMER_REAL, 0.3)
                signal.signal(signal.SIGALRM, signal.default_int_handler)
                comm.recv(bytearray(1), 0)
            comm.barrier()
    except KeyboardInterrupt:
        assert comm.rank == 1 and comm.closed
        return
    except torcoll.PeerFailed as e:
        assert comm.rank != 1 and e.rank == 1, e
        return
    raise AssertionError("nothing ended it")


# ---- programs ----

def program(path: str, *arguments: str) -> None:
    """Execute a program of Python here."""
    sys.argv = [path, *arguments]
    runpy.run_path(path, run_name="__main__")


def hello() -> None:
    program("python/examples/hello.py")


def train() -> None:
    program("python/examples/train.py", "lib/examples/data/digits.csv.gz")


def survive() -> None:
    """Rank 1 dies at its 20th step."""
    steps, real = 0, torcoll.Comm.allreduce

    def allreduce_or_die(comm: torcoll.Comm, *args: Any, **kwargs: Any) -> Any:
        nonlocal steps
        steps += 1
        if steps == 20 and os.environ["TORCOLL_RANK"] == "1":
            os.kill(os.getpid(), signal.SIGKILL)
        return real(comm, *args, **kwargs)

    setattr(torcoll.Comm, "allreduce", allreduce_or_die)
    program("python/examples/survive.py", "40")


def bench() -> None:
    sys.argv = ["bench", "allreduce", "-b", "8", "-e", "64K", "-f", "16", "-n", "5", "-w", "1"]
    runpy.run_module("torcoll.bench", run_name="__main__")


COMM: list[Callable[..., None]] = [
    allreduce, allreduce_types, allreduce_options, reduce_scatter, allgather, rooted, exchange, scans, messages, in_flight,
    prepared, left, memory, tasks, groups, overhead, calls, killed, killed_task, mismatch, late, interrupted]
PROGRAMS: list[Callable[[], None]] = [hello, bench, train, survive]


def execute(name: str) -> None:
    """One case."""
    for one in PROGRAMS:
        if one.__name__ == name:
            one()
            return
    case = {case.__name__: case for case in COMM}[name]
    comm = torcoll.Comm.from_env()
    case(comm)
    comm.close()


def become(rank: int, name: str) -> None:
    """A rank, as torcollctl netns run makes one, in a comm of this case."""
    clone_newnet = 0x40000000
    libc = ctypes.CDLL(None, use_errno=True)
    with open(f"/run/netns/tor-{rank}", encoding="ascii") as netns:
        if libc.setns(netns.fileno(), clone_newnet):
            raise OSError(ctypes.get_errno(), f"setns to node {rank}")
    os.environ.update(TORCOLL_FABRIC="1", TORCOLL_COMM=f"{os.getppid()}-{name}", TORCOLL_SIZE=str(RANKS),
                      TORCOLL_RANK=str(rank))


def child(rank: int, name: str) -> int:
    """What a rank's process exits with."""
    code = 1
    try:
        become(rank, name)
        execute(name)
        code = 0
    except SystemExit as e:
        code = e.code if isinstance(e.code, int) else int(e.code is not None)
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def main() -> None:
    """Each rank of a case is a fork of this process: to start Python and NumPy takes much longer, on emulated processors."""
    for name in sys.argv[1:]:
        begin = time.monotonic()
        ranks = []
        for rank in range(RANKS):
            pid = os.fork()
            if not pid:
                os._exit(child(rank, name))
            ranks.append(pid)
        for rank, pid in enumerate(ranks):
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            how = {0: "right", -signal.SIGKILL: "killed"}.get(code, "wrong")
            print(f"{how} {name} rank {rank} after {time.monotonic() - begin:.1f} s", flush=True)


if __name__ == "__main__":
    main()
