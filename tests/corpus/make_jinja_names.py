"""Writes jinja_names.json: the names of the filters, tests and globals in Salt's templates. See README.md.

Run with the python of a virtual environment that holds Salt 3008.3:
    <venv>/bin/python tests/corpus/make_jinja_names.py
"""

import json
import logging
import pathlib
import tempfile

import jinja2.sandbox
import salt.config
import salt.loader
import salt.utils.templates

logging.disable(logging.CRITICAL)

found = {}
compile_text = jinja2.sandbox.SandboxedEnvironment.from_string


def from_string(environment, source, *args, **kwargs):
    """The environment is made inside the function that renders: only here it is accessible."""
    for kind in ("filters", "tests", "globals"):
        found[kind] = sorted(getattr(environment, kind))
    return compile_text(environment, source, *args, **kwargs)


jinja2.sandbox.SandboxedEnvironment.from_string = from_string
with tempfile.TemporaryDirectory() as root:
    opts = salt.config.minion_config(None)
    opts.update({"root_dir": root, "cachedir": root, "file_client": "local", "grains": {}, "extension_modules": root})
    # Salt's filters are in modules that are loaded when they are first needed.
    modules = salt.loader.minion_mods(opts)
    list(modules)
    context = {"opts": opts, "saltenv": "base", "sls": "web", "salt": modules, "grains": {}, "pillar": {}, "tplpath": None}
    salt.utils.templates.render_jinja_tmpl("x", context)
path = pathlib.Path(__file__).parent / "jinja_names.json"
path.write_text(json.dumps(found, indent=1) + "\n")
print({kind: len(names) for kind, names in found.items()})
