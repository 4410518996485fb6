# SPDX-License-Identifier: MIT
"""A job that outlives its processes: those that are left shrink the comm, agree on the step, and go on.

    torcollctl netns run /usr/bin/python3 python/examples/survive.py 100
"""

import sys
import time

import numpy as np

import torcoll

STEPS = int(sys.argv[1])
comm = torcoll.Comm.from_env()
sums = np.zeros(4096)
step, shrunk = np.zeros(1, "u8"), 0
while step[0] < STEPS:
    try:
        sums[:] = 1
        comm.allreduce(sums, timeout=30)
        assert (sums == comm.size).all()
        step += 1
        time.sleep(0.05)
    except torcoll.PeerFailed as e:
        print(f"step {step[0]}: {e}", file=sys.stderr, flush=True)
        comm, shrunk = comm.shrink(timeout=60), shrunk + 1
        # some ranks may have done a step that failed on others
        comm.allreduce(step, op="min")
print(f"rank {comm.rank} of {comm.size}: {step[0]} steps, shrunk {shrunk} times")
comm.close()
