"""Measures the processor time of a target on Python Salt's master. The counterpart of resolve_targets.ts."""

import json
import logging
import os
import pathlib
import sys
import time

import salt.cache
import salt.config
import salt.utils.minions

logging.disable(logging.CRITICAL)
COMPOUND = "web* and G@os:Debian and ( G@roles:db or P@osrelease:1[0-3] ) and not G@ec2_tags:env:stage"
REPEATS = 3


def grains_of(i):
    others = [("grain_{}".format(n), {"value": "x" * 30 + str(i), "list": [n, "y"]}) for n in range(70)]
    return {
        **dict(others[:35]),
        "os": "Arch" if i % 5 == 0 else "Debian",
        "roles": ["db", "web"] if i % 8 == 0 else ["web"],
        "osrelease": str(i % 20),
        "ec2_tags": {"env": "prod" if i % 2 == 0 else "stage"},
        **dict(others[35:]),
    }


root, count = sys.argv[1], int(sys.argv[2])
pathlib.Path(root, "master").write_text("root_dir: {}\nid: bench\n".format(root))
opts = salt.config.master_config(root + "/master")
os.makedirs(opts["pki_dir"] + "/minions")
cache = salt.cache.factory(opts)
for i in range(count):
    pathlib.Path(opts["pki_dir"], "minions", "web{}".format(i)).write_text("PEM")
    cache.store("grains", "web{}".format(i), grains_of(i))


def cost(tgt, tgt_type):
    before = time.process_time()
    found = salt.utils.minions.CkMinions(opts).check_minions(tgt, tgt_type)["minions"]
    return (time.process_time() - before) * 1000, len(found)


def median(tgt, tgt_type):
    return sorted(cost(tgt, tgt_type)[0] for _ in range(REPEATS))[REPEATS // 2]


first, found = cost(COMPOUND, "compound")
print(json.dumps({"glob": median("web*", "glob"), "compound": median(COMPOUND, "compound"), "first": first, "found": found}))
