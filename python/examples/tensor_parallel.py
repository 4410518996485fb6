# SPDX-License-Identifier: MIT
"""Inference of layers that are split over the ranks, as it is done with models that do not fit on one host.

    torchrun --nnodes 4 ... python/examples/tensor_parallel.py [WIDTH [TOKENS [torcoll|gloo ...]]]

Each layer has two matrices: the first is split by columns, the second by rows, so that one allreduce of the activations
is all that a layer needs. Token by token, as when text is generated; prints tokens per second with each backend, and
compares the result with that of the whole matrices.
"""

import sys
import time

import torch
import torch.distributed as dist

import torcoll.torch  # registers the backend

LAYERS = 2
torch.set_grad_enabled(False)


def layer(x: torch.Tensor, up: torch.Tensor, down: torch.Tensor) -> torch.Tensor:
    return torch.relu(x @ up) @ down


def generate(backend: str, width: int, tokens: int) -> None:
    group = dist.new_group(backend=backend)
    rank, size = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(1)
    whole = [(torch.randn(width, 4 * width) / width**0.5, torch.randn(4 * width, width) / (4 * width)**0.5)
             for _ in range(LAYERS)]
    mine = [(up.chunk(size, 1)[rank].contiguous(), down.chunk(size, 0)[rank].contiguous()) for up, down in whole]
    first = x = torch.randn(1, width)
    for token in range(tokens + 2):
        if token == 2:
            dist.barrier(group)
            begin = time.perf_counter()
        x = first
        for up, down in mine:
            part = layer(x, up, down)
            dist.all_reduce(part, group=group)
            x = x + part
    took = time.perf_counter() - begin
    y = first
    for up, down in whole:
        y = y + layer(y, up, down)
    if rank == 0:
        print(f"{backend}: {tokens / took:.1f} tokens/s, width {width}, {LAYERS} layers, {size} ranks; "
              f"off by {float((x - y).abs().max()):.1e}", flush=True)


width, tokens = (int(a) for a in (sys.argv[1:3] + ["256", "100"][len(sys.argv[1:3]):]))
if tokens < 1:
    sys.exit("TOKENS: one or more")
backends = sys.argv[3:] or ["torcoll"]
dist.init_process_group(backends[0])
for name in backends:
    generate(name, width, tokens)
