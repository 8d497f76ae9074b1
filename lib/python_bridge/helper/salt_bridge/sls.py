"""SLS files in Python (`#!py`), and files that Python renders (`template: py`): the function `run`."""

import os
import sys
import types

from salt.exceptions import SaltRenderError

from . import errors


def run(job, message):
    """The result of the file's function `run`; of a template a text."""
    module = types.ModuleType(message["name"])
    module.__file__ = message["path"]
    names = _names(job, message)
    module.__dict__.update(names)
    sys.modules[module.__name__] = module
    text = message["text"]
    if os.path.isfile(message["path"]):
        with open(message["path"], "rb") as file:
            text = file.read()
    exec(compile(text, message["path"] or message["sls"] or message["name"], "exec"), module.__dict__)
    # As in Salt, names of the file with the same names do not hide them.
    module.__dict__.update(names)
    try:
        return _text(module.run()) if message["is_template"] else module.run()
    except Exception as error:
        raise SaltRenderError(errors.trace_of(error)) from None


def _names(job, message):
    """The names that the file sees."""
    known = ["salt", "grains", "opts"] + (["pillar"] if message["pillar"] else [])
    names = {"__%s__" % name: job.dunder("__%s__" % name) for name in known}
    names.update({name: names["__%s__" % name] for name in known}, __env__=message["saltenv"], saltenv=message["saltenv"])
    names.setdefault("pillar", {})
    if not message["is_template"]:
        names.update(__sls__=message["sls"], sls=message["sls"])
    names.update(message.get("names", {}))
    return names


def _text(value):
    if isinstance(value, (bytes, bytearray)):
        return value.decode("utf-8")
    if isinstance(value, str):
        return value
    raise TypeError("expected str, bytes, or bytearray not %s" % type(value))
