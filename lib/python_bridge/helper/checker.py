"""Checks plugins without running them: what each imports, and whether the bridge has it.

    python3 -E -s checker.py PATH…

A path is a file, or a directory of which all files `*.py` are checked. Standard output is JSON: a list of maps `path`,
`works` and `notes`.
"""

import ast
import importlib.util
import json
import os
import re
import sys

from salt_bridge import imports

#: The note about a part of Salt that this Python has.
REAL_IS_THERE = "needs the real salt, which is there"
HERE = os.path.dirname(os.path.abspath(__file__))
#: Signs of Python 2 in a file that Python 3 cannot parse.
PYTHON_2 = re.compile(rb"^\s*print\s+[\"'\w%]|^\s*except\s+[\w.()\s,]+,\s*\w+\s*:|\b0[0-7]{3,}\b|\bexec\s+['\"]|<>|\bur['\"]", re.M)
#: Modules of Python 2's library, with their names in Python 3.
RENAMED = {
    "urllib2": "urllib.request",
    "ConfigParser": "configparser",
    "StringIO": "io",
    "cStringIO": "io",
    "httplib": "http.client",
    "urlparse": "urllib.parse",
    "commands": "subprocess",
    "Queue": "queue",
    "__builtin__": "builtins",
}


class Checker:
    def __init__(self, neighbours):
        #: The names that files may import because a plugin's file is called so.
        self._neighbours = neighbours
        self._known = {}

    def check(self, path):
        works, notes = True, []
        try:
            with open(path, "rb") as file:
                text = file.read()
        except OSError as error:
            return {"path": path, "works": False, "notes": ["cannot be read: %s" % error.strerror]}
        try:
            tree = ast.parse(text, path)
        except (SyntaxError, ValueError) as error:
            line = getattr(error, "lineno", None) or 1
            what = "Python 2" if PYTHON_2.search(text) else "does not parse"
            notes = ["%s: line %d: %s" % (what, line, getattr(error, "msg", error))]
            return {"path": path, "works": False, "notes": notes}
        found = imports.Imports()
        found.visit(tree)
        own = {os.path.splitext(name)[0] for name in os.listdir(os.path.dirname(path) or ".")} | self._neighbours
        for line, module, name, without in found.found:
            problem = self._problem(module, name, own)
            if problem is None:
                continue
            works = works and (bool(without) or problem.startswith(REAL_IS_THERE))
            notes.append("%s%s (line %d)" % (problem, ": " + without if without else "", line))
        notes += self._moved(found)
        return {"path": path, "works": works, "notes": list(dict.fromkeys(notes))}

    def _problem(self, module, name, own):
        top = module.partition(".")[0]
        if module.startswith("."):
            part = module.strip(".").partition(".")[0]
            return None if not part or part in own else "needs %s beside it" % module
        if top == "salt":
            missing = imports.missing_part(module, name)
            there = REAL_IS_THERE if imports.has_real_salt() else "needs the real salt"
            return missing and "%s: %s" % (there, missing)
        if top in RENAMED:
            return "Python 2: %s is %s" % (top, RENAMED[top])
        if top in own or self._is_there(top):
            return None
        return "needs %s" % top

    def _is_there(self, top):
        if top not in self._known:
            try:
                self._known[top] = importlib.util.find_spec(top) is not None
            except (ImportError, ValueError):
                self._known[top] = False
        return self._known[top]

    def _moved(self, found):
        import salt.utils

        names = [(line, name) for line, name in found.moved if name in salt.utils._FLAT]
        names += [(line, name) for line, module, name, _ in found.found if module == "salt.utils" and name in salt.utils._FLAT]
        for line, name in names:
            yield "salt.utils.%s works here, and is salt.utils.%s elsewhere (line %d)" % (
                (name, ".".join(salt.utils._FLAT[name]), line)
            )
        for line, module, _name, without in found.found:
            if module.startswith("salt.ext.six") and not without:
                yield "%s works here, and not in Python Salt since 3006 (line %d)" % (module, line)


def files_of(path):
    if not os.path.isdir(path):
        return [path]
    found = []
    for directory, directories, names in os.walk(path):
        directories[:] = sorted(name for name in directories if not name.startswith(".") and name != "__pycache__")
        found += [os.path.join(directory, name) for name in sorted(names) if name.endswith(".py")]
    return found


def main():
    sys.path.insert(0, os.path.join(HERE, "standins"))
    sys.path.append(os.path.join(HERE, "fallbacks"))
    sys.pycache_prefix = os.path.join(HERE, "pyc")
    files = [file for path in sys.argv[1:] for file in files_of(path)]
    # Names of files of `_utils` and of neighbours can be imported from everywhere in the tree.
    neighbours = {os.path.splitext(os.path.basename(file))[0] for file in files}
    neighbours |= {os.path.basename(os.path.dirname(file)) for file in files if file.endswith("__init__.py")}
    checker = Checker(neighbours)
    json.dump([checker.check(file) for file in files], sys.stdout)


if __name__ == "__main__":
    main()
