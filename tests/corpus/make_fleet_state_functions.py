"""Writes fleet_state_functions.json: the state functions that 5 or more of 12 public fleets use, with the number of fleets and the
arguments of Salt 3008.3. Run it with the Python of an environment that has Salt 3008.3:
`python make_fleet_state_functions.py > fleet_state_functions.json`.

The numbers come from a count over the SLS files (2,871) of 12 public repositories that run real fleets, made in November 2026."""
import importlib
import inspect
import json
import logging

logging.disable(logging.CRITICAL)

FLEETS = {
    12: "file.managed cmd.run file.directory service.running",
    11: "pkg.installed file.absent",
    10: "module.run",
    8: "cron.present file.symlink pkgrepo.managed user.present service.dead",
    7: "group.present pkg.removed",
    6: "file.replace file.append git.latest pip.installed",
    5: "file.recurse file.line file.copy file.exists pkg.latest pkg.uptodate cmd.script ini.options_present mount.mounted virtualenv.managed",
}
# Modules whose file has another name, and functions with another name in Python.
FILES = {"ini": "ini_manage", "pip": "pip_state", "virtualenv": "virtualenv_mod"}
ALIASES = {"file.copy": "copy_"}


def arguments(fun):
    module, name = fun.split(".")
    module = importlib.import_module(f"salt.states.{FILES.get(module, module)}")
    parameters = inspect.signature(getattr(module, ALIASES.get(fun, name))).parameters.values()
    return {
        "args": [
            {"name": p.name} if p.default is p.empty else {"name": p.name, "default": p.default}
            for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD
        ],
        "more": any(p.kind is p.VAR_KEYWORD for p in parameters),
    }


found = [
    {"fun": fun, "fleets": fleets, **arguments(fun)} for fleets, names in FLEETS.items() for fun in names.split()
]
assert len(found) == 28
print("[\n" + ",\n".join(json.dumps(one) for one in found) + "\n]")
