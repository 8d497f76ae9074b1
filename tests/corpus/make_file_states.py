#!/usr/bin/env python3
"""Writes file_states.json: results of the states of Salt 3008.3's module file, and their changes to a directory. Run it as root with the
Python of an environment that has Salt: `python make_file_states.py > file_states.json`.

The cases are in file_state_cases.py. Each is run in test mode, then twice for real; `test`, `run` and `again` have the results of its
steps: name, result, comment, changes and what else the module returns. A result whose comment is a stack trace is {"error": ""}. `after` is
the tree after the first run, if it changed (after test mode it must not), `twice` after the second, if it changed again."""
import hashlib
import json
import logging
import os
import shutil
import sys
import tempfile

import salt.config
import salt.state

import directory_tree
from directory_tree import build, snapshot
from file_state_cases import CASES, GRAINS, PILLAR, SERVED

logging.disable(logging.CRITICAL)
os.umask(0o022)
R, CACHE, SUM = "{ROOT}", "{CACHE}", "{SUM}"
SHA = hashlib.sha256(b"first\nsecond\n").hexdigest()
only = sys.argv[1:]  # names of functions, to run only some


def place(value, *pairs):
    for old, new in pairs:
        value = directory_tree.place(value, old, new)
    return value


base = tempfile.mkdtemp()
os.makedirs(f"{base}/etc/salt"), os.makedirs(f"{base}/srv"), os.makedirs(f"{base}/pillar")
build(f"{base}/srv", place(SERVED, (SUM, SHA)))
with open(f"{base}/pillar/top.sls", "w") as fp:
    fp.write("base:\n  '*':\n    - data\n")
with open(f"{base}/pillar/data.sls", "w") as fp:
    fp.write("#!json\n" + json.dumps(PILLAR))
config = {"root_dir": base, "id": "web1", "file_client": "local", "file_roots": {"base": [f"{base}/srv"]}, "pillar_roots": {"base": [f"{base}/pillar"]}}
with open(f"{base}/etc/salt/minion", "w") as fp:
    fp.write(json.dumps(config))


def state_of(test):
    opts = salt.config.minion_config(f"{base}/etc/salt/minion")
    opts["grains"] = dict(GRAINS)
    opts["test"] = test
    return salt.state.State(opts), opts["cachedir"]


states = {test: state_of(test) for test in (False, True)}
KEPT = {"name", "result", "comment", "changes", "skip_watch", "skip_req", "warnings"}


def run(case, root, test, number=0):
    state, cache = states[test]
    state.state_con.clear()
    state.instance_id = f"{os.path.basename(root)}{test}{number}"
    results = []
    pairs = [(root, R), (cache, CACHE), (SHA, SUM)]
    chunks = []
    for number, (fun, kwargs) in enumerate(place(case["steps"], (R, root), (SUM, SHA))):
        chunks.append({"state": "file", "fun": fun, "__id__": f"id{number}", "__sls__": "sls", "__env__": "base", "order": number, **kwargs})
    for low in chunks:
        ret = state.call(low, chunks)
        if not isinstance(ret, dict):
            results.append({"value": place(ret, *pairs)})
        elif "An exception occurred in this state" in str(ret["comment"]):
            results.append({"error": ""})
        else:
            results.append({key: place(value, *pairs) for key, value in ret.items() if key in KEPT and key not in case["drop"]})
    return results


out = []
for case in CASES:
    if only and case["steps"][-1][0] not in only:
        continue
    root = tempfile.mkdtemp(prefix="states_")
    os.chmod(root, 0o755)
    build(root, place(case["tree"], (R, root), (SUM, SHA)))
    cache = states[False][1]
    shutil.rmtree(f"{cache}/files", ignore_errors=True)
    show = lambda: place(snapshot(root, owners=True), (root, R), (SHA, SUM))
    before = show()
    result = {key: value for key, value in case.items() if value}
    sys.stdout = open(os.devnull, "w")
    try:
        result["test"] = run(case, root, True)
        if show() != before:
            result["test_after"] = show()
        shutil.rmtree(f"{cache}/files", ignore_errors=True)
        result["run"] = run(case, root, False)
        after = show()
        if after != before:
            result["after"] = after
        result["again"] = run(case, root, False, 1)
        if show() != after:
            result["twice"] = show()
    finally:
        sys.stdout = sys.__stdout__
    shutil.rmtree(root)
    out.append(result)
shutil.rmtree(base)
print("[")
print(",\n".join(json.dumps(case) for case in [{"served": SERVED, "pillar": PILLAR, "grains": GRAINS}, *out]))
print("]")
