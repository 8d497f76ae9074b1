"""SLS files in Python that make states as objects (`#!pyobjects`).

    with Pkg.installed("nginx"):
        Service.running("nginx", enable=True)

Source: the results of Salt 3008.3 `salt/renderers/pyobjects.py` and `salt/utils/pyobjects.py`.
"""

import inspect
import os
import re

from .dunders import _Module

REQUISITES = tuple(
    name + end for end in ("", "_in") for name in ("listen", "onchanges", "onfail", "require", "watch", "use")
)
_IMPORT = re.compile(r"^\s*import\s+(salt://.*)$")
_FROM_IMPORT = re.compile(r"^\s*from\s+(salt://.*)\s+import (.*)$")


class DuplicateState(Exception):
    """Two states of one function and id."""

    __module__ = "salt.utils.pyobjects"


class InvalidFunction(Exception):
    """A function that no state module has."""

    __module__ = "salt.utils.pyobjects"


class Registry:
    """The states that a file has made, in their order."""

    def __init__(self):
        self.states = {}
        self.extended = {}
        self.included = []
        self.requisites = []
        #: While files are imported, the states that they make are left out.
        self.importing = 0

    def add(self, state, extends):
        if self.importing:
            return
        place = self.extended if extends else self.states
        functions = place.setdefault(state.id_, {})
        if state.full_func in functions:
            raise DuplicateState("A state with id ''%s'', type ''%s'' exists" % (state.id_, state.full_func))
        for requisite in self.requisites:
            state.kwargs.setdefault(requisite.requisite, []).append(requisite())
        functions[state.full_func] = state.attrs()

    def include(self, *names):
        if not self.importing:
            self.included.extend(names)

    def data(self):
        data = dict(self.states)
        if self.included:
            data["include"] = self.included
        if self.extended:
            data["extend"] = self.extended
        return data


class Extended:
    """The id of a state of another file."""

    def __init__(self, name):
        self.name = name


class Requisite:
    """`Service("nginx", "watch_in")`: a requisite of the states in its block, or in a list of requisites."""

    def __init__(self, registry, requisite, module, id_):
        self._registry = registry
        self.requisite = requisite
        self._module = module
        self._id = id_

    def __call__(self):
        return {self._module: self._id}

    def __enter__(self):
        if not self._registry.importing:
            self._registry.requisites.append(self)

    def __exit__(self, kind, value, trace):
        if not self._registry.importing:
            del self._registry.requisites[-1]


class State:
    """One state, which is also a requisite of the states in its block."""

    def __init__(self, registry, id_, full_func, kwargs):
        extends = isinstance(id_, Extended)
        self.id_ = id_.name if extends else id_
        self.full_func = full_func
        for name in REQUISITES:
            if name in kwargs and not hasattr(kwargs[name], "__iter__"):
                kwargs[name] = [kwargs[name]]
        self.kwargs = kwargs
        registry.add(self, extends)
        self.requisite = Requisite(registry, "require", full_func.partition(".")[0], self.id_)

    def attrs(self):
        """Its arguments, a map each, sorted."""
        for name in REQUISITES:
            if name in self.kwargs:
                self.kwargs[name] = [one() if isinstance(one, Requisite) else one for one in self.kwargs[name]]
        return [{name: self.kwargs[name]} for name in sorted(self.kwargs)]

    def __enter__(self):
        self.requisite.__enter__()

    def __exit__(self, kind, value, trace):
        self.requisite.__exit__(kind, value, trace)


class Factory:
    """A state module: its functions make states, and it is called for a requisite."""

    def __init__(self, registry, module, functions):
        self._registry = registry
        self._module = module
        self._functions = functions

    def __getattr__(self, fun):
        if fun not in self._functions:
            raise InvalidFunction("The function '%s' does not exist in the StateFactory for '%s'" % (fun, self._module))
        full = "%s.%s" % (self._module, fun)
        return lambda id_, **kwargs: State(self._registry, id_, full, kwargs)

    def __call__(self, id_, requisite="require"):
        return Requisite(self._registry, requisite, self._module, id_)


class _SaltObject:
    """`salt.cmd.run`."""

    def __init__(self, functions):
        self._functions = functions

    def __getattr__(self, module):
        return _Module(self._functions, module)


class _MapKind(type):
    """Sets the values of the classes inside that match the minion's grains, and those of `merge`, from pillar."""

    salt = None

    def __init__(cls, name, bases, names):
        matches = [one for key, one in names.items() if not key.startswith("_") and inspect.isclass(one)]
        priority = getattr(cls, "priority", ())
        rank = {grain: at for at, grain in enumerate(priority)} if hasattr(priority, "__iter__") else {}
        grain_of = lambda one: getattr(one, "__grain__", "os_family")
        matches.sort(key=lambda one: rank.get(grain_of(one), len(rank)))
        found = {}
        if matches:
            grains = _MapKind.salt["grains.item"](*sorted({grain_of(one) for one in matches}))
            for one in matches:
                wanted = getattr(one, "__match__", one.__name__)
                if grain_of(one) in grains and grains[grain_of(one)] == wanted:
                    found.update((key, value) for key, value in vars(one).items() if not key.startswith("_"))
        if hasattr(cls, "merge"):
            found.update(_MapKind.salt["pillar.get"](cls.merge, unmask=True) or {})
        for key, value in found.items():
            setattr(cls, key, value)
        super().__init__(name, bases, names)


class _Imported:
    """What `import salt://x.sls` gives."""

    def __init__(self, name, names):
        self.__dict__.update(names)
        self.__name__ = name


def _camel(module):
    return "".join(part.capitalize() for part in module.split("_"))


def _scope(job, registry, message):
    """The names that a file finds."""
    functions = {}
    for full in job.ask("names", family="states"):
        module, _, fun = full.partition(".")
        functions.setdefault(module, set()).add(fun)
    salt = job.dunder("__salt__")
    _MapKind.salt = salt
    scope = {_camel(module): Factory(registry, module, names) for module, names in functions.items()}
    scope.update(
        include=registry.include,
        extend=Extended,
        Map=_MapKind("Map", (), {}),
        salt=_SaltObject(salt),
        pillar=salt["pillar.get"],
        grains=salt["grains.get"],
        mine=salt["mine.get"],
        config=salt["config.get"],
        __salt__=salt,
        __grains__=job.dunder("__grains__"),
        __opts__=job.dunder("__opts__"),
        __pillar__=job.dunder("__pillar__"),
        __sls__=message["sls"],
        __env__=message["saltenv"],
    )
    return scope


class _Files:
    """Imports of `salt://` files."""

    def __init__(self, job, scope, saltenv):
        self._job = job
        self._scope = scope
        self._saltenv = saltenv

    def resolve(self, text):
        """The text without its imports from `salt://`, and the names for it.

        An import leaves an empty line, so that a traceback has the file's own lines.
        """
        names, lines = dict(self._scope), []
        for line in text.splitlines():
            found = _FROM_IMPORT.match(line) or _IMPORT.match(line)
            if found is None:
                lines.append(line)
                continue
            lines.append("")
            url = found.group(1).strip()
            path, inside = self._load(url)
            if found.re is _IMPORT:
                name = os.path.splitext(os.path.basename(path))[0]
                names[name] = _Imported(name, inside)
                continue
            for part in found.group(2).split(","):
                name, _, alias = (one.strip() for one in part.partition(" as "))
                if name not in inside:
                    raise ImportError("'%s' was not found in '%s'" % (name, url))
                names[alias or name] = inside[name]
        return "\n".join(lines) + "\n", names

    def _load(self, url):
        path = self._job.dunder("__salt__")["cp.cache_file"](url, saltenv=self._saltenv)
        if not path:
            raise ImportError("Could not find the file '%s'" % url)
        with open(path, encoding="utf-8") as file:
            text, names = self.resolve(file.read())
        exec(compile(text, path, "exec"), names)
        return path, names


def run(job, message):
    """The high data of the states that the file makes."""
    registry = Registry()
    files = _Files(job, _scope(job, registry, message), message["saltenv"])
    registry.importing += 1
    try:
        text, names = files.resolve(message["text"])
    finally:
        registry.importing -= 1
    exec(compile(text, message["path"] or message["sls"], "exec"), names)
    return registry.data()
