"""Writes Salt's compiled pillar (`answer`), or its error, into each situation of pillar/*.json. See README.md.

    <venv>/bin/python tests/corpus/make_pillar.py [NAME…]
"""

import copy
import json
import logging
import pathlib
import subprocess
import sys
import tempfile
from collections import OrderedDict

import salt.config
import salt.pillar

logging.disable(logging.CRITICAL)
HERE = pathlib.Path(__file__).parent / "pillar"


def placed(value, root):
    """`value` with the directory of the situation in place of `{root}`."""
    if isinstance(value, str):
        return value.replace("{root}", root)
    if isinstance(value, list):
        return [placed(item, root) for item in value]
    if isinstance(value, dict):
        return {placed(key, root): placed(item, root) for key, item in value.items()}
    return value


def written(value, root):
    """`value` as JSON: a map whose keys are not all texts becomes a list of pairs."""
    if isinstance(value, dict):
        if all(isinstance(key, str) for key in value):
            return {key.replace(root, "{root}"): written(item, root) for key, item in value.items()}
        return {"__pairs__": [[written(key, root), written(item, root)] for key, item in value.items()]}
    if isinstance(value, (list, tuple)):
        return [written(item, root) for item in value]
    if isinstance(value, bytes):
        return {"__bytes__": value.decode("latin-1")}
    return value.replace(root, "{root}") if isinstance(value, str) else value


def repository(path, branches):
    """A git repository with the files of each branch; `tag:v1` is a tag."""
    def git(*args):
        subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-C", path, *args], check=True, capture_output=True)
    path.mkdir(parents=True)
    git("init", "--quiet")
    for branch, files in branches.items():
        kind, _, tag = branch.partition(":")
        git("checkout", "--quiet", "--orphan", tag or kind)
        subprocess.run(["git", "-C", path, "rm", "-rqf", "--ignore-unmatch", "."], check=True)
        for name, text in files.items():
            file = path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        git("add", "--all")
        git("commit", "--quiet", "-m", branch)
        if tag:
            git("tag", tag)
            git("checkout", "--quiet", "--detach")
            git("branch", "-D", tag)


def answer(case, root):
    for path, text in case["files"].items():
        file = pathlib.Path(root, path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    for name, branches in case.get("repositories", {}).items():
        repository(pathlib.Path(root, name), branches)
    opts = copy.deepcopy(salt.config.DEFAULT_MASTER_OPTS)
    opts.update({"root_dir": root, "cachedir": f"{root}/cache", "conf_file": f"{root}/master", "id": "master1_master",
                 "extension_modules": f"{root}/extmods", "pillar_roots": {"base": [f"{root}/base"]}, "file_roots": {"base": []},
                 "__role": "master", "minion_data_cache": False})
    opts.update(placed(case.get("opts", {}), root))
    request = case.get("request", {})
    grains = dict(case.get("grains", {}), id=case.get("minion", "web1"))
    made = salt.pillar.get_pillar(
        opts, grains, grains["id"], request.get("saltenv"), ext=request.get("ext"), pillar_override=request.get("override"),
        pillarenv=request.get("pillarenv"), extra_minion_data=request.get("extra_minion_data"),
    )
    try:
        top, _ = copy.deepcopy(made).get_top() if False else made.get_top()
        found = {"pillar": written(made.compile_pillar(), root)}
        found["top"] = written({env: dict(targets) for env, targets in top.items()}, root)
        return found
    except Exception as error:  # errors that a master answers with
        return {"raises": f"{type(error).__name__}: {error}".replace(root, "{root}")}


for path in sorted(HERE.glob("*.json")):
    if len(sys.argv) > 1 and path.stem not in sys.argv[1:]:
        continue
    case = json.loads(path.read_text(), object_pairs_hook=OrderedDict)
    with tempfile.TemporaryDirectory() as root:
        case["answer"] = answer(case, root)
    path.write_text(json.dumps(case, indent=1, ensure_ascii=False) + "\n")
    print(path.stem)
