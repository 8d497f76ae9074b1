#!/usr/bin/env python3
"""Records the results of Salt's modules `ip`, the files that they write, and the other functions that they call, for the cases of ip_cases.py.
Run it with the Python of an environment that has Salt 3008.3: `python make_ip.py ip.json`. All files are below a directory of the script, and all
functions of other modules return the answers of a case (default: true)."""
import json
import os
import shutil
import sys
import tempfile

import salt.modules.debian_ip
import salt.modules.rh_ip
import salt.version
from ip_cases import CASES

MODULES = {"debian_ip": salt.modules.debian_ip, "rh_ip": salt.modules.rh_ip}
PLACES = {(module, name): value for module in MODULES.values() for name, value in vars(module).items() if name.startswith(("_DEB_", "_RH_")) and isinstance(value, str)}
salt.modules.debian_ip.time.sleep = lambda _seconds: None


def build(root, files):
    for path, text in files.items():
        full = f"{root}/{path}"
        os.makedirs(os.path.dirname(full), exist_ok=True)
        if not path.endswith("/"):
            with open(full, "w", encoding="utf-8") as file:
                file.write(text)


def below(root):
    return {os.path.relpath(f"{place}/{name}", root): open(f"{place}/{name}", encoding="utf-8").read() for place, _, names in os.walk(root) for name in names}


class Functions(dict):
    """Execution functions that return the answers of a case, and record their calls."""

    def __init__(self, answers, root):
        super().__init__()
        self.answers, self.root, self.calls = answers, root, []

    def __getitem__(self, name):
        def call(*args, **kwargs):
            self.calls.append([name, plain(list(args), self.root), kwargs])
            return self.answers.get(name, {} if name == "network.interfaces" else True)
        return call


def plain(value, root):
    if isinstance(value, str):
        return value.replace(root, "")
    if isinstance(value, list):
        return [plain(one, root) for one in value]
    if isinstance(value, dict):
        return {key: plain(one, root) for key, one in value.items()}
    return value


def record(case):
    root = tempfile.mkdtemp()
    build(root, case["files"])
    before = below(root)
    for (module, name), value in PLACES.items():
        setattr(module, name, root + value)
    module = MODULES[case["module"]]
    functions = Functions(case["answers"], root)
    module.__grains__, module.__salt__ = case["grains"], functions
    outcome = {}
    try:
        outcome["result"] = plain(getattr(module, case["fun"])(*case["args"], **json.loads(json.dumps(case["kwargs"]))), root)
    except (AttributeError, KeyError) as exc:  # which states show as their comment
        outcome["error"] = plain(f"{type(exc).__name__}: {exc}", root)
    except Exception as exc:  # which Salt shows as a stack trace
        outcome["error"] = ""
        print(f"{case['module']}.{case['fun']} {case['args']} {case['kwargs']}: {type(exc).__name__}: {exc}", file=sys.stderr)
    outcome["calls"] = functions.calls
    after = below(root)
    if after != before:
        outcome["written"] = {path: plain(text, root) for path, text in sorted(after.items()) if before.get(path) != text}
    shutil.rmtree(root)
    return outcome


def main(path):
    if not salt.version.__version__.startswith("3008.3"):
        sys.exit("This wants Salt 3008.3")
    files, systems = [], []

    def number(table, value):
        if value not in table:
            table.append(value)
        return table.index(value)

    rows = [{**case, "files": number(files, case["files"]), "grains": number(systems, case["grains"]), **record(case)} for case in CASES]
    lines = ",\n".join("  " + json.dumps(row, ensure_ascii=False) for row in rows)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'{{\n "salt": "3008.3",\n "files": {json.dumps(files)},\n "grains": {json.dumps(systems)},\n "cases": [\n{lines}\n ]\n}}\n')


main(sys.argv[1])
