#!/usr/bin/env python3
"""Writes argspec.json: for every file of Salt's execution modules, its name on the minion and the result of `sys.argspec` for its functions, also for
modules that are not available on this host.

Run it with the Python of an environment that has Salt 3008.3, then with that of one that has 3006 and the file that came
out: `<3008>/bin/python make_argspec.py > argspec.json; <3006>/bin/python make_argspec.py argspec.json > new`. The second run adds the modules that
Salt has moved to extensions since then and that are built here; the entries of 3008 do not change.

An entry is [args, defaults, varargs, kwargs]; a default that JSON cannot write is {"repr": text}."""
import json
import logging
import os
import sys
import tempfile
import warnings

warnings.simplefilter("ignore")
os.environ["SHELL"] = "/bin/sh"  # the default of an argument of cmd.*
import salt.config
import salt.defaults
import salt.loader
import salt.modules
import salt.utils.args
import salt.version

logging.disable(logging.CRITICAL)

#: Modules for other systems and appliances.
FOREIGN = ("aix", "arista", "dummyproxy", "ios", "junos", "mac", "napalm", "nxos", "pkgin", "pkgng", "pkgutil", "pw_", "rbac_", "rest_",
           "smf_", "solaris", "ssh_pkg", "ssh_service", "test_virtual", "vsphere", "win", "zone")

#: Modules of 3006 (vault: of 3007) that are no longer part of Salt 3008, and are built here.
FORMER = ("acme", "apkpkg", "deb_apache", "deb_postgres", "dockermod", "hg", "gem", "gentoo_service", "mongodb", "rvm",
          "s3", "vault")

#: The names of modules that set their name only in __virtual__.
VIRTUAL = {"linux_service": "service"}

root = tempfile.mkdtemp()
opts = salt.config.minion_config(None)
opts.update({"root_dir": root, "cachedir": root, "extension_modules": f"{root}/ext", "id": "m1", "file_client": "local"})
opts["grains"] = {"id": "m1", "kernel": "Linux", "os": "Debian", "os_family": "Debian", "osmajorrelease": 12}
functions = salt.loader.minion_mods(opts)


def plain(value):
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, salt.defaults._Constant):
        return repr(value)  # as `sys.argspec` prints it
    return {"repr": type(value).__name__}


def module(name):
    raw = salt.loader.raw_mod(opts, name, functions)
    reports = {}
    for key in sorted(raw):
        report = salt.utils.args.argspec_report({key: raw[key]}, key)[key]
        reports[key.split(".", 1)[1]] = [plain(report[part]) for part in ("args", "defaults", "varargs", "kwargs")]
    if not reports:
        return None
    loaded = sys.modules[raw[key].__module__]
    virtual = getattr(loaded, "__virtualname__", VIRTUAL.get(name, name))
    return {"name": virtual if isinstance(virtual, str) else name, "functions": reports}


def main():
    names = sorted(
        entry.split(".")[0] for entry in os.listdir(os.path.dirname(salt.modules.__file__)) if not entry.startswith("_")
    )
    if len(sys.argv) > 1:
        with open(sys.argv[1], encoding="utf-8") as file:
            table = json.load(file)
        names = [name for name in names if name in FORMER and name not in table]
    else:
        names = [name for name in names if not name.startswith(FOREIGN)]
        table = {}
    for name in dict.fromkeys(names):
        try:
            found = module(name)
        except Exception:  # a module that cannot be imported here has no functions to list
            continue
        if found is not None:
            table[name] = found
    rows = []
    for name in sorted(table):
        lines = [f"   {json.dumps(key)}: {json.dumps(spec)}" for key, spec in table[name]["functions"].items()]
        rows.append(f' {json.dumps(name)}: {{"name": {json.dumps(table[name]["name"])}, "functions": {{\n' + ",\n".join(lines) + "}}")
    print("{\n" + ",\n".join(rows) + "\n}")


main()
