"""Writes what Salt's states do in situations, into state_situations/<family>.json: run it with the python of a Salt 3008.3 venv,
as root. `make_state_situations.py file git` makes these families alone.

A situation (state_situation_cases.py) is a tree of SLS files, a pillar and files; it is applied four times: in test mode, for
real, for real again, in test mode again. Of each run there are the return, and the files that it left where that are others
than before.

`@@` in a situation stands for the directory that its files are in, and so it does in what is written here. Returns have no times,
and no process ids; of an exception the type alone.
"""

import base64
import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tempfile

import salt.config
import salt.minion

import state_situation_cases

HERE = pathlib.Path(__file__).parent
RUNS = (("would", True), ("did", False), ("again", False), ("would again", True))

# What git and others read from outside of a situation.
ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "GIT_AUTHOR_DATE": "1700000000 +0000",
    "GIT_COMMITTER_DATE": "1700000000 +0000", "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@b", "LC_ALL": "C.UTF-8",
}


class Place:
    """The directories of one situation."""

    def __init__(self, case):
        self.case = case
        self.base = pathlib.Path(tempfile.mkdtemp(prefix="situation_"))
        self.root = self.base / "root"
        for name in ("root", "srv", "pillar", "etc", "cache"):
            (self.base / name).mkdir()
        for name, text in {"situation.sls": case["sls"], **case.get("tree", {})}.items():
            put(self.base / "srv" / name, self.filled(text))
        pillar = json.dumps(case.get("pillar", {}))
        put(self.base / "pillar/top.sls", '{"base": {"*": ["p"]}}')
        put(self.base / "pillar/p.sls", "#!yaml\n" + self.filled(pillar))
        for name, what in case.get("before", {}).items():
            put(self.root / name, self.filled(what))
        if "setup" in case:
            subprocess.run(["sh", "-ec", self.filled(case["setup"])], cwd=self.root, check=True, capture_output=True)

    def filled(self, what):
        if isinstance(what, str):
            return what.replace("@@", str(self.root))
        if isinstance(what, dict):
            return {k: self.filled(v) for k, v in what.items()}
        return what

    def bare(self, value):
        """Without what differs from run to run."""
        if isinstance(value, str):
            value = value.replace(str(self.root), "@@").replace(str(self.base / "cache"), "@cache@")
            value = re.sub(r"Traceback \(most recent call last\):\n.*\n(\S+?):? .*", r"\1", value, flags=re.S)
            return value.replace(str(self.base / "srv"), "@srv@")
        if isinstance(value, dict):
            return {
                self.bare(k): 1 if k == "pid" and v else self.bare(v)
                for k, v in value.items() if k not in ("start_time", "duration")
            }
        if isinstance(value, (list, tuple)):
            return [self.bare(v) for v in value]
        return value

    def files(self):
        """What is in the root, but for what git keeps for itself."""
        found = {}
        for path in sorted(self.root.rglob("*")):
            name = str(path.relative_to(self.root))
            if ".git" in path.parts or name in self.case.get("unseen", ()):
                continue
            found[name] = told(path)
            if isinstance(found[name], dict) and "text" in found[name]:
                found[name]["text"] = self.bare(found[name]["text"])
        return found

    def opts(self):
        opts = salt.config.minion_config("/dev/null")
        opts.update(
            id="m1", root_dir=str(self.base), cachedir=str(self.base / "cache"), conf_file=str(self.base / "etc/minion"),
            config_dir=str(self.base / "etc"), pki_dir=str(self.base / "pki"), sock_dir=str(self.base / "sock"),
            extension_modules=str(self.base / "cache/extmods"), file_client="local", local=True, log_level="quiet",
            file_roots={"base": [str(self.base / "srv")]}, pillar_roots={"base": [str(self.base / "pillar")]},
            fileserver_list_cache_time=0, enable_fqdns_grains=False, **self.case.get("options", {}),
        )
        return opts


def put(path, what):
    """Makes a file: its text, or a map with `text`, `base64`, `mode`, `link`, or null for a directory."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if what is None:
        path.mkdir(exist_ok=True)
        return
    if isinstance(what, str):
        what = {"text": what}
    if "link" in what:
        path.symlink_to(what["link"])
        return
    if "base64" in what:
        path.write_bytes(base64.b64decode(what["base64"]))
    else:
        path.write_bytes(what["text"].encode())
    path.chmod(int(what.get("mode", "0644"), 8))


def told(path):
    """A file as `put` takes it."""
    if path.is_symlink():
        return {"link": str(path.readlink())}
    mode = f"{stat.S_IMODE(path.stat().st_mode):04o}"
    if path.is_dir():
        return {"directory": mode}
    if not path.is_file():
        return {"special": stat.filemode(path.stat().st_mode)}
    content = path.read_bytes()
    try:
        return {"text": content.decode(), "mode": mode}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(content).decode(), "mode": mode}


def record(case):
    place = Place(case)
    os.chdir("/")
    environment = dict(os.environ)
    os.umask(0o022)
    try:
        made = {**{k: v for k, v in case.items()}, "files": place.files(), "runs": []}
        before = made["files"]
        minion = salt.minion.SMinion(place.opts())
        for name, test in RUNS:
            returned = minion.functions["state.sls"]("situation", test=test)
            run = {"run": name, "return": place.bare(returned)}
            after = place.files()
            if after != before:
                run["files"] = after
            before = after
            made["runs"].append(run)
        return made
    finally:
        os.environ.clear()
        os.environ.update(environment)
        shutil.rmtree(place.base)


def once(find):
    known = []

    def call(*args, **kwargs):
        if not known:
            known.append(find(*args, **kwargs))
        return known[0]

    return call


def main(families):
    # The host's are the same for all situations.
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
