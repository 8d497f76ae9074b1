"""Calls functions of Salt's execution modules on this host: a JSON list of [function, arguments, keywords] on stdin, and the
results as a JSON list on stdout. Run by modules_here_test.ts."""
import json
import logging
import sys
import tempfile
import warnings

warnings.simplefilter("ignore")
import salt.config
import salt.loader

logging.disable(logging.CRITICAL)
root = tempfile.mkdtemp()
opts = salt.config.minion_config(None)
opts.update({"root_dir": root, "cachedir": root, "extension_modules": f"{root}/ext", "file_client": "local", "id": "m1"})
opts["grains"] = salt.loader.grains(opts)
modules = salt.loader.minion_mods(opts, utils=salt.loader.utils(opts))
results = []
for function, args, kwargs in json.load(sys.stdin):
    try:
        results.append(modules[function](*args, **kwargs))
    except Exception as exc:  # an error is a result, too
        results.append(f"ERROR: {exc}")
json.dump(results, sys.stdout, default=list)
