"""Decorators of plugins' functions."""

import functools
import logging
import subprocess
import sys

import salt.exceptions

log = logging.getLogger(__name__)


class Depends:
    """Removes a function, or replaces it, where something that it needs is not there."""

    _noted = []

    def __init__(self, *dependencies, **kwargs):
        self._dependencies = dependencies
        self._options = kwargs

    def __call__(self, function):
        frame = sys._getframe(1)
        for dependency in self._dependencies:
            Depends._noted.append((frame.f_globals, function.__name__, dependency, self._options))
        return function

    @classmethod
    def enforce(cls, functions, module, has):
        """Applies the declarations of a module.

        :param has: whether there is a function of a name, for dependencies that are one.
        """
        for names, name, dependency, options in cls._noted:
            if names.get("__name__") != module or cls._is_met(names, dependency, options, has):
                continue
            alias = names.get("__func_alias__", {}).get(name, name)
            fallback = options.get("fallback_function")
            if fallback is not None:
                functions[alias] = fallback
            else:
                functions.pop(alias, None)

    @staticmethod
    def _is_met(names, dependency, options, has):
        if "retcode" in options or "nonzero_retcode" in options:
            code = _retcode(dependency)
            if "retcode" in options:
                return code == options["retcode"]
            return (code != 0) == bool(options["nonzero_retcode"])
        if dependency is True:
            return True
        found = names.get(dependency) if isinstance(dependency, str) else None
        if not found:
            return False
        if "version" in options:
            import salt.utils.versions

            return salt.utils.versions.version_cmp(getattr(found, "__version__", ""), options["version"]) in (0, 1)
        return True


depends = Depends


def _retcode(command):
    import shlex

    try:
        return subprocess.run(shlex.split(command), stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT, check=False).returncode
    except OSError:
        return -1


def timing(function):
    @functools.wraps(function)
    def timed(*args, **kwargs):
        import time

        start = time.time()
        try:
            return function(*args, **kwargs)
        finally:
            log.debug("Function %s took %.5f seconds", function.__name__, time.time() - start)

    return timed


def memoize(func):
    """Keeps what a function returned for the same arguments, while the process lives."""
    known = {}

    @functools.wraps(func)
    def kept(*args, **kwargs):
        key = (tuple(str(arg) for arg in args), tuple(sorted((name, str(value)) for name, value in kwargs.items())))
        if key not in known:
            known[key] = func(*args, **kwargs)
        return known[key]

    return kept


class _Deprecated:
    """Marks a function as one that will go."""

    def __init__(self, globals=None, version=None, with_successor=None, policy=None, **kwargs):
        self._successor = with_successor

    def __call__(self, function):
        @functools.wraps(function)
        def warned(*args, **kwargs):
            log.warning('The function "%s" is deprecated.', function.__name__)
            return function(*args, **kwargs)

        return warned


is_deprecated = with_deprecated = _Deprecated


def _names_given(names, kwargs):
    return [name for name in names if kwargs.get(name) is not None]


def require_one_of(*kwarg_names):
    def decorate(function):
        @functools.wraps(function)
        def checked(*args, **kwargs):
            given = _names_given(kwarg_names, kwargs)
            if len(given) != 1:
                raise salt.exceptions.SaltInvocationError("Exactly one of the following is required: %s" % ", ".join(kwarg_names))
            return function(*args, **kwargs)

        return checked

    return decorate


def allow_one_of(*kwarg_names):
    def decorate(function):
        @functools.wraps(function)
        def checked(*args, **kwargs):
            if len(_names_given(kwarg_names, kwargs)) > 1:
                raise salt.exceptions.SaltInvocationError("Only one of the following is allowed: %s" % ", ".join(kwarg_names))
            return function(*args, **kwargs)

        return checked

    return decorate


def ignores_kwargs(*kwarg_names):
    def decorate(function):
        @functools.wraps(function)
        def without(*args, **kwargs):
            return function(*args, **{name: value for name, value in kwargs.items() if name not in kwarg_names})

        return without

    return decorate


def ensure_unicode_args(function):
    return function
