# SPDX-License-Identifier: MIT
"""Times dist.all_reduce() of floats with several backends: pytorch.py NODES BACKEND... -- BYTES...

One rank on each node of an emulated torus, each a fork of this process. Prints for each backend and size the time of a
call, which with a clock that counts instructions (qemu/run --icount) is that of all ranks together.
"""

import ctypes
import datetime
import os
import sys
import time

import torch
import torch.distributed as dist

import torcoll.torch  # registers the backend

CALLS = int(os.environ.get("CALLS", "20"))


def measure(backend: str, sizes: list[int]) -> None:
    dist.init_process_group(backend, timeout=datetime.timedelta(seconds=600))
    for size in sizes:
        x = torch.zeros(size // 4)
        for _ in range(3):
            dist.all_reduce(x)
        dist.barrier()
        begin = time.perf_counter()
        for _ in range(CALLS):
            dist.all_reduce(x)
        dist.barrier()
        took = (time.perf_counter() - begin) / CALLS
        if dist.get_rank() == 0:
            print(f"{backend} {size} {took * 1e6:.1f} us", flush=True)
    dist.destroy_process_group()


def become(rank: int, nodes: int, number: int) -> None:
    with open(f"/run/netns/tor-{rank}", encoding="ascii") as netns:
        if ctypes.CDLL(None, use_errno=True).setns(netns.fileno(), 0x40000000):
            raise OSError(ctypes.get_errno(), f"setns to node {rank}")
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(nodes), MASTER_ADDR="10.7.0.1", MASTER_PORT=str(29500 + number),
                      GLOO_SOCKET_IFNAME="tor0")
    torch.set_num_threads(1)


def main() -> None:
    split = sys.argv.index("--")
    nodes, backends, sizes = int(sys.argv[1]), sys.argv[2:split], [int(a) for a in sys.argv[split + 1:]]
    bad = 0
    for number, backend in enumerate(backends):
        ranks = []
        for rank in range(nodes):
            pid = os.fork()
            if not pid:
                become(rank, nodes, number)
                measure(backend, sizes)
                os._exit(0)
            ranks.append(pid)
        for pid in ranks:
            bad |= os.waitpid(pid, 0)[1]
    sys.exit(bad != 0)


main()
