"""The names that plugins find in their modules: `__salt__`, `__utils__`, `__states__`, `__context__`."""

import collections.abc
import importlib

from . import errors
from .values import plain


class RemoteFunction:
    """A function that runs on the other side of the link."""

    def __init__(self, job, name, what):
        self._job = job
        self._what = what
        self.__name__ = name.rpartition(".")[2]
        self.__qualname__ = self.__name__
        self.__module__ = "salt.loaded.int.module.%s" % name.partition(".")[0]
        self._name = name

    @property
    def __doc__(self):
        return self._job.ask("doc", fun=self._name)

    def __call__(self, *args, **kwargs):
        return self._job.ask(self._what, fun=self._name, args=plain(args), kwargs=plain(kwargs))

    def __repr__(self):
        return "<function %s>" % self._name


class Functions(collections.abc.Mapping):
    """Functions by their full names: own ones of this process, and those of the host.

    :param what: the question by which the host calls one.
    """

    def __init__(self, job, family, what):
        self._job = job
        self._family = family
        self._what = what
        self._found = {}

    def __getitem__(self, name):
        if name not in self._found:
            self._found[name] = self._find(name)
        return self._found[name]

    def _find(self, name):
        module, dot, fun = str(name).partition(".")
        if dot:
            own = self._job.family(self._family).function(module, fun)
            if own is not None:
                return own
            if self._job.ask("has", family=self._family, fun=str(name)):
                return RemoteFunction(self._job, str(name), self._what)
        raise KeyError(name)

    def __contains__(self, name):
        try:
            self[name]
        except KeyError:
            return False
        return True

    def _names(self):
        return sorted({*self._job.ask("names", family=self._family), *self._job.family(self._family).names()})

    def __iter__(self):
        return iter(self._names())

    def __len__(self):
        return len(self._names())

    def __getattr__(self, module):
        if module.startswith("__"):
            raise AttributeError(module)
        return _Module(self, module)

    def __repr__(self):
        return "<functions of %s>" % self._family


class _Module:
    """`__salt__.cmd`, of which `run` is `__salt__["cmd.run"]`."""

    def __init__(self, functions, name):
        self._functions = functions
        self._name = name

    def __getattr__(self, fun):
        try:
            return self._functions["%s.%s" % (self._name, fun)]
        except KeyError:
            begin = self._name + "."
            if any(name.startswith(begin) for name in self._functions):
                fun = "No attribute by the name of %s was found on %s" % (fun, self._name)
            else:
                fun = self._name
            raise AttributeError(fun) from None


class Progress:
    """`__jid_event__` of a runner: its events of progress."""

    def __init__(self, job):
        self._job = job

    def fire_event(self, data, tag="progress", timeout=None):
        return self._job.ask("progress", data=plain(data), tag=str(tag))


class Utils(collections.abc.Mapping):
    """The functions of own utils and of `salt.utils`."""

    def __init__(self, job):
        self._job = job

    def __getitem__(self, name):
        module, dot, fun = str(name).partition(".")
        if dot:
            own = self._job.family("utils").function(module, fun)
            if own is not None:
                return own
            try:
                found = getattr(importlib.import_module("salt.utils.%s" % module), fun, None)
            except ImportError:
                found = None
            if callable(found):
                return found
        raise KeyError(name)

    def __iter__(self):
        return iter(self._job.family("utils").names())

    def __len__(self):
        return len(self._job.family("utils").names())

    def __getattr__(self, module):
        if module.startswith("__"):
            raise AttributeError(module)
        return _Module(self, module)


def answered(message):
    """The value of the host's answer.

    :raises Exception: what it refused with.
    """
    if message["kind"] == "refused":
        raise errors.revive(message)
    return message.get("value")
