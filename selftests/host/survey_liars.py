#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints a survey, as "torcollctl -j survey show test" does, that one host may have made up to cost others time.

usage: survey_liars.py places|keys|settings|shapes|ports|hosts N

places    N hosts with as many ports as a report has, which say that they are one place of a ring, and hear nobody
keys      the same, but each in a fabric of its own
settings  N hosts of a fabric, of which each states another version, EtherType and rates, and a second fabric
shapes    N hosts of a fabric, of which each states another shape
ports     a host of N ports
hosts     N hosts of one port
"""
import json
import sys

PORTS = 384
HOSTS = 4096
kind, count = sys.argv[1], int(sys.argv[2])


def node(number, key=1, **more):
    return {"key": key, "tag": 77, "node": number, "epoch": 1, "cables": 1, "hello_ms": 200, "rates": 0, "comms": 1,
            "ops": 0, "reached": 4, "dead_links": 0, "view": 7, "ethertype": 0x88b5, "checksum": 0, "byte_order": 0,
            "retransmits": 0, "sides": [HOSTS], **more}


def port(number, host, key=1):
    member = {"state": "waiting", "dir": "plus", "dim": 0, "key": key, "expected": (host + 1) % HOSTS, "heard_tag": 0,
              "since_ms": 3600000, "downs": 0, "rx_frames": 0, "tx_frames": 0, "lost": 0, "damaged": 0, "resent": 0}
    test = {"pings": 500, "pongs": 500, "pinged": 500, "rtt_min_ns": 50000, "rtt_median_ns": 80000, "rate": 9000,
            "train": 64, "trains": 64, "bad": 0, "tested_ms": 500}
    return {"device": f"p{number:04}", "mac": "02:00:00:00:00:01", "mtu": 9000, "speed": 1000, "up": True, "carrier": True,
            "many": False, "member": member, "test": test}


def host(number, nodes, ports=(), version="0.1.0"):
    return {"id": f"{number + 1:016x}", "name": f"h{number}", "version": version, "nodes": nodes, "ports": list(ports)}


def made_up(i):
    if kind == "places":
        return host(i, [node(i)], [port(k, i) for k in range(PORTS)])
    if kind == "keys":
        return host(i, [node(i)], [port(k, i, 2 + PORTS * i + k) for k in range(PORTS)])
    if kind == "settings":
        return host(i, [node(i % HOSTS, ethertype=i % 65536, rates=i, checksum=i % 2), node(0, 2 + i)], [], f"v{i}")
    if kind == "shapes":
        return host(i, [node(0, sides=[4 + i % 400, 4 + i // 400])])
    return host(i, [], [port(0, i)])


hosts = [host(0, [], [port(k, 0) for k in range(count)])] if kind == "ports" else [made_up(i) for i in range(count)]
print(json.dumps({"self": f"{1:016x}", "hosts": hosts}))
