"""SLS files in Python that write states as calls (`#!pydsl`).

    state("/etc/motd").file.managed(source="salt://motd").require(pkg="base-files")

Source: the results of Salt 3006.28 `salt/renderers/pydsl.py` and `salt/utils/pydsl.py`.
"""

import pprint
import types
import uuid

from salt.exceptions import SaltRenderError

REQUISITES = frozenset(
    [name + end for name in ("listen", "require", "watch", "prereq", "use") for end in ("", "_in")]
    + ["onchanges", "onfail"]
)


class PyDslError(Exception):
    """A use of the language that makes no states."""

    __module__ = "salt.utils.pydsl"


class Run:
    """The files of one compilation of states."""

    def __init__(self):
        #: By the ids, which are unique in all files.
        self.declarations = {}
        #: The files that run now, the last one inside the others.
        self.stack = []
        #: The files that have run, by environment and name.
        self.finished = {}
        self.running = set()


class Options(dict):
    """Those of a file; a missing one is None."""

    __getattr__ = dict.get


class File:
    """An SLS file, and the states that it declares."""

    def __init__(self, job, run, sls, saltenv):
        self._job = job
        self._run = run
        self.name = sls
        self.saltenv = saltenv
        self.options = Options()
        self.included = []
        self.extended = []
        self.declared = []
        #: The functions of states in their order, of a file with the option `ordered`.
        self.ordered = []

    # The names of the file

    def set(self, **options):
        self.options.update(options)

    def include(self, *names, **kwargs):
        """Includes other files. Those of this language run now, unless they are delayed: their modules are returned."""
        saltenv = kwargs.get("saltenv", self.saltenv)
        self.included.extend({saltenv: name} for name in names)
        if kwargs.get("delayed", False) or not names:
            return None
        modules = [self._module(name, saltenv) for name in names]
        return modules[0] if len(modules) == 1 else modules

    def extend(self, *functions):
        if self.options.ordered or self.ordered:
            raise PyDslError("Cannot extend() after the ordered option was turned on!")
        for function in functions:
            declaration = self._run.declarations.pop(function.mod.id)
            self.extended.append(declaration)
            self.declared = [one for one in self.declared if one is not declaration]

    def state(self, id=None):
        # A dot is for the renderer stateconf, which makes such ids unique.
        id = id or ".%s" % uuid.uuid4()
        if id not in self._run.declarations:
            declaration = self._run.declarations[id] = Declaration(self._job, self._run, id)
            self.declared.append(declaration)
        return self._run.declarations[id]

    def load_highstate(self, high):
        """Declares the states of high data."""
        for id, body in high.items():
            for state, args in body.items():
                module, _, function = state.rpartition(".")
                if not module:
                    module, function = state, next(one for one in args if isinstance(one, str))
                named = {}
                for one in args:
                    if isinstance(one, dict):
                        named.update([next(iter(one.items()))])
                getattr(self.state(id), module)(function, **named)

    # Its data

    def high(self):
        # The state that keeps the file's module in Salt.
        id = "_slsmod_%s" % self.name
        self.state(id).stateconf.set()
        del self._run.declarations[id]
        high = {}
        if self.included:
            high["include"] = self.included
        if self.extended:
            high["extend"] = {one.id: one.high(extends=True) for one in self.extended}
        for declaration in self.declared:
            high[declaration.id] = declaration.high()
        return high

    def _module(self, name, saltenv):
        """The module of another file of this language; None for one in another language."""
        done = self._run.finished.get((saltenv, name))
        if done is not None:
            return done[0]
        if (saltenv, name) in self._run.running:
            return None
        path = name.replace(".", "/")
        for one in ("%s.sls" % path, "%s/init.sls" % path):
            cached = self._job.dunder("__salt__")["cp.cache_file"]("salt://%s" % one, saltenv=saltenv)
            if not cached:
                continue
            with open(cached, encoding="utf-8") as file:
                text = file.read()
            first = text.partition("\n")[0]
            if first.startswith("#!") and first[2:].partition("|")[0].strip() == "pydsl":
                return _execute(self._job, self._run, {"text": text, "path": cached, "sls": name, "saltenv": saltenv})[0]
            return None
        return None


class Declaration:
    """An id with its states: `state("id")`."""

    def __init__(self, job, run, id):
        self._job = job
        self._run = run
        self.id = id
        self.modules = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        for module in self.modules:
            if module.name == name:
                return module
        module = Module(self._run, name, self.id)
        self.modules.append(module)
        return module

    __getitem__ = __getattr__

    def __str__(self):
        return self.id

    def __iter__(self):
        return iter(self.modules)

    def high(self, extends=False):
        return {module.name: module.args(extends) for module in self.modules}

    def __call__(self, check=True):
        """Runs its states now, and takes them out of the file."""
        file = self._run.stack[-1]
        if self.id in self._run.declarations:
            last = file.ordered[-1] if file.ordered else None
            if last and self.modules[-1].function is not last:
                raise PyDslError(
                    "Cannot run state(%s: %s) that is required by a runtime state(%s: %s), at compile time."
                    % (self.modules[-1].name, self.id, last.mod, last.mod.id)
                )
            del self._run.declarations[self.id]
            file.declared.remove(self)
            self.modules[0].function.forget_order()
            own = [module.function for module in self.modules]
            file.ordered = [one for one in file.ordered if one not in own]
        results = self._job.dunder("__salt__")["state.high"]({self.id: self.high()})
        if not isinstance(results, dict):
            raise PyDslError("An error occurred while running highstate: %s" % "; ".join(results))
        results = sorted(results.items(), key=lambda one: one[1]["__run_num__"])
        failed = [one for one in results if not one[1]["result"]] if check else []
        if failed:
            raise PyDslError("Failed executing low state at compile time:\n%s" % pprint.pformat(dict(failed[:1])))
        return results


class Module:
    """A state module of an id: `state("id").pkg`."""

    def __init__(self, run, name, id):
        self._run = run
        self.name = name
        self.id = id
        self.function = None

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if self.function is None:
            self.function = Function(self._run, None if name in REQUISITES else name, self)
        elif name not in REQUISITES and name != self.function.name:
            if self.function.name:
                raise PyDslError(
                    "Multiple state functions(%s) not allowed in a state module(%s)!" % (name, self.name)
                )
            self.function.name = name
        return getattr(self.function, name) if name in REQUISITES else self.function

    def __call__(self, function, *args, **kwargs):
        return getattr(self, function)(*args, **kwargs)

    def __str__(self):
        return self.name

    def args(self, extends):
        return self.function.high(extends) if self.function else []


class Function:
    """A function of a state module, and its arguments."""

    def __init__(self, run, name, module):
        self.name = name
        self.mod = module
        self._args = []
        #: The requisite that the order of the file has added.
        self._order = None
        file = run.stack[-1]
        if file.options.ordered:
            if file.ordered:
                self.require(file.ordered[-1].mod)
                self._order = self._args[-1]
            file.ordered.append(self)

    def __getattr__(self, name):
        if name not in REQUISITES:
            raise AttributeError(name)

        def require(*modules, **references):
            for module in modules:
                if not isinstance(module, Module):
                    raise PyDslError("Invalid a requisite reference declaration! %s: None" % module)
                self._args.append({name: [{module.name: module.id}]})
            for module, id in references.items():
                if not id:
                    raise PyDslError("Invalid a requisite reference declaration! %s: %s" % (module, id))
                self._args.append({name: [{module: str(id)}]})
            return self

        return require

    def __call__(self, *args, **kwargs):
        if args and callable(args[0]) and self.mod.name == "cmd":
            raise PyDslError(
                "A function of the file cannot be called when states run: make %s an execution module, and name it "
                "in module.run" % args[0].__name__
            )
        if args:
            self._args.append({"name": args[0]})
            self._args.extend(args[1:])
        self._args.extend({name: value} for name, value in kwargs.items())
        return self

    def forget_order(self):
        if self._order is not None:
            self._args.remove(self._order)
            self._order = None

    def high(self, extends):
        if self.name:
            return [self.name] + self._args
        if extends:
            return self._args
        raise PyDslError("No state function specified for module: %s" % self.mod.name)


def _told(function):
    """A mistake in the language is one of the file."""

    def call(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except PyDslError as error:
            raise SaltRenderError(str(error)) from None

    return call


def _execute(job, run, message):
    """Runs a file once: its module, and its high data."""
    sls, saltenv = message["sls"], message["saltenv"]
    file = File(job, run, sls, saltenv)
    module = types.ModuleType(sls or "sls")
    module.__dict__.update(
        __pydsl__=file,
        include=_told(lambda *names, **kwargs: run.stack[-1].include(*names, **kwargs)),
        extend=_told(lambda *functions: run.stack[-1].extend(*functions)),
        state=_told(lambda *args, **kwargs: run.stack[-1].state(*args, **kwargs)),
        __salt__=job.dunder("__salt__"),
        __grains__=job.dunder("__grains__"),
        __opts__=job.dunder("__opts__"),
        __pillar__=job.dunder("__pillar__"),
        __env__=saltenv,
        __sls__=sls,
        __file__=message["path"],
        **message.get("names", {}),
    )
    run.stack.append(file)
    run.running.add((saltenv, sls))
    try:
        exec(compile(message["text"], message["path"] or sls, "exec"), module.__dict__)
        done = (module, file.high())
    finally:
        run.stack.pop()
    run.finished[(saltenv, sls)] = done
    return done


#: The compilations of this job, by the numbers that the host gives them.
_RUNS = {}


def run(job, message):
    """The high data of the states that the file declares."""
    one = _RUNS.setdefault(message["run"], Run())
    done = one.finished.get((message["saltenv"], message["sls"]))
    return (done or _execute(job, one, message))[1]
