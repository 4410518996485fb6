# SPDX-License-Identifier: MIT
"""
The plans that the stepper shows, by torcoll-plan: all that it has for these shapes. A file for each shape and collective, which
pages of a file system can load: JSON, deflated, in base64.
"""

import base64
import json
import os
import re
import subprocess
import zlib

# What fits a screen; rings, tori of even, odd and unequal sides, powers of two and three.
SHAPES = ["3", "4", "5", "8", "9", "16", "2x2", "3x2", "3x3", "4x3", "4x4", "5x5", "8x4", "8x8",
          "2x2x2", "3x3x3", "4x4x4", "2x2x2x2"]
# A barrier is an allreduce of nothing.
COLLECTIVES = ["allreduce", "reduce-scatter", "allgather", "broadcast", "reduce", "gather", "scatter", "alltoall",
               "scan", "exscan", "halo"]
PIECE = re.compile(r'\{"t":(\d+),"ch":(\d+),"src":(\d+),"dst":(\d+),"sbuf":"(\w+)","soff":(\d+),"dbuf":"(\w+)","doff":(\d+),'
                   r'"n":(\d+),"op":"(\w+)"\}\n')


def run(*args):
    return subprocess.run([os.environ.get("PLAN", "build/bin/torcoll-plan"), *args], check=True, stdout=subprocess.PIPE,
                          text=True).stdout


def served(shape):
    """Pairs of algorithm and collective that there is a plan for."""
    for line in run("--list", "--dims", shape).split("\n"):
        match = re.match(r"([a-z-]+) +([a-z-]+) +\d+ +\d+", line)
        if match and match[2] in COLLECTIVES:
            yield match[2], match[1]


def plan(shape, collective, algorithm):
    """As docs/site/stepper/plan.js takes it."""
    ranks = 1
    for side in shape.split("x"):
        ranks *= int(side)
    # fewer elements where there are many ranks: still some for each channel of a block
    text = run("--dims", shape, "-c", collective, "-a", algorithm, "-n", str(ranks * (48 if ranks <= 16 else 24)))
    head, _, body = text.partition("\n")
    out = json.loads(head)
    out["ranks"] = out.pop("nodes")
    del out["format"], out["params"]
    bufs = {"data": 0}
    rounds = []
    end = 0
    for match in PIECE.finditer(body):
        if match.start() != end:
            break
        end = match.end()
        t, ch, src, dst, sbuf, soff, dbuf, doff, n, op = match.groups()
        while len(rounds) <= int(t):
            rounds.append([])
        rounds[int(t)] += [int(ch), int(op == "reduce"), int(src), int(dst), bufs.setdefault(sbuf, len(bufs)), int(soff),
                           bufs.setdefault(dbuf, len(bufs)), int(doff), int(n)]
    if end != len(body):
        raise ValueError(f"torcoll-plan prints what is no piece: {body[end:end + 80]}")
    out.update(bufs=list(bufs), rounds=rounds)
    return out


def write_all(folder):
    os.makedirs(folder)
    index = {}
    for shape in SHAPES:
        index[shape] = {}
        for collective, algorithm in served(shape):
            index[shape].setdefault(collective, []).append(algorithm)
        index[shape] = {c: index[shape][c] for c in COLLECTIVES if c in index[shape]}
        for collective, algorithms in index[shape].items():
            text = json.dumps({a: plan(shape, collective, a) for a in algorithms}, separators=(",", ":"))
            packed = base64.b64encode(zlib.compress(text.encode(), 9)).decode()
            with open(os.path.join(folder, f"{shape}-{collective}.js"), "w", encoding="ascii") as f:
                f.write(f'plans("{shape}/{collective}", "{packed}");\n')
    with open(os.path.join(folder, "index.js"), "w", encoding="ascii") as f:
        f.write(f"const INDEX = {json.dumps(index)};\n")
