"""Writes the results of Salt's states in situations to state_situations/<family>.json: run it with the python of a Salt 3008.3 venv,
as root. `make_state_situations.py file git` makes only these families.

A situation (state_situation_cases.py) is a tree of SLS files, a pillar and files; it is applied four times: in test mode, for
real, for real again, in test mode again. For each run, the return is recorded, and the files afterwards if they changed.

`@@` in a situation and in the recorded data stands for the directory of its files. Returns have no times and no process ids; if a state raised an
error, only that fact is recorded.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import salt.config
import salt.minion

import state_situation_cases
from directory_tree import build, place, snapshot

HERE = pathlib.Path(__file__).parent
# The placeholder of the directory of the files, in situations and in recorded data.
ROOT = "@@"
EXCEPTION = "An exception occurred in this state: "
RUNS = (("would", True), ("did", False), ("again", False), ("would again", True))

# The environment for git and for the grain shell, outside of a situation.
ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "GIT_AUTHOR_DATE": "1700000000 +0000",
    "GIT_COMMITTER_DATE": "1700000000 +0000", "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@b", "LC_ALL": "C.UTF-8", "SHELL": "/bin/sh",
}


class Place:
    """The directories of one situation."""

    def __init__(self, case):
        self.case = case
        self.base = pathlib.Path(tempfile.mkdtemp(prefix="situation_"))
        self.root = self.base / "root"
        for name in ("root", "etc", "cache"):
            (self.base / name).mkdir()
        srv = {"situation.sls": case["sls"], **case.get("tree", {})}
        pillar = {"top.sls": '{"base": {"*": ["p"]}}', "p.sls": "#!yaml\n" + json.dumps(case.get("pillar", {}))}
        for name, tree in {"srv": nested(srv), "pillar": pillar, "root": nested(case.get("before", {}))}.items():
            (self.base / name).mkdir(exist_ok=True)
            build(str(self.base / name), place(tree, ROOT, str(self.root)))
        self.roots = {"base": [str(self.base / "srv")]}
        for name, tree in case.get("environments", {}).items():
            self.roots[name] = [str(self.base / f"srv_{name}")]
            (self.base / f"srv_{name}").mkdir()
            build(self.roots[name][0], place(nested(tree), ROOT, str(self.root)))
        if "setup" in case:
            script = place(case["setup"], ROOT, str(self.root))
            subprocess.run(["sh", "-ec", script], cwd=self.root, check=True, capture_output=True)

    def bare(self, value):
        """Without values that differ from run to run."""
        if isinstance(value, str):
            value = value.replace(str(self.root), ROOT).replace(str(self.base / "cache"), "@cache@")
            return re.sub(rf"({EXCEPTION}).*", r"\1", value.replace(str(self.base / "srv"), "@srv@"), flags=re.S)
        if isinstance(value, dict):
            return {
                self.bare(k): 1 if k == "pid" and v else self.bare(v)
                for k, v in value.items() if k not in ("start_time", "duration")
            }
        if isinstance(value, (list, tuple)):
            return [self.bare(v) for v in value]
        if isinstance(value, (set, frozenset)):
            return sorted(self.bare(v) for v in value)
        return value

    def files(self):
        """The files in the root, without git's own."""
        return self.bare(seen(snapshot(str(self.root)), self.case.get("unseen", ())))

    def opts(self):
        opts = salt.config.minion_config("/dev/null")
        opts.update(
            id="m1", root_dir=str(self.base), cachedir=str(self.base / "cache"), conf_file=str(self.base / "etc/minion"),
            config_dir=str(self.base / "etc"), pki_dir=str(self.base / "pki"), sock_dir=str(self.base / "sock"),
            extension_modules=str(self.base / "cache/extmods"), file_client="local", local=True, log_level="quiet",
            file_roots=self.roots, pillar_roots={"base": [str(self.base / "pillar")]},
            fileserver_list_cache_time=0, enable_fqdns_grains=False, **self.case.get("options", {}),
        )
        return opts


def nested(files):
    """A tree of files whose names are paths; null is a directory."""
    tree = {}
    for path, what in files.items():
        *above, name = path.split("/")
        at = tree
        for folder in above:
            at = at.setdefault(folder, {"dir": {}})["dir"]
        at[name] = {"dir": {}} if what is None else what
    return tree


def seen(tree, unseen):
    return {
        name: {**what, "dir": seen(what["dir"], ())} if isinstance(what, dict) and "dir" in what else what
        for name, what in tree.items() if name != ".git" and name not in unseen
    }


def record(case):
    site = Place(case)
    os.chdir("/")
    environment = dict(os.environ)
    os.umask(0o022)
    try:
        made = {**case, "tree": nested(case.get("tree", {})), "before": nested(case.get("before", {})), "runs": []}
        if "environments" in case:
            made["environments"] = {name: nested(tree) for name, tree in case["environments"].items()}
        before = site.files()
        minion = salt.minion.SMinion(site.opts())
        for name, test in RUNS:
            returned = minion.functions["state.sls"]("situation", test=test)
            run = {"run": name, "return": site.bare(returned)}
            after = site.files()
            if after != before:
                run["files"] = after
            before = after
            made["runs"].append(run)
        return made
    finally:
        os.environ.clear()
        os.environ.update(environment)
        shutil.rmtree(site.base)


def once(find):
    known = []

    def call(*args, **kwargs):
        if not known:
            known.append(find(*args, **kwargs))
        return known[0]

    return call


def main(families):
    # The grains of the host are the same for all situations.
    salt.loader.grains = once(salt.loader.grains)
    os.environ.update(ENVIRONMENT)
    for family, cases in state_situation_cases.FAMILIES.items():
        if families and family not in families:
            continue
        made = []
        for case in cases:
            print(case["name"], flush=True)
            made.append(record(case))
        (HERE / f"state_situations/{family}.json").write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n")


main(sys.argv[1:])
