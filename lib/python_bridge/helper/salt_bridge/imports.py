"""What files import, and which of them need the real Salt: a part of it for which there is no stand-in."""

import ast
import importlib
import importlib.machinery
import os
import re
import sys

#: What happens without an import that is guarded.
CAN_DO_WITHOUT = "the file can do without"
_HELPER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
#: A file without such a line needs no part of Salt.
_MENTIONS_SALT = re.compile(rb"^\s*(?:import|from)\s+[^\n]*\bsalt\b", re.M)


class Imports(ast.NodeVisitor):
    """The imports of a file, and its uses of names of `salt.utils`."""

    def __init__(self):
        self.found = []
        self.moved = []
        self._guards = 0
        self._functions = 0

    def visit_FunctionDef(self, node):
        self._functions += 1
        self.generic_visit(node)
        self._functions -= 1

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Try(self, node):
        guarded = any(_catches_import(handler) for handler in node.handlers)
        self._guards += guarded
        for child in node.body:
            self.visit(child)
        self._guards -= guarded
        # What is done instead is done on other hosts.
        self._guards += guarded
        for child in [*node.handlers, *node.orelse, *node.finalbody]:
            self.visit(child)
        self._guards -= guarded

    def visit_Import(self, node):
        for one in node.names:
            self._add(node, one.name, None)

    def visit_ImportFrom(self, node):
        if node.level:
            self._add(node, "." * node.level + (node.module or ""), None)
            return
        for one in node.names:
            self._add(node, node.module, one.name)

    def _add(self, node, module, name):
        #: What happens without it, if the file loads all the same.
        without = "a function fails without it" if self._functions else ""
        if self._guards:
            without = CAN_DO_WITHOUT
        self.found.append((node.lineno, module, name, without))

    def visit_Attribute(self, node):
        full = _dotted(node)
        if full is not None and full.startswith("salt.utils.") and full.count(".") == 2:
            self.moved.append((node.lineno, full.rpartition(".")[2]))
        self.generic_visit(node)


def _catches_import(handler):
    if handler.type is None:
        return True
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    names = {getattr(kind, "id", getattr(kind, "attr", "")) for kind in kinds}
    return bool(names & {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})


def _dotted(node):
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


def missing_part(module, name):
    """The part of Salt without a stand-in that an import needs; None if there is one.

    The stand-ins are imported for it, which run no code of the operator's.
    """
    if module == "salt" and name is None:
        return None
    try:
        found = importlib.import_module(module)
    except ImportError:
        return module
    if name is None or name == "*" or module.startswith(("salt.modules.", "salt.states.")):
        return None
    try:
        getattr(found, name)
    except AttributeError:
        try:
            importlib.import_module("%s.%s" % (module, name))
        except ImportError:
            return "%s.%s" % (module, name)
    return None


_real = None


def has_real_salt():
    """Whether this Python has the real Salt, besides the stand-ins."""
    global _real
    if _real is None:
        paths = [path for path in sys.path if os.path.dirname(os.path.abspath(path)) != _HELPER]
        _real = importlib.machinery.PathFinder.find_spec("salt", paths) is not None
    return _real


def needs_real_salt(text, path):
    """Whether a file imports a part of Salt that only the real one has, and cannot do without."""
    if _MENTIONS_SALT.search(text) is None:
        return False
    try:
        tree = ast.parse(text, path)
    except (SyntaxError, ValueError):
        return False
    imports = Imports()
    imports.visit(tree)
    return any(
        module.partition(".")[0] == "salt" and missing_part(module, name) is not None
        for _line, module, name, without in imports.found
        if without != CAN_DO_WITHOUT
    )
