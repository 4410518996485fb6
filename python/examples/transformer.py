# SPDX-License-Identifier: MIT
"""A small transformer learns the letters of a text, its optimizer's state split over the ranks (ZeRO).

    torchrun --nnodes 4 ... python/examples/transformer.py docs/guide.md [STEPS [torcoll|gloo]]

Gradients are summed up by DistributedDataParallel; each rank keeps the state of Adam for its share of the parameters,
updates these, and broadcasts them.
"""

import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel

import torcoll.torch  # registers the backend

LENGTH, WIDTH, LAYERS, BATCH = 32, 64, 2, 8


class Transformer(nn.Module):
    """Predicts each next letter from those before it."""

    def __init__(self, letters: int) -> None:
        super().__init__()
        self.letter = nn.Embedding(letters, WIDTH)
        self.place = nn.Parameter(torch.zeros(LENGTH, WIDTH))
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, dropout=0.0, batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, LAYERS)
        self.out = nn.Linear(WIDTH, letters)
        self.register_buffer("mask", torch.full((LENGTH, LENGTH), float("-inf")).triu(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.out(self.layers(self.letter(x) + self.place, self.mask))
        return logits


def train(text: str, steps: int) -> None:
    rank, size = dist.get_rank(), dist.get_world_size()
    letters = sorted(set(text))
    codes = torch.tensor([letters.index(c) for c in text])
    torch.manual_seed(1)
    model = DistributedDataParallel(Transformer(len(letters)))
    optimizer = ZeroRedundancyOptimizer(model.parameters(), optimizer_class=torch.optim.Adam, lr=3e-3)
    begin = time.monotonic()
    for step in range(1, steps + 1):
        # all ranks draw the same places, and take their own of them
        starts = torch.randint(len(codes) - LENGTH, (size * BATCH,))[rank * BATCH:(rank + 1) * BATCH]
        rows = torch.stack([codes[i:i + LENGTH + 1] for i in starts])
        loss = nn.functional.cross_entropy(model(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        dist.all_reduce(loss := loss.detach() / size)
        if rank == 0 and (step == 1 or step % 10 == 0 or step == steps):
            print(f"step {step} loss {loss:.4f}", flush=True)
    state = sum(t.numel() for s in optimizer.optim.state.values() for t in s.values() if torch.is_tensor(t))
    weights = sum(p.numel() for p in model.parameters())
    print(f"rank {rank}: {steps * BATCH * LENGTH / (time.monotonic() - begin):.0f} letters/s; {weights} weights, "
          f"{state} numbers of Adam's state here", flush=True)


dist.init_process_group(sys.argv[3] if len(sys.argv) > 3 else "torcoll")
with open(sys.argv[1], encoding="utf-8") as f:
    train(f.read(), int(sys.argv[2]) if len(sys.argv) > 2 else 100)
