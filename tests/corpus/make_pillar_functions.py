"""Writes pillar_functions.json: calls of pillar.* with a fixed pillar, and Salt's result or error. See README.md."""

import json
import logging
import os
import pathlib
import tempfile

import salt.config
import salt.loader
import salt.utils.secret

logging.disable(logging.CRITICAL)
HERE = pathlib.Path(__file__).parent
PILLAR = {"k": {"a": {"b": 1}, "l": [1, "x"], "none": None, "no": False, "zero": 0, "empty": "", "f": 1.5}, "lst": [1, "x", {"m": "v"}], "role": "web", "roles": ["db", "web"], "a:b": "colon"}
CALLS = []


def call(fun, *args, **kwargs):
    CALLS.append((fun, list(args), kwargs))


for unmask in ({}, {"unmask": True}, {"unmask": False}):
    for key in ("k", "k:a:b", "k:a:nope", "lst:1", "lst:m", "lst:9", "nope", "role:x", "k:none", "k:no", "k:zero", "k:empty", "k:f", "roles"):
        call("pillar.get", key, **unmask)
    call("pillar.get", "nope", "default", **unmask), call("pillar.get", "nope", None, **unmask), call("pillar.get", "nope", {"d": [1]}, **unmask)
    call("pillar.get", "k|a|b", delimiter="|", **unmask), call("pillar.get", "a:b", delimiter="|", **unmask)
    call("pillar.item", "role", "k:a:b", "nope", **unmask), call("pillar.item", "k|f", "nope", default=7, delimiter="|", **unmask), call("pillar.item", **unmask)
    call("pillar.raw", **unmask), call("pillar.raw", "roles", **unmask), call("pillar.raw", "nope", **unmask), call("pillar.raw", "k:a", **unmask)
    call("pillar.fetch", "role", **unmask)
for default in ({"a": {"c": 2}, "l": [2]}, {}, [0], [1], "text", None, 5):
    for key in ("k", "roles", "role", "nope"):
        call("pillar.get", key, default, merge=True, unmask=True)
call("pillar.get", "k", {"l": [2, 1]}, merge=True, merge_nested_lists=True, unmask=True), call("pillar.get", "k", {"l": [2]}, merge=True, merge_nested_lists=False, unmask=True)
for key in ("k", "k:a", "role", "nope", "lst"):
    call("pillar.keys", key)
call("pillar.keys", "k|a", delimiter="|")
TABLE = {"web": {"x": 1}, "db*": {"x": 2}, "default": {"x": 3}, "base": {"y": 4}}
for key in ("role", "roles", "nope", "k:f"):
    call("pillar.filter_by", TABLE, key), call("pillar.filter_by", TABLE, key, base="base"), call("pillar.filter_by", TABLE, key, merge={"z": 5}), call("pillar.filter_by", {"q": 1}, key, default="q")

with tempfile.TemporaryDirectory() as root:
    os.makedirs(f"{root}/etc/salt")
    pathlib.Path(root, "etc/salt/minion").write_text(f"root_dir: {root}\nid: web1\nfile_client: local\n")
    opts = salt.config.minion_config(f"{root}/etc/salt/minion")
    os.makedirs(opts["cachedir"])
    opts.update({"id": "web1", "grains": {"id": "web1"}, "pillar": PILLAR})
    mods = salt.loader.minion_mods(opts)
    cases = []
    for fun, args, kwargs in CALLS:
        case = {"fun": fun, "args": args, "kwargs": kwargs}
        try:
            case["return"] = mods[fun](*json.loads(json.dumps(args)), **json.loads(json.dumps(kwargs)))
        except Exception as error:
            case["raises"] = str(error.args[0])
        cases.append(case)

lines = ",\n".join("  " + json.dumps(case) for case in cases)
HERE.joinpath("pillar_functions.json").write_text("{\n" + f' "pillar": {json.dumps(PILLAR)},\n' + ' "cases": [\n' + lines + "\n ]}\n")
print(len(cases), "calls", sum("raises" in case for case in cases), "raise")
