#!/usr/bin/env python3
"""Writes tops.json: top files of several environments, and Salt 3008.3's results: the SLS names of this minion by
environment ("data"), the errors of verify_tops ("errors"), or {"raises": class}. Run it with the Python of an environment that
has Salt: `<venv>/bin/python tests/corpus/make_tops.py > tests/corpus/tops.json`."""
import itertools
import json
import logging
import os
import shutil
import tempfile

import salt.config
import salt.state
from salt.exceptions import SaltRenderError

from typed import typed

logging.disable(logging.CRITICAL)
CASES = []


def case(name, base=None, dev=None, prod=None, master_tops=None, sls=None, **opts):
    files = {}
    for env, text in (("base", base), ("dev", dev), ("prod", prod)):
        files[env] = {} if text is None else {"top.sls": text}
    for path, text in (sls or {}).items():
        env, _, path = path.rpartition("|")
        files[env or "base"][path] = text
    CASES.append({"name": name, "files": files, "opts": opts, "master_tops": master_tops or {}})


case("no top")
case("empty", "{}")
case("plain", "base: {'*': [a, b]}")
case("two targets, a name twice", "base: {'*': [a, b], 'web*': [a, c]}")
case("a target that does not match", "base: {'db*': [a], 'web*': [c]}")
case("globs of names", "base: {'*': ['*', 'web.*']}")
for kind, target in {"glob": "web*", "compound": "web* and G@os:Debian", "grain": "os:Debian", "grain_pcre": "os:Deb.*", "pcre": "web\\d", "list": "db1,web1", "pillar": "role:web", "pillar_pcre": "role:w.*", "pillar_exact": "role:web", "nodegroup": "ng", "ipcidr": "192.0.2.0/24"}.items():
    case(f"match {kind}", f"base: {{{json.dumps(target)}: [{{match: {kind}}}, a]}}")
    case(f"match {kind} last", f"base: {{{json.dumps(target)}: [a, {{match: {kind}}}]}}")
case("a nodegroup in compound", "base: {'N@ng': [a]}")
case("no match", "base: {'zz': [a]}")
case("one text", "base: {'*': a}")
case("null names", "base: {'*': }")
case("a map of names", "base: {'*': {a: b}}")
case("an empty name", "base: {'*': ['', a]}")
case("a null option", "base: {'*': [{match: }, a]}")
case("numbers as names", "base: {'*': [1, a]}")
case("an environment that is no text", "1: {'*': [a]}")
case("an empty environment", "'': {'*': [a]}")
case("base null", "base:")
case("base a list", "base: [a]")
case("base a text", "base: a")
case("base without targets", "base: {}")
case("a list", "[a]")
case("another environment's name", "base: {'*': [{dev: x}, a]}")
case("an unknown environment's name", "base: {'*': [{zz: x}, a]}")
case("a section of an unknown environment", "base: {'*': [a]}\nzz: {'*': [b]}")
case("include", "include: [more]\nbase: {'*': [a]}", sls={"more.sls": "base: {'web*': [b]}"})
case("include of the same target", "include: [more]\nbase: {'*': [a]}", sls={"more.sls": "base: {'*': [b]}"})
case("include that includes", "include: [more]\nbase: {'*': [a]}", sls={"more.sls": "include: [less]\nbase: {'web*': [b]}", "less.sls": "base: {'w*': [c]}"})
case("include of a glob", "include: ['m*']\nbase: {'*': [a]}", sls={"more.sls": "base: {'web*': [b]}", "m2.sls": "base: {'w*': [c]}"})
case("include of nothing", "include: [nothere]\nbase: {'*': [a]}")
tops = {
    "both": ("base: {'*': [a]}\ndev: {'*': [b]}", "dev: {'*': [c]}\nbase: {'*': [d]}"),
    "no dev in base": ("base: {'*': [a]}", "dev: {'*': [c]}\nbase: {'*': [d]}"),
    "dev alone": (None, "dev: {'*': [c]}\nbase: {'*': [d]}"),
    "base alone": ("base: {'*': [a]}\ndev: {'*': [b]}", None),
    "other targets": ("base: {'*': [a], 'web*': [x]}", "base: {'*': [{match: glob}, a, d], 'w*': [y]}\ndev: {'w*': [c]}"),
    "broken dev": ("base: {'*': [a]}", "dev:\nbase: {'*': [d]}"),
}
for (name, (base, dev)), strategy in itertools.product(tops.items(), ("merge", "same", "merge_all", "nosuch")):
    case(f"{strategy}: {name}", base, dev, top_file_merging_strategy=strategy)
    case(f"{strategy}: {name}, saltenv dev", base, dev, top_file_merging_strategy=strategy, saltenv="dev")
    case(f"{strategy}: {name}, env_order", base, dev, top_file_merging_strategy=strategy, env_order=["dev", "prod", "dev", "gone"])
    case(f"{strategy}: {name}, state_top_saltenv", base, dev, top_file_merging_strategy=strategy, state_top_saltenv="dev")
    case(f"{strategy}: {name}, default_top dev", base, dev, top_file_merging_strategy=strategy, default_top="dev")
case("same without default_top", "base: {'*': [a]}", top_file_merging_strategy="same", default_top="")
case("same without default_top, saltenv", "base: {'*': [a]}", top_file_merging_strategy="same", default_top="", saltenv="base")
case("master_tops", "base: {'*': [a, b]}", master_tops={"base": ["b", "c"], "dev": ["x"]})
case("master_tops first", "base: {'*': [a, b]}", master_tops={"base": ["b", "c"], "dev": ["x"]}, master_tops_first=True)
case("master_tops alone", master_tops={"base": ["c"]})

DEFAULTS = {"saltenv": None, "top_file_merging_strategy": "merge", "env_order": [], "default_top": "base",
            "state_top_saltenv": None, "master_tops_first": False, "state_top": "salt://top.sls"}
root = tempfile.mkdtemp()
try:
    os.makedirs(f"{root}/etc/salt")
    with open(f"{root}/etc/salt/minion", "w") as fp:
        json.dump({"root_dir": root, "id": "web1", "file_client": "local", "renderer": "yaml",
                   "file_roots": {env: [f"{root}/srv/{env}"] for env in ("base", "dev", "prod")}}, fp)
    opts = salt.config.minion_config(f"{root}/etc/salt/minion")
    opts["id"] = "web1"
    opts["grains"] = {"os": "Debian", "id": "web1", "ipv4": ["192.0.2.2"]}
    opts["pillar"] = {"role": "web"}
    opts["nodegroups"] = {"ng": "web1"}
    hs = salt.state.HighState(opts, initial_pillar=opts["pillar"])
    hs.opts["pillar"] = opts["pillar"]
    hs.opts["nodegroups"] = {"ng": "web1"}
    hs.matchers = salt.loader.matchers(hs.opts)
    rows = []
    for entry in CASES:
        shutil.rmtree(f"{root}/srv", ignore_errors=True)
        shutil.rmtree(f"{root}/var/cache/salt/minion/file_lists", ignore_errors=True)
        for env, files in entry["files"].items():
            os.makedirs(f"{root}/srv/{env}")
            for path, text in files.items():
                with open(f"{root}/srv/{env}/{path}", "w") as fp:
                    fp.write(text)
        for key, default in DEFAULTS.items():
            hs.opts[key] = entry["opts"].get(key, default)
        hs.avail = salt.state.LazyAvailStates(hs)
        hs._master_tops = lambda: {env: list(names) for env, names in entry["master_tops"].items()}
        try:
            top = hs.get_top()
            errors = hs.verify_tops(top)
            answer = {"errors": errors} if errors else {"data": typed(hs.top_matches(top))}
        except SaltRenderError as exc:
            answer = {"raises": str(exc)}
        except Exception as exc:  # errors caused by faults of Salt
            answer = {"fails": type(exc).__name__}
        rows.append({**entry, **answer})
    print("[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n]")
finally:
    shutil.rmtree(root)
