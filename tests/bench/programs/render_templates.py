"""Measures how many templates Python Salt renders in a second of processor time. The counterpart of render_templates.ts."""

import json
import logging
import os
import pathlib
import sys
import time

import salt.config
import salt.fileclient
import salt.utils.templates

logging.disable(logging.CRITICAL)
root, seconds = sys.argv[1], float(sys.argv[2])
templates = json.loads(pathlib.Path(os.path.dirname(__file__), "render_templates.json").read_text())
for name, text in templates["files"].items():
    path = pathlib.Path(root, "srv", name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
opts = salt.config.minion_config(None)
opts.update({"root_dir": root, "cachedir": root + "/cache", "file_client": "local", "file_roots": {"base": [root + "/srv"]}})
client = salt.fileclient.get_file_client(opts)
pillar = templates["pillar"]
functions = {"pillar.get": lambda key, default="": pillar.get(key, default), "grains.get": lambda key: {"os_family": "Debian"}[key]}


def render(text):
    context = {"opts": opts, "saltenv": "base", "sls": "web", "pillar": pillar, "grains": {"os_family": "Debian"}, "salt": functions, "fileclient": client}
    return salt.utils.templates.render_jinja_tmpl(text, context)


def rate(text):
    render(text)
    before, count = time.process_time(), 0
    while time.process_time() - before < seconds:
        render(text)
        count += 1
    return count / (time.process_time() - before)


print(json.dumps({name: rate(text) for name, text in templates["templates"].items()}))
