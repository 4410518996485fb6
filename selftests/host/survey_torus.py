#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints a survey, as "torcollctl -j survey show test" does, of a torus in which nothing is wrong.

usage: survey_torus.py AxB... [FRAMES]    FRAMES: that each port has sent and received
"""
import json
import math
import sys

sides = [int(side) for side in sys.argv[1].split("x")]
frames = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
nodes = math.prod(sides)


def step(dim):
    return math.prod(sides[:dim])


def coord(node, dim):
    return node // step(dim) % sides[dim]


def has_port(node, dim, sign):
    return sides[dim] > 2 or (sides[dim] == 2 and coord(node, dim) == (sign == "m"))


def neighbour(node, dim, sign):
    to = (coord(node, dim) + (1 if sign == "p" else -1)) % sides[dim]
    return node + (to - coord(node, dim)) * step(dim)


def end(node, dim, sign):
    return {"device": f"d{dim}{sign}", "mac": f"02:00:00:{node >> 8:02x}:{node & 255:02x}:{2 * dim + (sign == 'm'):02x}",
            "mtu": 9000, "fabric": 77}


def host_id(node):
    return f"{node + 1:016x}"


def port(node, dim, sign):
    to = neighbour(node, dim, sign)
    member = {"state": "up", "dir": "plus" if sign == "p" else "minus", "dim": dim, "key": 1,
              "expected": to, "heard_tag": 0, "since_ms": 3600000, "downs": 0, "rx_frames": frames,
              "tx_frames": frames, "lost": 0, "damaged": 0, "resent": 0, "heard": to}
    test = {"pings": 500, "pongs": 500, "pinged": 500, "rtt_min_ns": 50000, "rtt_median_ns": 80000,
            "rate": 9000, "train": 64, "trains": 64, "bad": 0, "tested_ms": 500}
    return {**end(node, dim, sign), "speed": 10000, "up": True, "carrier": True, "many": False,
            "peer": {"host": host_id(to), **end(to, dim, "m" if sign == "p" else "p")},
            "member": member, "test": test}


def host(node):
    fabric = {"key": 1, "tag": 77, "node": node, "epoch": 1, "cables": 1, "hello_ms": 200, "rates": 0,
              "comms": 1, "ops": 0, "reached": nodes, "dead_links": 0, "view": 7, "ethertype": 0x88b5,
              "checksum": 0, "byte_order": 0, "retransmits": 0, "sides": sides}
    ports = [port(node, dim, sign) for dim in range(len(sides)) for sign in "mp"
             if has_port(node, dim, sign)]
    return {"id": host_id(node), "name": f"c{node}", "version": "0.1.0", "nodes": [fabric],
            "ports": ports}


print(json.dumps({"self": host_id(0), "hosts": [host(node) for node in range(nodes)]}))
