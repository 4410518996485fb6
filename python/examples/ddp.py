# SPDX-License-Identifier: MIT
"""Data-parallel training by PyTorch: the softmax regression of train.py, as DistributedDataParallel.

    torchrun --nnodes 4 ... python/examples/ddp.py lib/examples/data/digits.csv.gz [torcoll|gloo]

or with RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT set by another launcher. Each rank prints a checksum of its
weights: they are equal to the last bit. With torcoll so is what is printed of the loss, on any number of ranks.
"""

import sys
import zlib

import numpy as np
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import torcoll.torch  # registers the backend

dist.init_process_group(sys.argv[2] if len(sys.argv) > 2 else "torcoll")
rank, size = dist.get_rank(), dist.get_world_size()
data = torch.from_numpy(np.loadtxt(sys.argv[1], delimiter=",", dtype="f4"))
train = torch.arange(len(data)) % 5 != 4
total, mine = int(train.sum()), data[train][rank::size]
torch.manual_seed(1)
model = DistributedDataParallel(torch.nn.Linear(64, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=1.0, momentum=0.8)
for step in range(1, 151):
    # DDP averages over ranks: what is summed up is the mean over all rows
    loss = torch.nn.functional.cross_entropy(model(mine[:, :64] / 16), mine[:, 64].long(), reduction="sum") / total
    optimizer.zero_grad()
    (loss * size).backward()
    optimizer.step()
    dist.all_reduce(loss := loss.detach())
    if rank == 0 and (step == 1 or step % 10 == 0):
        accuracy = (model.module(data[~train, :64] / 16).argmax(1) == data[~train, 64]).float().mean()
        print(f"step {step} loss {loss:.7f} accuracy {accuracy:.4f}", flush=True)
weights = torch.cat([p.detach().reshape(-1) for p in model.parameters()])
print(f"rank {rank} weights {zlib.crc32(weights.numpy().tobytes()):08x}")
