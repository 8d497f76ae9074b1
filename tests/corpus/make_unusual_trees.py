"""Writes Salt's result for each file at the top of the tree to unusual_trees.json: `state.show_low_sls`, or the first line of each error.

    <venv>/bin/python tests/corpus/make_unusual_trees.py
"""

import json
import logging
import pathlib
import tempfile
import warnings

warnings.simplefilter("ignore")
import salt.client
import salt.config

logging.disable(logging.CRITICAL)
PATH = pathlib.Path(__file__).parent / "unusual_trees.json"
corpus = json.loads(PATH.read_text())


def answer(caller, sls):
    low = caller.cmd("state.show_low_sls", sls)
    errors = [chunk.split("\n")[0] for chunk in low if isinstance(chunk, str)]
    return {"errors": errors} if errors else {"low": low}


with tempfile.TemporaryDirectory() as root:
    for name, text in corpus["files"].items():
        file = pathlib.Path(root, name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    opts = salt.config.minion_config(None)
    opts.update({
        "root_dir": f"{root}/root", "cachedir": f"{root}/cache", "extension_modules": f"{root}/ext", "file_client": "local", "local": True,
        "file_roots": {"base": [f"{root}/salt"]}, "pillar_roots": {"base": [f"{root}/pillar"]}, "id": "web1", "log_level": "quiet",
        "grains": {"os_family": "Debian", "kernel": "Linux"},
    })
    caller = salt.client.Caller(mopts=opts)
    names = sorted(path.stem for path in pathlib.Path(root, "salt").glob("*.sls"))
    corpus["answers"] = {name: answer(caller, name) for name in names}
PATH.write_text(json.dumps(corpus, indent=1, ensure_ascii=False) + "\n")
print(f"{len(names)} files")
