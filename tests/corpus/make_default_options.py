#!/usr/bin/env python3
"""Writes default_options.json: the defaults of all options of Salt 3008.3, of the master and of the minion. A home directory is written as `~`. Run
it with the Python of an environment that has Salt 3008.3: `<venv>/bin/python tests/corpus/make_default_options.py`."""
import json
import os
import pathlib
from collections.abc import Mapping, Sequence, Set

import salt.config


def plain(value):
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, str):
        return value.replace(os.path.expanduser("~"), "~")
    if isinstance(value, (Sequence, Set)):
        return [plain(one) for one in value]
    if value is None or isinstance(value, (bool, int, float)):
        return value
    raise TypeError(f"{value!r} cannot be written")


tables = {"master": plain(salt.config.DEFAULT_MASTER_OPTS), "minion": plain(salt.config.DEFAULT_MINION_OPTS)}
rows = [
    f' {json.dumps(node)}: {{\n' + ",\n".join(f"  {json.dumps(name)}: {json.dumps(table[name])}" for name in sorted(table)) + "\n }"
    for node, table in tables.items()
]
here = pathlib.Path(__file__).parent / "default_options.json"
here.write_text("{\n" + ",\n".join(rows) + "\n}\n")
