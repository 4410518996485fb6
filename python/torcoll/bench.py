# SPDX-License-Identifier: MIT
"""python -m torcoll.bench: what calls of this package take, by size. Every rank runs it; rank 0 prints.

Times are of the slowest rank: each rank takes its own, and an allreduce of them takes the largest. torcoll-perf
measures the same without Python.
"""

import argparse
import statistics
import sys
import time
from array import array
from collections.abc import Callable, Iterator
from typing import Any

from . import Comm, Error, Request, __version__
from ._names import REDOPS, TYPE_SIZE, TYPES, Redop, name_of

COLLECTIVES = ("allreduce", "reduce-scatter", "allgather", "broadcast", "reduce", "alltoall", "scan", "barrier")
REDUCING = ("allreduce", "reduce-scatter", "reduce", "scan")


def size_of(text: str) -> int:
    """A number of bytes, as 8, 4K or 1M."""
    factor = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(text[-1:].upper(), 1)
    return int(text if factor == 1 else text[:-1]) * factor


def options(argv: "list[str]") -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m torcoll.bench", description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("collective", nargs="?", default="allreduce", choices=COLLECTIVES)
    parser.add_argument("-b", "--min", type=size_of, default=8, metavar="BYTES", help="the smallest vector (8)")
    parser.add_argument("-e", "--max", type=size_of, default=1 << 20, metavar="BYTES", help="the largest (1M)")
    parser.add_argument("-f", "--factor", type=int, default=4, help="between sizes (4)")
    parser.add_argument("-n", "--iterations", type=int, default=20, help="of each size (20)")
    parser.add_argument("-w", "--warmup", type=int, default=2, help="calls before those (2)")
    parser.add_argument("--dtype", default="f32", choices=sorted(name_of(t) for t in TYPE_SIZE))
    parser.add_argument("--op", default="sum", choices=sorted(set(REDOPS) - {"none", "premulsum"}))
    parser.add_argument("--algorithm", help="by name; the module chooses otherwise")
    parser.add_argument("--bits", help="agree, ordered, relaxed")
    o = parser.parse_args(argv)
    if o.min < 1 or o.max < o.min or o.factor < 2 or o.iterations < 1 or o.warmup < 0:
        parser.error("sizes from 1 on and in order, a factor from 2 on, one iteration or more")
    return o


def sizes(o: argparse.Namespace, ranks: int) -> Iterator[int]:
    """Numbers of elements, each a multiple of the ranks."""
    seen = 0
    size = o.min
    while size <= o.max:
        count = max(1, size // TYPE_SIZE[TYPES[o.dtype]] // ranks) * ranks
        if count != seen:
            yield count
        seen = count
        size *= o.factor


def starter(comm: Comm, o: argparse.Namespace, count: int) -> "Callable[[], Request[Any]]":
    """A function that starts one op of that many elements."""
    common: dict[str, Any] = {"algorithm": o.algorithm, "bits": o.bits}
    if o.collective == "barrier":
        return lambda: comm.ibarrier(**common)
    common["dtype"] = o.dtype
    if o.collective in REDUCING:
        common["op"] = o.op
    width = TYPE_SIZE[TYPES[o.dtype]]
    vector, part = bytearray(count * width), bytearray(count // comm.size * width)
    result = bytearray(count * width)
    if o.collective == "reduce-scatter":
        return lambda: comm.ireduce_scatter(vector, part, **common)
    if o.collective == "allgather":
        return lambda: comm.iallgather(part, vector, **common)
    if o.collective == "broadcast":
        return lambda: comm.ibroadcast(vector, **common)
    method: "Callable[..., Request[Any]]" = getattr(comm, "i" + o.collective)
    return lambda: method(vector, result, **common)


def measure(comm: Comm, o: argparse.Namespace, count: int) -> "tuple[list[float], str]":
    """Microseconds of each call on the slowest rank, and the algorithm."""
    start = starter(comm, o, count)
    for _ in range(o.warmup):
        start().wait()
    times = array("d")
    algorithm = ""
    for _ in range(o.iterations):
        comm.barrier()
        begin = time.perf_counter_ns()
        request = start()
        request.wait()
        times.append((time.perf_counter_ns() - begin) / 1000)
        algorithm = request.algorithm
    comm.allreduce(times, op="max")
    return list(times), algorithm


def title(comm: Comm, o: argparse.Namespace) -> str:
    """What is measured."""
    what = o.collective
    if o.collective in REDUCING:
        what += f" {name_of(Redop(REDOPS[o.op]))}"
    nodes = len(set(comm.nodes))
    return (f"# torcoll.bench {__version__}: {what} of {o.dtype}, {comm.size} ranks on {nodes} nodes, "
            f"{o.iterations} iterations, {o.warmup} warm-up\n# time of the slowest rank\n"
            f"#{'size':>11} {'count':>10} {'algorithm':>20} {'median':>10} {'min':>10} {'max':>10} {'algbw':>9}\n"
            f"#{'(B)':>11} {'(elements)':>10} {'':>20} {'(us)':>10} {'(us)':>10} {'(us)':>10} {'(GB/s)':>9}")


def run(comm: Comm, o: argparse.Namespace) -> None:
    """Measure every size."""
    if not comm.rank:
        print(title(comm, o), flush=True)
    for count in [0] if o.collective == "barrier" else sizes(o, comm.size):
        times, algorithm = measure(comm, o, count)
        median = statistics.median(times)
        size = count * TYPE_SIZE[TYPES[o.dtype]]
        if not comm.rank:
            print(f"{size:12} {count:10} {algorithm:>20} {median:10.2f} {min(times):10.2f} {max(times):10.2f} "
                  f"{size / median / 1000:9.4f}", flush=True)


def main(argv: "list[str]") -> int:
    """Join the comm of the environment and measure."""
    o = options(argv)
    try:
        with Comm.from_env() as comm:
            run(comm, o)
    except (Error, ValueError) as e:
        print(f"torcoll.bench: {e}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
