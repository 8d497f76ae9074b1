"""Stand-ins for those parts of the package `salt` that plugins import.

Modules of functions that a minion has (`salt.modules.cmdmod`, `salt.states.file`) are made when they are imported:
their functions are calls of the minion's. What has no stand-in cannot be imported, with a reason.
"""

import importlib
import importlib.abc
import importlib.machinery
import sys
import types


class _Proxies(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Makes the modules of functions, and says what is not there."""

    def find_spec(self, name, path=None, target=None):
        if not name.startswith("salt.") or name.startswith("salt.loaded"):
            return None
        family, _, module = name[len("salt."):].partition(".")
        if family in ("modules", "states") and module and "." not in module:
            return importlib.machinery.ModuleSpec(name, self)
        text = "%s is not part of the bridge; install the salt package for %s" % (name, sys.executable)
        raise ModuleNotFoundError(text, name=name)

    def create_module(self, spec):
        return _FunctionModule(spec.name)

    def exec_module(self, module):
        pass


class _FunctionModule(types.ModuleType):
    """A module whose functions are those of the minion."""

    #: The names of built-in modules whose files are called otherwise.
    _VIRTUAL = {"cmdmod": "cmd", "sysmod": "sys", "aptpkg": "pkg", "yumpkg": "pkg", "linux_sysctl": "sysctl"}
    _PRIVATE = {"_run_quiet": "cmd.run_stdout", "_run_all_quiet": "cmd.run_all"}

    def __getattr__(self, name):
        private = self._PRIVATE.get(name)
        if name.startswith("_") and private is None:
            raise AttributeError(name)
        import salt_bridge

        _, family, module = self.__name__.split(".")
        module = self._VIRTUAL.get(module, module)
        functions = salt_bridge.JOB.dunder("__salt__" if family == "modules" else "__states__")
        try:
            function = functions[private or "%s.%s" % (module, name.rstrip("_"))]
        except KeyError:
            raise AttributeError("module %r has no attribute %r" % (self.__name__, name)) from None
        if private is None:
            return function

        def quietly(cmd, **kwargs):
            kwargs.pop("ignore_retcode", None)
            return function(cmd, output_loglevel="quiet", ignore_retcode=True, **kwargs)

        return quietly


sys.meta_path.append(_Proxies())


def __getattr__(name):
    if name.startswith("_"):
        raise AttributeError(name)
    try:
        return importlib.import_module("salt." + name)
    except ImportError as error:
        raise AttributeError("module 'salt' has no attribute %r: %s" % (name, error)) from None
