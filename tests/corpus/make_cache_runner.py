"""Writes cache_runner.json: the contents of a master's cache, calls of the runners cache and match, one after the other, and their results in Salt.
See README.md."""

import json
import logging
import os
import pathlib
import tempfile

import salt.cache
import salt.config
import salt.loader

logging.disable(logging.CRITICAL)
HERE = pathlib.Path(__file__).parent

ACCEPTED = ["web1", "web2", "db1"]
CACHE = [
    ("grains", "web1", {"os": "Debian"}), ("pillar", "web1", {"a": 1, "role": "web"}), ("mine", "web1", {"f": 1, "g": [2]}),
    ("grains", "db1", {"os": "RedHat"}), ("pillar", "db1", {}), ("grains", "gone", {"os": "Arch"}),
]
CALLS = [
    ("cache.grains", ["*"], {}), ("cache.grains", ["web1"], {}), ("cache.grains", ["nobody"], {}), ("cache.grains", ["os:Debian"], {"tgt_type": "grain"}),
    ("cache.grains", ["web1,db1", "list"], {}), ("cache.grains", ["G@os:* and not web1", "compound"], {}),
    ("cache.pillar", [], {}), ("cache.pillar", ["*"], {}), ("cache.pillar", ["role:web", "pillar"], {}), ("cache.mine", ["web*"], {}),
    ("cache.clear_mine_func", [], {"tgt": "*", "clear_mine_func_flag": "f"}), ("cache.clear_mine_func", ["*"], {}),
    ("cache.mine", ["web1"], {}), ("cache.clear_pillar", [], {}), ("cache.clear_pillar", ["web1"], {}), ("cache.clear_pillar", ["nobody"], {}),
    ("cache.pillar", ["web1"], {}), ("cache.clear_grains", ["db1"], {}), ("cache.grains", ["db1"], {}),
    ("cache.store", ["b/c", "k", {"x": [1]}], {}), ("cache.fetch", ["b/c", "k"], {}), ("cache.fetch", ["b/c", "nope"], {}), ("cache.list", ["b"], {}),
    ("cache.list", ["b/c"], {}), ("cache.list", ["nope"], {}), ("cache.flush", ["b/c", "k"], {}), ("cache.flush", ["b/c", "k"], {}), ("cache.flush", ["b"], {}),
    ("cache.flush", ["b"], {}), ("cache.list", ["grains"], {}),
    ("match.compound_matches", ["G@os:Debian", "web1"], {}), ("match.compound_matches", ["G@os:Debian", "web2"], {}),
    ("match.compound_matches", ["web*", "web2"], {}), ("match.compound_matches", ["web*", "../x"], {}), ("match.compound_matches", ["web* and", "web1"], {}),
    ("match.compound_matches", ["S@10.0.0.0/8", "web2"], {}),
    ("cache.clear_all", ["*"], {}), ("cache.grains", ["web1"], {}), ("cache.mine", ["web1"], {}), ("cache.clear_all", [], {}), ("cache.clear_mine", ["web1"], {}),
]

with tempfile.TemporaryDirectory() as root:
    config = pathlib.Path(root, "master")
    config.write_text(f"root_dir: {root}\nid: host_master\n")
    opts = salt.config.master_config(str(config))
    os.makedirs(f"{opts['pki_dir']}/minions")
    os.makedirs(opts["cachedir"])
    for minion in ACCEPTED:
        pathlib.Path(opts["pki_dir"], "minions", minion).write_text("PEM")
    cache = salt.cache.factory(opts)
    for bank, key, data in CACHE:
        cache.store(bank, key, data)
    runners = salt.loader.runner(opts)
    results = []
    for name, args, kwargs in CALLS:
        result = runners[name](*args, **kwargs)
        results.append([name, args, kwargs, sorted(result) if isinstance(result, list) else result])

lines = ",\n".join(json.dumps(entry) for entry in results)
HERE.joinpath("cache_runner.json").write_text(
    '{"accepted": ' + json.dumps(ACCEPTED) + ',\n"cache": ' + json.dumps(CACHE) + ',\n"calls": [\n' + lines + "\n]}\n"
)
