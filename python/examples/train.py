# SPDX-License-Identifier: MIT
"""Data-parallel training: a softmax regression learns handwritten digits, as lib/examples/train.c does.

    torcollctl netns run /usr/bin/python3 python/examples/train.py lib/examples/data/digits.csv.gz

Every rank computes the gradient over its share of the rows; one allreduce sums them up, and all take the same step.
All ranks get the same bits, so their weights stay equal: each prints a checksum of its own. --single: one process,
without torcoll.
"""

import sys
import zlib
from typing import Any

import numpy as np

import torcoll

STEPS, RATE, MOMENTUM = 150, 1.0, 0.8


def predict(weights: Any, x: Any) -> Any:
    p = np.exp((z := x @ weights.T) - z.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)


def train(path: str, comm: "torcoll.Comm | None") -> None:
    rank, size = (comm.rank, comm.size) if comm else (0, 1)
    data = np.loadtxt(path, delimiter=",")
    x = np.hstack([data[:, :64] / 16, np.ones((len(data), 1))])
    digit, held_out = data[:, 64].astype(int), np.arange(len(data)) % 5 == 4
    total = int(sum(~held_out))
    mine = np.flatnonzero(~held_out)[rank::size]
    weights, speed = np.zeros((10, 65)), np.zeros((10, 65))
    # the gradient, and the loss behind it, in memory that calls use without copies
    sums = torcoll.empty(10 * 65 + 1, "f32") if comm else np.zeros(10 * 65 + 1, "f4")
    for step in range(1, STEPS + 1):
        p = predict(weights, x[mine])
        right = np.arange(len(mine)), digit[mine]
        sums[-1] = -np.log(p[right]).sum() / total
        p[right] -= 1
        sums[:-1] = (p.T @ x[mine]).ravel() / total
        if comm:
            comm.allreduce(sums)
        if rank == 0 and (step in (1, STEPS) or step % 10 == 0):
            accuracy = (predict(weights, x[held_out]).argmax(axis=1) == digit[held_out]).mean()
            print(f"step {step} loss {sums[-1]:.6f} accuracy {accuracy:.4f}", flush=True)
        speed = MOMENTUM * speed - RATE * sums[:-1].reshape(10, 65)
        weights += speed
    print(f"rank {rank} weights {zlib.crc32(weights.tobytes()):08x}")


if sys.argv[1] == "--single":
    train(sys.argv[2], None)
else:
    with torcoll.Comm.from_env() as comm:
        train(sys.argv[1], comm)
