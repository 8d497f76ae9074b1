"""SLS files in Python (`#!py`)."""

import os
import sys
import types

from salt.exceptions import SaltRenderError

from . import errors


def run(job, message):
    """The result of the file's function `run`."""
    module = types.ModuleType(message["name"])
    module.__file__ = message["path"]
    names = {name: job.dunder(name) for name in ("__salt__", "__grains__", "__opts__")}
    if message["pillar"]:
        names["__pillar__"] = job.dunder("__pillar__")
    names["__env__"] = message["saltenv"]
    names["__sls__"] = message["sls"]
    for name, value in names.items():
        setattr(module, name, value)
        setattr(module, "saltenv" if name == "__env__" else name.strip("_"), value)
    for name, value in message.get("names", {}).items():
        setattr(module, name, value)
    module.pillar = names.get("__pillar__", {})
    sys.modules[module.__name__] = module
    text = message["text"]
    if os.path.isfile(message["path"]):
        with open(message["path"], "rb") as file:
            text = file.read()
    exec(compile(text, message["path"] or message["sls"], "exec"), module.__dict__)
    try:
        return module.run()
    except Exception as error:
        raise SaltRenderError(errors.trace_of(error)) from None
