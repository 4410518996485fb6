# SPDX-License-Identifier: MIT
"""Every rank says hello: torcollctl netns run /usr/bin/python3 python/examples/hello.py"""

import numpy

import torcoll

with torcoll.Comm.from_env() as comm:
    x = numpy.array([comm.rank])
    comm.allreduce(x)
    print(f"Hello from rank {comm.rank} of {comm.size}: the ranks sum up to {x[0]}")
