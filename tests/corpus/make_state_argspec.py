"""Writes state_argspec.json: for every state module of Salt 3008.3 for Linux, its name on the minion and its functions, also if the module is not
available on this host. Run it with the Python of an environment that has Salt 3008.3."""

import ast
import json
import logging
import pathlib
import re

import salt.states

logging.disable(logging.CRITICAL)

# Modules for other systems and appliances, and files that are not modules.
FOREIGN = (
    "aix", "arista", "ios", "junos", "mac", "napalm", "nxos", "pkgng", "rbac_", "rest_", "solaris", "vsphere", "win", "zone", "zpool_", "__",
    "chocolatey", "reg", "wusa", "esx", "wua", "dsc", "lgpo", "certutil", "shortcut", "wmi", "msi",
)
# Functions that only the runtime calls.
HOOKS = ("mod_init", "mod_watch", "mod_aggregate", "mod_run_check", "mod_run_check_cmd", "mod_beacon")

found = {}
for path in sorted(pathlib.Path(salt.states.__file__).parent.glob("*.py")):
    if path.stem.startswith(FOREIGN):
        continue
    tree = ast.parse(path.read_text())
    names, aliases, virtual = [], {}, path.stem
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            names.append(node.name)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name == "__virtualname__":
                virtual = ast.literal_eval(node.value)
            elif name == "__func_alias__":
                aliases = ast.literal_eval(node.value)
            elif not name.startswith("_") and isinstance(node.value, ast.Call) and "alias_function" in ast.dump(node.value):
                names.append(name)
    functions = sorted({re.sub(r"^(.*)_$", r"\1", aliases[n]) if n in aliases else n for n in names} - set(HOOKS))
    found.setdefault(virtual, set()).update(functions)

here = pathlib.Path(__file__).parent / "state_argspec.json"
here.write_text(json.dumps({name: sorted(found[name]) for name in sorted(found)}, indent=1) + "\n")
