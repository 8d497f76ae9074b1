"""Measures the processor time of mine.get on Python Salt's master, beyond its target. The counterpart of mine_get.ts."""

import json
import logging
import os
import pathlib
import sys
import time

import salt.cache
import salt.config
import salt.daemons.masterapi
import salt.utils.minions

logging.disable(logging.CRITICAL)
TARGET = "G@kernel:Linux and web*"
REPEATS = 3


def values_of(i):
    others = [("function_{}".format(n), {"value": "x" * 150, "n": n, "i": i}) for n in range(9)]
    return {**dict(others), "network.ip_addrs": ["10.0.{}.{}".format(i >> 8, i & 255)]}


root, count = sys.argv[1], int(sys.argv[2])
pathlib.Path(root, "master").write_text("root_dir: {}\nid: bench\n".format(root))
opts = salt.config.master_config(root + "/master")
os.makedirs(opts["pki_dir"] + "/minions")
cache = salt.cache.factory(opts)
for i in range(count):
    minion = "web{}".format(i)
    pathlib.Path(opts["pki_dir"], "minions", minion).write_text("PEM")
    cache.store("grains", minion, {"kernel": "Linux", "id": minion})
    cache.store("mine", minion, values_of(i))
functions = salt.daemons.masterapi.RemoteFuncs(opts)


def timed(run):
    before = time.process_time()
    found = len(run())
    return (time.process_time() - before) * 1000, found


def get():
    load = {"id": "web1", "tgt": TARGET, "tgt_type": "compound", "fun": "network.ip_addrs"}
    return timed(lambda: functions._mine_get(load))


def target():
    checker = salt.utils.minions.CkMinions(opts)
    return timed(lambda: checker.check_minions(TARGET, "compound_pillar_exact", greedy=False)["minions"])


def median(of):
    return sorted(of()[0] for _ in range(REPEATS))[REPEATS // 2]


first, found = get()
alone = median(target)
print(json.dumps({"first": first - alone, "get": median(get) - alone, "target": alone, "found": found}))
