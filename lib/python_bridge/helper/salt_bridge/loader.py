"""Loads an operator's plugins of one family by the rules of Salt's loader, one file at a time.

A file that does not load stays alone: its reason is kept, and is what a caller of its functions is told.
Source: the behaviour of Salt 3008.3 `salt/loader/lazy.py`.
"""

import functools
import importlib
import importlib.machinery
import importlib.util
import inspect
import logging
import os
import re
import signal
import sys
import threading
import traceback
import types

from . import imports
from .values import UnsendableError, plain

log = logging.getLogger("salt.loader")

#: Time in which a file must be loaded, in seconds.
LOAD_SECONDS = 60


class _PluginLoader(importlib.machinery.SourceFileLoader):
    """Python takes a compiled file for valid if the second and the size of its source are the same.

    A plugin that is synchronized twice within a second may keep both, so the time is told in microseconds.
    """

    def path_stats(self, path):
        status = os.stat(path)
        return {"mtime": status.st_mtime_ns // 1000, "size": status.st_size}


class TooSlow(BaseException):
    """A file did not load in time. It is no Exception: the file's own code must not catch it by mistake."""

    __module__ = "builtins"


class _InTime:
    """Ends what runs in the main thread too long."""

    def __init__(self):
        self._is_main = threading.current_thread() is threading.main_thread()

    def __enter__(self):
        if self._is_main:
            self._before = signal.signal(signal.SIGALRM, self._end)
            # Again every second: what it ends may catch everything.
            signal.setitimer(signal.ITIMER_REAL, LOAD_SECONDS, 1)

    @staticmethod
    def _end(number, frame):
        raise TooSlow("it did not load in %s seconds" % LOAD_SECONDS)

    def __exit__(self, *error):
        if self._is_main:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self._before)


#: What the names of a family's modules have after `salt.loaded.ext.`; of other families the family's own name.
TAGS = {"modules": "module", "renderers": "render", "returners": "returner", "tops": "top", "executors": "executor"}

#: The names that a module gets after its file has run, for each family; of other families those of `modules`.
DUNDERS = {
    "grains": ("__grains__", "__pillar__", "__opts__", "__context__", "__utils__"),
    "states": (
        "__salt__",
        "__grains__",
        "__pillar__",
        "__opts__",
        "__context__",
        "__utils__",
        "__proxy__",
        "__states__",
        "__low__",
        "__running__",
        "__lowstate__",
        "__instance_id__",
        "__env__",
    ),
    "runners": (
        "__salt__",
        "__grains__",
        "__pillar__",
        "__opts__",
        "__context__",
        "__utils__",
        "__jid_event__",
    ),
    "engines": (
        "__salt__",
        "__grains__",
        "__pillar__",
        "__opts__",
        "__context__",
        "__utils__",
        "__proxy__",
        "__runners__",
    ),
}
#: Those that are there even if a file does not mention them.
CHEAP_DUNDERS = ("__salt__", "__utils__", "__context__")
USUAL_DUNDERS = ("__salt__", "__grains__", "__pillar__", "__opts__", "__context__", "__utils__", "__proxy__")
DUNDERS["tops"] = ("__grains__", "__pillar__", "__opts__", "__context__")
DUNDERS["pillar"] = ("__salt__",) + DUNDERS["tops"] + ("__utils__",)
DUNDERS["auth"] = ("__salt__",) + DUNDERS["tops"]
DUNDERS["renderers"] = USUAL_DUNDERS + ("__states__",)
DUNDERS["roster"] = DUNDERS["tops"] + ("__utils__", "__runner__")


class Loaded:
    """A plugin's file after the attempt to load it."""

    def __init__(self, name, path):
        self.name = name
        self.path = path
        #: The names under which its functions are called.
        self.names = ()
        self.functions = {}
        self.module = None
        self.refused = False
        #: Whether the process with the real Salt has it.
        self.is_elsewhere = False
        #: Why it does not load, as its callers are told; empty: no reason was given.
        self.reason = ""
        #: The place in the file, and whether it is broken (and not only refuses this host).
        self.problem = None

    def why(self):
        """Why it does not load, with the place."""
        if self.problem is not None:
            return self.problem
        return "%s: __virtual__ returned False%s" % (self.path, ": %s" % self.reason if self.reason else "")


class Family:
    """The plugins of one family.

    :param files: their paths by name, in the order of their names.
    :param library_directories: directories from which a file may import others, besides its own.
    """

    def __init__(self, job, name, files, library_directories=()):
        self.name = name
        self.tag = TAGS.get(name, name)
        self.files = dict(sorted(files.items()))
        self.loaded = {}
        self._job = job
        self._texts = {}
        self._library_directories = library_directories
        self._directories = list(dict.fromkeys(os.path.dirname(path) for path in files.values()))

    def function(self, module, fun):
        """The function `module.fun`, if an own file has it.

        A file of that name comes first, then others that may take the name, in the order of their names.
        """
        for name in self._candidates(module):
            loaded = self.load(name)
            if module in loaded.names and fun in loaded.functions:
                return loaded.functions[fun]
        return None

    def is_elsewhere(self, module):
        """Whether the process with the real Salt may have functions of a module."""
        return any(self.load(name).is_elsewhere for name in self._candidates(module))

    def needs_real(self, name):
        """Whether the process with the real Salt has a file; that process has no others."""
        if not self._job.may_be_elsewhere or not imports.has_real_salt():
            return False
        return imports.needs_real_salt(self._text(name), self.files[name])

    def reason(self, module):
        """Why an own file of this name does not load; None if there is none, or it does."""
        loaded = self.load(module) if module in self.files else None
        return loaded.reason if loaded is not None and loaded.refused else None

    def all(self):
        """All files, loaded in the order of their names."""
        return [self.load(name) for name in self.files]

    def names(self):
        """The full names of all functions, sorted."""
        return sorted({"%s.%s" % (name, fun) for one in self.all() for name in one.names for fun in one.functions})

    def _candidates(self, module):
        first = [module] if module in self.files else []
        others = [name for name in self.files if name != module and self._may_be(name, module)]
        return first + others

    def _may_be(self, name, module):
        text = self._text(name)
        return b"__virtual" in text and (module.encode() in text or _computes_its_name(text))

    def _text(self, name):
        if name not in self._texts:
            try:
                with open(self.files[name], "rb") as file:
                    self._texts[name] = file.read()
            except OSError:
                self._texts[name] = b""
        return self._texts[name]

    def load(self, name):
        """The file of this name, loaded once."""
        if name not in self.loaded:
            loaded = self.loaded[name] = Loaded(name, self.files[name])
            try:
                self._load(loaded)
            finally:
                # The text was needed for its dunders and its names only.
                self._texts.pop(name, None)
        return self.loaded[name]

    def _load(self, loaded):
        full = "salt.loaded.ext.%s.%s" % (self.tag, loaded.name)
        text = self._text(loaded.name)
        if self.needs_real(loaded.name):
            loaded.is_elsewhere = True
            return
        try:
            with _InTime():
                module = self._execute(loaded, full)
        except (Exception, SystemExit, TooSlow) as error:
            level = logging.DEBUG if isinstance(error, ImportError) else logging.ERROR
            self._refuse(loaded, str(error), error)
            log.log(level, "Failed to import %s %s: %s", self.name, loaded.name, loaded.problem)
            return
        self._give_dunders(module, text)
        loaded.module = module
        if hasattr(module, "__init__") and inspect.isfunction(module.__init__):
            try:
                module.__init__(self._job.opts())
            except (Exception, SystemExit) as error:
                self._refuse(loaded, "__init__ failed", error)
                return
        names = self._virtual(loaded, module, full)
        if names is None:
            return
        aliases = getattr(module, "__virtual_aliases__", ())
        loaded.names = tuple(dict.fromkeys(list(names) + ([aliases] if isinstance(aliases, str) else list(aliases))))
        loaded.functions = self._functions(module)

    def _refuse(self, loaded, reason, error=None):
        loaded.refused = True
        loaded.reason = reason
        if error is not None:
            loaded.problem = "%s: %s" % (place_of(error, loaded.path), _kind_and_text(error))

    def _execute(self, loaded, full):
        path = loaded.path
        directory = os.path.dirname(path)
        is_package = os.path.basename(path) == "__init__.py"
        for library in [*self._library_directories, os.path.dirname(directory) if is_package else directory]:
            # At the end, as Salt does: a plugin `platform.py` must not hide the standard library's.
            if library not in sys.path:
                sys.path.append(library)
        # Neighbours can be imported as parts of one package: `from .common import name`.
        _parents(full).__path__ = self._directories
        loader = _PluginLoader(full, path)
        locations = [directory] if is_package else None
        spec = importlib.util.spec_from_file_location(full, path, loader=loader, submodule_search_locations=locations)
        module = importlib.util.module_from_spec(spec)
        sys.modules[full] = module
        self._job.starts_loading(loaded)
        loader.exec_module(module)
        return module

    def _give_dunders(self, module, text):
        for name in DUNDERS.get(self.name, USUAL_DUNDERS):
            # Maps that a file does not mention are not fetched.
            if name in CHEAP_DUNDERS or name.encode() in text:
                value = self._job.dunder(name)
                own = module.__dict__.get(name)
                if name == "__opts__" and self.name == "pillar":
                    # As in Salt, what a source writes there the next one does not see.
                    value = dict(value)
                if name == "__opts__" and isinstance(own, dict):
                    value = dict(value, **own)
                setattr(module, name, value)

    def _virtual(self, loaded, module, full):
        """The names of the module; None if it does not serve this host."""
        virtual = getattr(module, "__virtual__", None)
        if not inspect.isfunction(virtual):
            return (loaded.name,)
        try:
            answer = virtual()
        except (Exception, SystemExit) as error:
            text = "Exception raised when processing __virtual__ function for %s. Module will not be loaded: %s"
            self._refuse(loaded, text % (full, error), error)
            log.error("%s (%s)", loaded.reason, loaded.problem)
            return None
        reason = ""
        if isinstance(answer, tuple):
            reason = str(answer[1]) if len(answer) > 1 else ""
            answer = answer[0] if answer else None
        if not answer:
            self._refuse(loaded, reason)
            return None
        if answer is True:
            return (str(getattr(module, "__virtualname__", loaded.name)),)
        return (answer,) if isinstance(answer, str) else ()

    def _functions(self, module):
        wanted = getattr(module, "__load__", getattr(module, "__all__", None))
        aliases = getattr(module, "__func_alias__", {})
        functions = {}
        for name in dir(module) if wanted is None else wanted:
            value = getattr(module, name, None)
            if name.startswith("_") or not inspect.isfunction(value):
                continue
            if str(value.__module__).startswith("salt.loaded"):
                functions[aliases.get(name, name)] = value
        decorators = sys.modules.get("salt.utils.decorators")
        if decorators is not None:
            _enforce(decorators.Depends, functions, module.__name__, self._job.has)
        return functions


def _enforce(depends, functions, full, has):
    """Applies the declarations of `@depends`, of the stand-in or of the real Salt."""
    if hasattr(depends, "enforce"):
        depends.enforce(functions, full, has)
        return
    _, kind, module = full.rsplit(".", 2)
    named = {"%s.%s" % (module, name): function for name, function in functions.items()}
    depends.enforce_dependencies(named, kind, module)
    functions.clear()
    functions.update((name.partition(".")[2], function) for name, function in named.items())


def _computes_its_name(text):
    """Whether `__virtual__` may return a name that is not a text of the file."""
    return re.search(rb"__virtualname__\s*=\s*[^'\"\s]", text) is not None


def _parents(full):
    """The package that a module's name has before its last dot; with those above it."""
    parts = full.split(".")
    module = importlib.import_module(parts[0])
    for length in range(2, len(parts)):
        name, above = ".".join(parts[:length]), module
        module = sys.modules.get(name)
        if module is None:
            module = sys.modules[name] = types.ModuleType(name)
            setattr(above, parts[length - 1], module)
    return module


def _kind_and_text(error):
    return "".join(traceback.format_exception_only(type(error), error)).strip().splitlines()[-1]


def place_of(error, path):
    """`FILE:LINE` of an error: the last line of this file that led to it."""
    if isinstance(error, SyntaxError) and error.filename == path:
        return "%s:%s" % (path, error.lineno)
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    return "%s:%s" % (path, lines[-1]) if lines else path


def signature(fun):
    """A function's parameters as `sys.argspec` gives them, and its docstring."""
    fun = inspect.unwrap(fun)
    args, defaults, varargs, kwargs = [], [], False, False
    for one in inspect.signature(fun).parameters.values():
        if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY):
            args.append(one.name)
            if one.default is not one.empty:
                defaults.append(_sendable(one.default))
        elif one.kind == one.VAR_POSITIONAL:
            varargs = True
        elif one.kind == one.VAR_KEYWORD:
            kwargs = True
    return {"args": args, "defaults": defaults, "varargs": varargs, "kwargs": kwargs}


def described(loaded):
    """The descriptions of a file's functions under each of its names."""
    for name in loaded.names:
        for fun, function in loaded.functions.items():
            try:
                form = signature(function)
            except (TypeError, ValueError):
                form = {"args": [], "defaults": [], "varargs": True, "kwargs": True}
            yield dict(form, name="%s.%s" % (name, fun), doc=_doc(function), file=loaded.name)


def _doc(fun):
    doc = getattr(fun, "__doc__", None)
    return doc if isinstance(doc, str) else None


def _sendable(value):
    try:
        return plain(value)
    except UnsendableError:
        return repr(value)
