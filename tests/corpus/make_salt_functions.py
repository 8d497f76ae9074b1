#!/usr/bin/env python3
"""Writes lib/plugins/salt_functions.ts: the names of the functions of Salt's execution modules and runners on every
system, read from its sources, so that the functions of modules that cannot be loaded here are among them.
Run it with the Python of an environment that has Salt: `python make_salt_functions.py > lib/plugins/salt_functions.ts`."""
import ast
import pathlib

import salt
import salt.version

ROOT = pathlib.Path(salt.__file__).parent


def functions(path):
    """The name that a module loads under, and its public functions by the names that users type."""
    name, aliases, found = path.stem if path.stem != "__init__" else path.parent.name, {}, set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            found.add(node.name)
        if not (isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)):
            continue
        target = node.targets[0].id
        if target == "__virtualname__" and isinstance(node.value, ast.Constant):
            name = node.value.value
        elif target == "__func_alias__" and isinstance(node.value, ast.Dict):
            aliases = ast.literal_eval(node.value)
        elif isinstance(node.value, ast.Call) and not target.startswith("_"):
            called = node.value.func
            called = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            if called in ("alias_function", "namespaced_function"):
                found.add(target)
    return name, {aliases.get(one, one) for one in found}


def table(family):
    modules = {}
    for path in sorted((ROOT / family).iterdir()):
        path = path / "__init__.py" if path.is_dir() else path
        if path.suffix != ".py" or path == ROOT / family / "__init__.py" or not path.exists():
            continue
        name, found = functions(path)
        modules.setdefault(name, set()).update(found)
    return "\n".join(f"{name} {' '.join(sorted(found))}" for name, found in sorted(modules.items()) if found)


if __name__ == "__main__":
    print(f"""/**
 * The names of Salt's functions, to distinguish functions that are not built from unknown ones. Loaded only when a
 * function is missing. tests/corpus/make_salt_functions.py makes this file of the sources of Salt {salt.version.__version__}.
 * @module
 */

/** The execution modules, a line each: the name, and its functions. */
export const SALT_EXECUTION_FUNCTIONS = `
{table("modules")}
`;

/** The same of the runners. */
export const SALT_RUNNER_FUNCTIONS = `
{table("runners")}
`;""")
