#!/usr/bin/env python3
"""Writes state_runs/MODULE.json: results of states of Salt 3008.3 in test mode, in a first and in a second run, and their changes to a directory. Run
it with the Python of an environment that has Salt, as root: `python make_state_runs.py [MODULE ...]`.

The cases of a module are in state_runs/MODULE.py: calls of `case(fun, args, ...)`. A case has the function, its
arguments, and before it the tree of files (directory_tree.py), a shell script that prepares more (`setup`), and
programs that answer as recorded (`programs`, as recorded_programs.py). Its `steps` are "test", "run", or a shell script
that changes something in between; default: test, run, run. For each step, the result, the comment, the changes, the
error that the state raised ("" if it is not Salt's own), the differences at the top of the tree from the step before
(None: it was removed), and the output of the script `observe` are recorded. {ROOT} stands for the directory, {BASE} for
the one above it, which is the root_dir; salt:// is {ROOT}/srv. `drop` lists keys of results that differ from run to
run, `hide` names at the top of the tree."""
import json
import logging
import os
import pathlib
import re
import runpy
import shutil
import subprocess
import sys
import tempfile

from directory_tree import build, dropped, place, snapshot
from recorded_programs import record

R = "{ROOT}"
HERE = pathlib.Path(__file__).parent / "state_runs"
TEMPORARY = re.compile(r"__salt\.tmp\.\w+(\.\w+)?")
SCRIPT_ENVIRONMENT = {
    **{f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in {"NAME": "A", "EMAIL": "a@example.com", "DATE": "2026-01-02T03:04:05Z"}.items()},
    "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "LC_ALL": "C", "TZ": "UTC",
}
base = tempfile.mkdtemp(prefix="states_")
root = f"{base}/root"
path = os.environ["PATH"]


os.umask(0o022)
os.makedirs(f"{base}/etc/salt")
with open(f"{base}/etc/salt/minion", "w") as fp:
    fp.write(f"root_dir: {base}\nid: web1\nfile_client: local\nfile_roots:\n  base:\n    - {root}/srv\n")

import salt.config
import salt.exceptions
import salt.state
import salt.utils.args
import salt.utils.context

logging.disable(logging.CRITICAL)
opts = salt.config.minion_config(f"{base}/etc/salt/minion")
opts["grains"] = {"id": "web1", "kernel": "Linux", "os_family": "Debian", "os": "Debian", "shell": "/bin/sh", "init": "systemd"}
STATES = {name: salt.state.State({**opts, "test": name == "test"}, initial_pillar={}) for name in ("test", "run")}
OWN = (salt.exceptions.CommandExecutionError, salt.exceptions.SaltInvocationError, salt.exceptions.MinionError)


def masked(value):
    """Without the names of temporary files."""
    if isinstance(value, str):
        return TEMPORARY.sub("__salt.tmp.X", value)
    if isinstance(value, list):
        return [masked(item) for item in value]
    if isinstance(value, dict):
        return {masked(key): masked(item) for key, item in value.items()}
    return value


def script(text):
    done = subprocess.run(["sh", "-e", "-c", text], cwd=root, env={"PATH": os.environ["PATH"], "HOME": root, **SCRIPT_ENVIRONMENT}, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{text}\n{done.stdout}{done.stderr}")
    return done.stdout


def called(mode, fun, args):
    state = STATES[mode]
    state.functions.pack["__context__"].clear()
    state.states.pack["__context__"].clear()
    module, function = fun.split(".")
    low = {"__id__": args.get("name", ""), "__sls__": "test", "__env__": "base", "order": 10000, **args, "state": module, "fun": function}
    errors = []
    original = state.states[fun]

    def watched(*positional, **named):
        try:
            return original(*positional, **named)
        except Exception as exc:
            errors.append(str(exc) if isinstance(exc, OWN) else "")
            raise

    cdata = salt.utils.args.format_call(original, low, initial_ret={"full": fun}, expected_extra_kws=salt.state.STATE_INTERNAL_KEYWORDS)
    injected = {"__low__": low, "__running__": {}, "__lowstate__": [], "__instance_id__": "", "__user__": "root", "__env__": "base"}
    with salt.utils.context.func_globals_inject(original, **injected):
        try:
            ret = watched(*cdata["args"], **cdata["kwargs"])
        except Exception:
            return {"error": errors[0]}
    return {key: ret[key] for key in ("name", "result", "comment", "changes") if key != "name" or ret[key] != args.get("name", "")}


def visible(hide):
    return {name: what for name, what in snapshot(root).items() if name not in hide}


def outcome(fun, args, tree=None, setup=None, programs=None, steps=("test", "run", "run"), observe=None, drop=(), hide=()):
    shutil.rmtree(root, ignore_errors=True)
    shutil.rmtree(f"{base}/var", ignore_errors=True)
    os.mkdir(root, 0o755)
    build(root, place(tree or {}, R, root))
    case = {"fun": fun, "args": args}
    given = {"tree": tree, "setup": setup, "programs": programs, "observe": observe, "drop": list(drop), "hide": list(hide), "steps": list(steps) if steps != ("test", "run", "run") else None}
    case.update({key: value for key, value in given.items() if value})
    if programs:
        shutil.rmtree(f"{base}/bin", ignore_errors=True)
        record(pathlib.Path(base) / "bin", programs)
    os.environ["PATH"] = f"{base}/bin:{path}" if programs else path
    if setup:
        script(setup)
    before = visible(hide)
    case["outcomes"] = []
    for step in steps:
        if step not in STATES:
            script(step)
            before = visible(hide)
            continue
        ret = called(step, fun, place(args, R, root))
        after = visible(hide)
        if after != before:
            ret["after"] = {name: after.get(name) for name in sorted({*before, *after}) if after.get(name) != before.get(name)}
        before = after
        if observe:
            ret["observed"] = script(observe)
        case["outcomes"].append(masked(place(place(dropped(ret, drop), root, R), base, "{BASE}")))
    return case


def record_module(name):
    cases = []

    def case(fun, args=None, **given):
        cases.append(outcome(fun, args or {}, **given))

    sys.stdout = open(os.devnull, "w")
    try:
        runpy.run_path(str(HERE / f"{name}.py"), {"case": case, "R": R})
    finally:
        sys.stdout = sys.__stdout__
    with open(HERE / f"{name}.json", "w", encoding="utf-8") as out:
        out.write("[\n" + ",\n".join(json.dumps(one, ensure_ascii=False) for one in cases) + "\n]\n")
    print(f"{name}: {len(cases)} cases")


for each in sys.argv[1:] or sorted(one.stem for one in HERE.glob("*.py")):
    record_module(each)
shutil.rmtree(base)
