#!/usr/bin/env python3
"""Writes state_calls.json: calls of the execution module `state` one after the other on one tree of files, and what Salt 3008.3 returns.
Run it with the Python of an environment that has Salt: `<venv>/bin/python tests/corpus/make_state_calls.py`.

The cases are in state_call_cases.py. A case has `files` by path; `dev|x.sls` is in the saltenv `dev`, `/x` in the directory of the
case and in no saltenv. It has `opts` of the minion, and `calls`: a function, its `args` and `kwargs`, and files that are
written before it (`write`). {ROOT} stands for the directory. For each call, `returned` without `start_time` and `duration`, in the notation of
README.md, and `retcode` are recorded; for a call that raises, the error's text, and null. `why` has the reason if the last return must be `ours`
instead."""
import copy
import json
import logging
import os
import pathlib
import re
import shutil
import sys
import tempfile

import state_call_cases
from typed import typed

logging.disable(logging.CRITICAL)
OUT = pathlib.Path(__file__).parent / "state_calls.json"


def exchanged(value, old, new):
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, dict):
        return {exchanged(k, old, new): exchanged(v, old, new) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [exchanged(v, old, new) for v in value]
    return value


def bare(value):
    """Without times, and only the last line of a traceback."""
    if isinstance(value, str):
        start, trace, text = value.partition("Traceback (most recent call last):\n")
        return start + re.sub(r"^[\w.]+: ", "", text.rstrip("\n").rsplit("\n", 1)[-1]) if trace else value
    if hasattr(value, "items"):
        return {bare(k): bare(v) for k, v in value.items() if k not in ("start_time", "duration")}
    if isinstance(value, (list, tuple)):
        return [bare(v) for v in value]
    return value


def srv(root, env):
    return f"{root}/srv" if env == "base" else f"{root}/srv_{env}"


def write(files, root):
    for path, text in files.items():
        env, _, name = path.rpartition("|")
        full = root + path if path.startswith("/") else f"{srv(root, env or 'base')}/{name}"
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text.replace("{ROOT}", root))


def envs_of(case):
    files = [*case["files"], *(path for call in case["calls"] for path in call.get("write", ()))]
    return sorted({"base", *(path.rpartition("|")[0] or "base" for path in files if not path.startswith("/"))})


def record(case):
    import salt.client
    import salt.config

    root = tempfile.mkdtemp(prefix="calls_")
    write(case["files"], root)
    opts = salt.config.minion_config(None)
    opts.update({
        "file_client": "local", "local": True, "id": "m1", "root_dir": root, "cachedir": root + "/cache", "conf_file": root + "/etc/minion",
        "config_dir": root + "/etc", "file_roots": {env: [srv(root, env)] for env in envs_of(case)}, "pillar_roots": {"base": [root + "/pillar"]},
        "extension_modules": root + "/ext", "fileserver_list_cache_time": 0, **exchanged(case.get("opts", {}), "{ROOT}", root),
    })
    opts["grains"] = {"id": "m1", "os": "Debian", "os_family": "Debian", "kernel": "Linux", "localhost": "m1"}
    functions = salt.client.Caller(mopts=opts).sminion.functions
    made = []
    for call in case["calls"]:
        write(call.get("write", {}), root)
        functions.pack["__context__"].pop("retcode", None)
        args, kwargs = (exchanged(copy.deepcopy(call.get(key, empty)), "{ROOT}", root) for key, empty in (("args", []), ("kwargs", {})))
        try:
            returned = functions[call["fun"]](*args, **kwargs)
            retcode = functions.pack["__context__"].get("retcode", 0)
        except Exception as error:
            returned, retcode = str(error), None
        made.append({**call, "returned": typed(exchanged(bare(returned), root, "{ROOT}")), "retcode": retcode})
    shutil.rmtree(root)
    return {**case, "calls": made}


def main():
    only = sys.argv[1:]
    rows = [record(case) for case in state_call_cases.CASES if not only or any(name in case["name"] for name in only)]
    text = "[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n]\n"
    if only:
        sys.stdout.write(text)
    else:
        OUT.write_text(text, encoding="utf-8")


main()
