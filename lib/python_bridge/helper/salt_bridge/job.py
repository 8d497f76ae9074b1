"""Runs the functions of one job in its own process."""

import copy
import inspect
import io
import logging
import os
import sys

from . import errors, loader
from .dunders import Functions, Progress, Utils, answered
from .link import Link, LinkClosed
from .values import UnsendableError, plain

#: Maximum length of a message in the log.
MAX_LOGGED = 1 << 14


class Missing(Exception):
    """No own plugin has the function."""

    def __init__(self, fun, reason):
        Exception.__init__(self, fun)
        self.fun = fun
        self.reason = reason


class Elsewhere(Exception):
    """The process with the real Salt has the function."""


class Job:
    """What the plugins of one job share."""

    def __init__(self, connection):
        self.link = Link(connection, self._serve)
        self._families = {}
        self._dunders = {}
        self._calls = []
        self.context = {}
        self._start = {}

    # What plugins and stand-ins use

    def ask(self, what, **fields):
        """The host's answer to a question of a plugin."""
        during = self._calls[-1] if self._calls else 0
        if what in ("call", "state") and "__grains__" in self._dunders:
            fields["grains"] = self._changed_grains()
        return answered(self.link.ask(what, during=during, **fields))

    def family(self, name):
        if name not in self._families:
            files = self._files(name)
            if self.is_real and name != "utils":
                wanted = self.ask("real_files", family=name)
                files = {one: path for one, path in files.items() if one in wanted}
            libraries = () if name == "utils" else {os.path.dirname(path) for path in self._files("utils").values()}
            self._families[name] = loader.Family(self, name, files, sorted(libraries))
        return self._families[name]

    def _files(self, family):
        return self._start.get("files", {}).get(family, {})

    def has(self, name):
        """Whether an execution function of this name exists, own or built in."""
        return name in self.dunder("__salt__")

    @property
    def role(self):
        """Whose plugins they are: `minion`, `master`, `runner`, or `engine`."""
        return self._start.get("role", "minion")

    @property
    def is_real(self):
        """Whether this process has loaded the real Salt in place of the stand-ins."""
        return self._start.get("is_real", False)

    @property
    def may_be_elsewhere(self):
        """Whether another process takes the files that need the real Salt."""
        return not self.is_real

    def opts(self):
        return self.dunder("__opts__")

    def dunder(self, name):
        if name not in self._dunders:
            self._dunders[name] = self._make(name)
        return self._dunders[name]

    def _make(self, name):
        if name == "__salt__":
            return Functions(self, "runners" if self.role == "runner" else "modules", "call")
        if name in ("__runners__", "__runner__"):
            return Functions(self, "runners", "runner")
        if name == "__jid_event__":
            return Progress(self)
        if name == "__states__":
            return Functions(self, "states", "state")
        if name == "__utils__":
            return Utils(self)
        if name == "__context__":
            return self.context
        if name == "__opts__":
            opts = self.ask("opts")
            # Grains that a plugin changes stay as they were in its options.
            opts["grains"] = copy.deepcopy(self.dunder("__grains__"))
            if self.role != "master":
                opts["pillar"] = self.dunder("__pillar__")
            opts.setdefault("test", False)
            return opts
        if name in ("__grains__", "__pillar__"):
            value = self.ask(name.strip("_"))
            if name == "__grains__":
                self._known_grains = plain(value)
            return value
        return {}

    def _changed_grains(self):
        """The grains, if a plugin has changed them since the host saw them; else None."""
        try:
            now = plain(self._dunders["__grains__"])
        except UnsendableError:
            return None
        if now == self._known_grains:
            return None
        self._known_grains = now
        return now

    def starts_loading(self, loaded):
        """Called before a plugin's file is run."""
        self.loading = loaded

    # Messages of the host

    def run(self):
        """Serves the host until it closes the connection."""
        try:
            while True:
                self.link.take(self.link.receive())
        except LinkClosed:
            pass

    def _serve(self, message):
        kind, number = message["kind"], message.get("id", 0)
        if kind == "start":
            self._begin(message)
            return
        self._calls.append(number)
        try:
            fields = getattr(self, "_do_" + kind)(message)
        except LinkClosed:
            raise
        except Missing as error:
            fields = {"missing": error.fun, "reason": error.reason}
        except Elsewhere:
            fields = {"elsewhere": True}
        except BaseException as error:  # sys.exit and KeyboardInterrupt of a plugin end its call only
            fields = {"error": errors.describe(error, getattr(error, "_bridge_usage", None))}
        finally:
            self._calls.pop()
        self._send_done(number, fields)

    def _send_done(self, number, fields):
        message = {"kind": "done", "id": number, "retcode": _code(self.context.get("retcode"))}
        message.update(fields)
        try:
            self.link.send(message)
        except ValueError as error:
            refused = {"error": errors.describe(UnsendableError("its answer cannot be sent: %s" % error))}
            self.link.send(dict(refused, kind="done", id=number, retcode=1))

    def _begin(self, message):
        self._start = message
        root = logging.getLogger()
        root.handlers[:] = [_LogHandler(self.link)]
        root.setLevel(message.get("log_level", logging.WARNING))
        import salt_bridge

        salt_bridge.JOB = self

    def _do_find(self, message):
        """Whether an own plugin has a function."""
        return {"value": _doc(self._function(message["family"], message["fun"]))}

    def _do_describe(self, message):
        """The descriptions of the functions of a family, and why files do not load."""
        files = self.family(message["family"]).all()
        return {
            "also_elsewhere": any(loaded.is_elsewhere for loaded in files),
            "value": {
                "functions": [one for loaded in files for one in loader.described(loaded)],
                "refusals": {loaded.name: loaded.reason for loaded in files if loaded.refused},
                "problems": {loaded.name: loaded.problem for loaded in files if loaded.problem},
                "docs": {name: _doc(loaded.module) for loaded in files for name in loaded.names},
            }
        }

    def _do_problems(self, message):
        """Why files do not load, with the place, by `FAMILY/NAME`."""
        families = [name for name in self._start.get("files", {}) if name != "tops"]
        loaded = [("%s/%s" % (name, one.name), one) for name in sorted(families) for one in self.family(name).all()]
        return {
            "also_elsewhere": any(one.is_elsewhere for _name, one in loaded),
            "value": {name: one.why() for name, one in loaded if one.refused},
        }

    def _do_real_files(self, message):
        """The names of the files that need the real Salt."""
        family = self.family(message["family"])
        return {"value": [name for name in family.files if family.needs_real(name)]}

    def _do_call(self, message):
        """Calls a function of a family with arguments of the host."""
        function = self._function(message["family"], message["fun"])
        args, kwargs = message["args"], message["kwargs"]
        if message["family"] in ("modules", "runners", "wheel", "returners"):
            kwargs = _fitting(function, kwargs)
        elif message["family"] in ("auth", "roster", "renderers"):
            kwargs = _taken(function, kwargs)
        if message["family"] == "renderers":
            args = [Text(one) if isinstance(one, str) and not index else one for index, one in enumerate(args)]
        elif message["family"] in ("sdb", "serializers", "matchers"):
            kwargs = {name: value for name, value in kwargs.items() if not str(name).startswith("__pub_")}
        if message["family"] == "executors":
            args = self._executed(*args)
        self._set_globals(function, message.get("globals") or {})
        if "test" in message and "__opts__" in self._dunders:
            self._dunders["__opts__"]["test"] = message["test"]
        if message["family"] == "pillar":
            return {"value": self._pillar(message["fun"], function, args, kwargs)}
        return {"value": self._returned(message["fun"], _call(function, args, kwargs))}

    def _pillar(self, fun, function, args, kwargs):
        """What a source of pillar returns, and the pillar that it was given, if it has changed it."""
        pillar = args[1]
        before = copy.deepcopy(pillar)
        returned = self._returned(fun, _call(function, args, kwargs))
        return [returned, None if pillar == before else self._returned(fun, pillar)]

    def _executed(self, fun, data, args, kwargs):
        """What an executor gets: the options, the job, and the function with its arguments."""
        function = self.dunder("__salt__")[fun]
        return [self.opts(), data, function, args, _fitting(function, kwargs) if inspect.isfunction(function) else kwargs]

    def _do_grains(self, message):
        """The grains of own files: a map for each function."""
        parts, problems, known = [], [], dict(message.get("grains") or {})
        for loaded in self.family("grains").all():
            if loaded.refused and loaded.problem:
                problems.append("Cannot load the grains of %s" % loaded.problem)
            for name, function in loaded.functions.items():
                try:
                    given = _call(function, [], _grains_arguments(function, known))
                    if isinstance(given, dict):
                        parts.append([name, plain(given)])
                        known.update(given)
                except (Exception, SystemExit) as error:
                    place = loader.place_of(error, loaded.path)
                    problems.append("The grains of %s in %s are missing: %s" % (name, place, error))
        elsewhere = any(loaded.is_elsewhere for loaded in self.family("grains").all())
        return {"also_elsewhere": elsewhere, "value": {"grains": parts, "problems": problems}}

    def _do_render(self, message):
        """Runs an SLS file in Python: its function `run`, or the states that it makes."""
        if message["renderer"] == "pyobjects":
            from . import pyobjects as renderer
        elif message["renderer"] == "pydsl":
            from . import pydsl as renderer
        elif message["renderer"] == "mako":
            from . import mako_text as renderer
        else:
            from . import sls as renderer

        return {"value": plain(renderer.run(self, message))}

    def _function(self, family, full):
        module, _, fun = full.partition(".")
        own = self.family(family)
        function = own.function(module, fun)
        if function is None and own.is_elsewhere(module):
            raise Elsewhere()
        if function is None:
            raise Missing(full, own.reason(module))
        return function

    def _set_globals(self, function, given):
        names = inspect.unwrap(function).__globals__
        for name, value in given.items():
            names[name] = value

    def _returned(self, fun, value):
        if inspect.iscoroutine(value):
            value.close()
            raise UnsendableError("%s returned a coroutine: it cannot be sent" % fun)
        if inspect.isgenerator(value):
            value = self._progress(value)
        try:
            return plain(value)
        except UnsendableError as error:
            raise UnsendableError("%s returned %s: %s" % (fun, _shown(value), error)) from None

    def _progress(self, values):
        """The values of a generator: a list, or one map if each is a map, or if there is none."""
        given = [plain(value) for value in values]
        if not all(isinstance(one, dict) for one in given):
            return given
        joined = {}
        for one in given:
            joined.update(one)
        return joined


class Text(str):
    """What a renderer gets: a text, which can be read as a file too. Salt gives the one or the other."""

    def __new__(cls, text):
        new = str.__new__(cls, text)
        new._file = io.StringIO(text)
        return new

    def __getattr__(self, name):
        return getattr(self._file, name)


def _call(function, args, kwargs):
    """Calls a plugin's function; a TypeError gets the function's documentation."""
    try:
        return function(*args, **kwargs)
    except TypeError as error:
        try:
            error._bridge_usage = _doc(function) or ""
        except AttributeError:
            pass
        raise


def _doc(function):
    doc = getattr(function, "__doc__", None)
    return doc if isinstance(doc, str) else None


def _fitting(function, kwargs):
    """The keyword arguments without the fields of a publication, unless the function takes any keyword.

    :raises SaltInvocationError: for others that it does not take.
    """
    import salt.exceptions

    parameters = inspect.signature(inspect.unwrap(function)).parameters.values()
    if any(one.kind == one.VAR_KEYWORD for one in parameters):
        return kwargs
    names = {one.name for one in parameters if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)}
    fitting = {name: value for name, value in kwargs.items() if name in names}
    others = ["%s=%s" % one for one in kwargs.items() if one[0] not in names and not str(one[0]).startswith("__pub_")]
    if others:
        raise salt.exceptions.SaltInvocationError(
            "The following keyword arguments are not valid: %s" % ", ".join(others)
        )
    return fitting


def _taken(function, kwargs):
    """The keyword arguments that the function takes."""
    parameters = inspect.signature(inspect.unwrap(function)).parameters
    if any(one.kind == one.VAR_KEYWORD for one in parameters.values()):
        return kwargs
    return {name: value for name, value in kwargs.items() if name in parameters}


def _grains_arguments(function, grains):
    names = inspect.signature(inspect.unwrap(function)).parameters
    given = {"grains": grains, "proxy": None}
    return {name: given[name] for name in given if name in names}


def _shown(value):
    text = repr(value)
    return text if len(text) <= 200 else text[:200] + "…"


def _code(retcode):
    return retcode if isinstance(retcode, int) and not isinstance(retcode, bool) else 0


#: Salt's further levels of its log.
LEVELS = {"trace": 5, "garbage": 1, "profile": 15, "quiet": 1000}


def _add_levels():
    def method(number):
        def write(self, message, *args, **kwargs):
            if self.isEnabledFor(number):
                self._log(number, message, args, **kwargs)

        return write

    for name, number in LEVELS.items():
        logging.addLevelName(number, name.upper())
        setattr(logging.Logger, name, method(number))
        setattr(logging, name.upper(), number)


_add_levels()


class _LogHandler(logging.Handler):
    """Sends records to the host's log."""

    def __init__(self, link):
        logging.Handler.__init__(self)
        self._link = link

    def emit(self, record):
        try:
            text = record.getMessage()
            if record.exc_info:
                text += "\n" + logging.Formatter().formatException(record.exc_info)
            text = text[:MAX_LOGGED].encode("utf-8", "replace").decode()
            self._link.send({"kind": "log", "level": record.levelno, "name": record.name, "text": text})
        except LinkClosed:
            raise
        except Exception:
            self.handleError(record)


def serve(connection):
    """Runs one job, whose host is at the other end of the connection."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True)
    sys.setrecursionlimit(max(sys.getrecursionlimit(), 3000))
    job = Job(connection)
    job.run()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


