#!/usr/bin/env python3
"""Writes grains_setting.json: results of the functions of Salt's module `grains` that change grains, and the file
`grains` afterwards, for calls one after the other. Run it with the Python of an environment that has Salt: `python
make_grains_setting.py > grains_setting.json`."""
import json
import logging
import os
import tempfile

import salt.config
import salt.loader
import salt.version

logging.disable(logging.CRITICAL)

# Each case: the initial file, the other grains, and the calls.
SEQUENCES = [
    (None, {}, [
        ("setval", ["role", "web"], {}), ("setval", ["role", {"a": 1, "b": [1, "2", 3.5, True, None]}], {}),
        ("setvals", [{"x": 1, "y": "two", "z": None}], {}), ("setvals", [{"x": None, "y": None}], {"destructive": True}),
        ("setval", ["empty", ""], {}), ("setval", ["text", "a: b #c"], {}), ("setval", ["lines", "one\ntwo\n"], {}),
        ("setval", ["wide", "ä日本"], {}), ("setval", ["number", "0123"], {}), ("setval", ["yes", "yes"], {}),
    ]),
    ("roles:\n- web\nnested:\n  list:\n  - 1\n  map: {a: 1}\n  text: t\nscalar: s\nnone: null\n", {"core": "c", "cores": ["x"]}, [
        ("append", ["roles", "db"], {}), ("append", ["roles", "db"], {}), ("append", ["roles", ["a", "b"]], {}),
        ("append", ["new", "one"], {}), ("append", ["scalar", "x"], {}), ("append", ["scalar", "x"], {"convert": True}),
        ("append", ["none", "x"], {}), ("append", ["none", "x"], {"convert": True}), ("append", ["nested:list", 2], {}),
        ("append", ["nested:fresh:deep", "v"], {}), ("append", ["nested/list", 3], {"delimiter": "/"}),
        ("append", ["cores", "y"], {}), ("append", ["nested:map", "x"], {}), ("append", ["nested:text:more", "x"], {}),
    ]),
    ("roles:\n- web\n- db\nnested:\n  list:\n  - 1\n  - 2\nscalar: s\n", {"cores": ["x", "y"]}, [
        ("remove", ["roles", "db"], {}), ("remove", ["roles", "db"], {}), ("remove", ["scalar", "s"], {}),
        ("remove", ["nope", "s"], {}), ("remove", ["nested:list", 2], {}), ("remove", ["cores", "x"], {}),
        ("remove", ["nested/list", 1], {"delimiter": "/"}),
    ]),
    ("a: 1\nmap:\n  b: 2\n  c:\n    d: 3\nlist:\n- 1\n", {"core": "c"}, [
        ("delval", ["a"], {}), ("delval", ["a"], {}), ("delval", ["a"], {"destructive": True}), ("delval", ["map"], {}),
        ("delkey", ["map:b"], {}), ("delkey", ["map"], {}), ("delkey", ["map"], {"force": True}), ("delkey", ["list"], {}),
        ("delval", ["list"], {"force": True}), ("delkey", ["nope"], {}), ("delkey", ["core"], {}), ("delval", ["x:y:z"], {}),
    ]),
    ("a: 1\nlist:\n- x\n- k: v\nmap:\n  b: 2\n", {"core": "c"}, [
        ("set", ["a", 1], {}), ("set", ["a", 2], {}), ("set", ["a", [1]], {}), ("set", ["a", [1]], {"force": True}),
        ("set", ["a", 3], {}), ("set", ["fresh"], {}), ("set", ["fresh", {"k": 1}], {}), ("set", ["apps:one:port", 2209], {}),
        ("set", ["apps:one", {"port": 1}], {}), ("set", ["apps:one", {"port": 1}], {"force": True}),
        ("set", ["apps:one:port", None], {"destructive": True}), ("set", ["list:x", 1], {}), ("set", ["list:k", 2], {}),
        ("set", ["list:new", 3], {}), ("set", ["core:c", 4], {}), ("set", ["map:b:c", 5], {}),
        ("set", ["map:b:c", 5], {"force": True}), ("set", ["map/z", 6], {"delimiter": "/"}), ("set", ["n", None], {}),
        ("set", ["n", "now"], {}), ("set", ["core", "d"], {}),
    ]),
    ("- no\n- map\n", {}, [("setval", ["a", 1], {})]),
    ("a: [\n", {}, [("set", ["a", 1], {})]),
]


def main():
    table = []
    for text, more, calls in SEQUENCES:
        root = tempfile.mkdtemp()
        os.makedirs(f"{root}/etc/salt")
        with open(f"{root}/etc/salt/minion", "w") as fp:
            fp.write(f"root_dir: {root}\nid: web1\nfile_client: local\n")
        path = f"{root}/etc/salt/grains"
        if text is not None:
            with open(path, "w") as fp:
                fp.write(text)
        opts = salt.config.minion_config(f"{root}/etc/salt/minion")
        opts["local"] = True
        import yaml
        try:
            grains = yaml.safe_load(text) if text else {}
        except yaml.YAMLError:
            grains = {}
        opts["grains"] = {**more, **(grains if isinstance(grains, dict) else {})}
        module = salt.loader.minion_mods(opts)
        rows = []
        for fun, args, kwargs in calls:
            result = module[f"grains.{fun}"](*json.loads(json.dumps(args)), **kwargs)
            result = json.loads(json.dumps(result))
            with open(path, encoding="utf-8") as fp:
                rows.append({"fun": fun, "args": args, "kwargs": kwargs, "return": result, "file": fp.read()})
        table.append({"file": text, "grains": more, "calls": rows})
    print(json.dumps({"salt": salt.version.__version__, "sequences": table}, indent=1, ensure_ascii=False))


main()
