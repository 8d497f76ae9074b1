#!/usr/bin/env python3
"""Writes scripted_programs.json: results of functions of Salt's execution modules with recorded answers of programs, and the files that they changed.
Run it as make_argspec.py, on Linux."""
import json
import logging
import os
import pathlib
import shutil
import tempfile
import warnings

warnings.simplefilter("ignore")
from recorded_programs import record
from scripted_program_cases import CASES

work = pathlib.Path(tempfile.mkdtemp())
path = os.environ["PATH"]


# Salt looks for some programs when it loads a module.
record(work / "all", {name: [] for case in CASES for name in case.get("programs", {})})
os.environ["PATH"] = f"{work / 'all'}:{path}"

import salt.config
import salt.loader

logging.disable(logging.CRITICAL)
opts = salt.config.minion_config(None)
opts.update({"root_dir": str(work), "cachedir": str(work), "extension_modules": f"{work}/ext", "file_client": "local", "id": "m1"})
opts["grains"] = {"kernel": "Linux", "os": "Debian", "os_family": "Debian", "init": "systemd"}
utils = salt.loader.utils(opts)
modules = salt.loader.minion_mods(opts, utils=utils)

done = []
for number, case in enumerate(CASES):
    directory = work / str(number)
    record(directory, case.get("programs", {}))
    os.environ["PATH"] = f"{directory}:{work / 'all'}:{path}"
    files = directory / "files"
    files.mkdir()
    for name, text in case.get("files", {}).items():
        (files / name).write_text(text)
    args = [arg.replace("{dir}", str(files)) if isinstance(arg, str) else arg for arg in case.get("args", [])]
    kwargs = {key: arg.replace("{dir}", str(files)) if isinstance(arg, str) else arg for key, arg in case.get("kwargs", {}).items()}
    try:
        value = modules[case["fun"]](*args, **kwargs)
    except Exception as exc:  # an error is a result, too
        value = f"ERROR: {exc}".rstrip()
    after = {one.name: one.read_text() for one in sorted(files.iterdir())}
    text = json.dumps([value, after], default=list).replace(str(files), "{dir}").replace(str(directory), "{bin}")
    value, after = json.loads(text)
    done.append({**case, "return": value, **({"after": after} if after != case.get("files", {}) else {})})
shutil.rmtree(work)
here = pathlib.Path(__file__).parent
with open(here / "scripted_programs.json", "w", encoding="utf-8") as out:
    out.write("[\n" + ",\n".join(json.dumps(one, ensure_ascii=False) for one in done) + "\n]\n")
