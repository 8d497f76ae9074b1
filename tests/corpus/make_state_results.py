#!/usr/bin/env python3
"""Records the results and effects of Salt's state functions. Run it with the Python of an environment that has the Salt that the file names, as root:
`python make_state_results.py state_results/host.json …`. It reads the cases of each file, and rewrites the file with their outcomes.

A file is a map: `salt` (the version), `grains`, `opts`, `pillar`, `reload` (whether each case gets modules of its own, since it
changes grains), `real`, and `cases`. A case has `fun` and `kwargs`, and may have:
- `tree`: the files of its directory, as in file_calls.json; {ROOT} stands for the directory, in options as well,
  {TMP} in results for a temporary file, {CACHE} for the minion's cache, {PID} for a process, {CWD} for the directory that the run is started in;
- `answers`: by the name of an execution function, its answer; the function is not called: a value; a list of `{"then": [...]}` for one call
  after the other; every function that such a case calls must have one, but those that the file lists as `real`; `{"raise": class, "message": text}`. Calls of them are recorded with all arguments that are not the default;
- `interfaces`: the result of `salt.utils.network.interfaces`, instead of this host's;
- `absent`: execution functions that the minion does not have; `drop`: keys of results that differ from run to run; `low`: more of the chunk;
- `unordered`: the lines of the comment have no order in Salt;
- `ours`: by run, fields with other results of ours, as `docs/differences.md` documents; by `after` or `tested`, the tree that ours leaves (null: as it was).

Each case is run in test mode (`test`), really (`run`), and, unless functions answer for it, once more (`again`). A run
is the result, or `error` with its text, which is empty for errors that are not Salt's own. `calls` beside it if
functions answer. `after` is the tree after the real run if it changed, and `tested` the one after test mode if it
changed."""
import builtins
import inspect
import json
import logging
import os
import re
import shutil
import sys
import tempfile

from directory_tree import build, dropped, snapshot
import salt.config
import salt.exceptions
import salt.loader
import salt.output
import salt.utils.network
import salt.version

logging.disable(logging.CRITICAL)
os.umask(0o022)
R = "{ROOT}"
OWN = (salt.exceptions.CommandExecutionError, salt.exceptions.SaltInvocationError)


# Names and numbers that differ from run to run.
TEMPORARY = re.compile(r"[^\s'\"]*__salt\.tmp\.\w+"), re.compile(r"(?<=pid:\n)( *)\d+")


def place(value, old, new):
    if isinstance(value, str):
        return TEMPORARY[1].sub(r"\1{PID}", TEMPORARY[0].sub("{TMP}", value.replace(f"{old}.minion/cache", "{CACHE}").replace(old, new).replace(os.getcwd(), "{CWD}")))
    if isinstance(value, (list, tuple)):
        return [place(item, old, new) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted(place(item, old, new) for item in value)
    if hasattr(value, "items"):
        if all(isinstance(key, str) for key in value):
            return {place(key, old, new): place(item, old, new) for key, item in value.items()}
        return {"__pairs__": [[key, place(item, old, new)] for key, item in value.items()]}
    return value


class Functions(dict):
    """The execution modules, of which some functions return the answers of a case. States use it as `__salt__`."""

    def __init__(self, real):
        super().__init__()
        self.real, self.answers, self.absent, self.calls, self.counts, self.root = real, {}, [], [], {}, ""
        self.allowed = []

    def begin(self, case, root, allowed):
        self.allowed = allowed
        self.answers = place(case.get("answers", {}), R, root)
        self.absent, self.calls, self.counts, self.root = case.get("absent", []), [], {}, root

    def __contains__(self, name):
        return name in self.answers or name not in self.absent and name in self.real

    def get(self, name, default=None):
        return self[name] if name in self else default

    def __getitem__(self, name):
        if name not in self.answers:
            if name in self.absent:
                raise KeyError(name)
            # A case with answers must not change the host: functions without an answer are not called.
            if self.answers and name not in self.allowed:
                sys.exit(f"{name} has no answer")
            return self.real[name]
        return lambda *args, **kwargs: self.answer(name, args, kwargs)

    def answer(self, name, args, kwargs):
        self.calls.append({"fun": name, **self.arguments(name, args, kwargs)})
        answer = self.answers[name]
        if isinstance(answer, dict) and "then" in answer:
            at = self.counts.get(name, 0)
            self.counts[name] = at + 1
            answer = answer["then"][min(at, len(answer["then"]) - 1)]
        if isinstance(answer, dict) and "raise" in answer:
            raise (getattr(salt.exceptions, answer["raise"], None) or getattr(builtins, answer["raise"]))(answer["message"])
        return json.loads(json.dumps(answer))

    def arguments(self, name, args, kwargs):
        if name not in self.real:
            raise RuntimeError(f"{name} is not there, so its arguments have no names")
        signature = inspect.signature(self.real[name])
        bound = signature.bind(*args, **kwargs)
        named, more = {}, []
        for key, value in bound.arguments.items():
            kind = signature.parameters[key].kind
            if kind is inspect.Parameter.VAR_POSITIONAL:
                more = list(value)
            elif kind is inspect.Parameter.VAR_KEYWORD:
                named.update({one: item for one, item in value.items() if not one.startswith("__")})
            elif value == [] and signature.parameters[key].default == ():
                continue
            elif value != signature.parameters[key].default or type(value) is not type(signature.parameters[key].default):
                named[key] = value
        return {"kwargs": dict(sorted(place(named, self.root, R).items())), **({"args": place(more, self.root, R)} if more else {})}


class Loaded:
    """The state modules in one mode."""

    def __init__(self, table, root, test):
        opts = salt.config.minion_config(None)
        opts.update({"root_dir": f"{root}.minion", "cachedir": f"{root}.minion/cache", "extension_modules": f"{root}.minion/ext", "id": "web1"})
        opts.update({"file_client": "local", "test": test, "file_roots": {"base": [f"{root}/srv"]}, "pillar_roots": {"base": []}})
        opts["grains"] = {"id": "web1", "kernel": "Linux", "os_family": "Debian", "os": "Debian", **table.get("grains", {})}
        opts["pillar"] = table.get("pillar", {})
        opts.update(place(table.get("opts", {}), R, root))
        self.allowed = table.get("real", [])
        self.context = {}
        utils = salt.loader.utils(opts, context=self.context)
        real = salt.loader.minion_mods(opts, context=self.context, utils=utils)
        self.functions = Functions(real)
        self.real = real
        serializers = salt.loader.serializers(opts)
        self.states = salt.loader.states(opts, self.functions, utils, serializers, context=self.context)

    def run(self, case, root):
        state, fun = case["fun"].split(".")
        kwargs = place(case["kwargs"], R, root)
        low = {"state": state, "__id__": kwargs.get("name", ""), "__sls__": "test", "__env__": "base", "order": 10000, **kwargs, "fun": fun, **case.get("low", {})}
        self.functions.begin(case, root, self.allowed)
        self.context.clear()
        if "interfaces" in case:
            salt.utils.network.interfaces = lambda: case["interfaces"]
        self.states.inject_globals = {"__low__": low, "__running__": {}, "__instance_id__": "1", "__lowstate__": [low], "__env__": "base"}
        # In 3008.3 the threads of salt.parallel_runners do not have the functions, so it always fails.
        for name, module in list(sys.modules.items()):
            if name.endswith(".states.saltmod") and hasattr(module, "_parallel_map"):
                module._parallel_map = lambda func, inputs: [func(one) for one in inputs]
        got = {}
        try:
            ret = self.states[case["fun"]](**kwargs)
            got = {key: place(item, root, R) for key, item in ret.items()}
            if case.get("unordered"):
                got["comment"] = "\n".join(sorted(got["comment"].split("\n")))
        except OWN as exc:
            got["error"] = place(str(exc), root, R)
        except Exception as exc:  # which Salt shows as a stack trace
            print(f"{case['fun']} {kwargs}: {type(exc).__name__}: {exc}", file=sys.stderr)
            got["error"] = ""
        if case.get("answers"):
            got["calls"] = self.functions.calls
        return dropped(got, case.get("drop", []))


def fresh(root, case):
    shutil.rmtree(root, ignore_errors=True)
    os.mkdir(root)
    build(root, place(case.get("tree", {}), R, root))
    return place(snapshot(root), root, R)


def main(path):
    with open(path, encoding="utf-8") as file:
        table = json.load(file)
    if not salt.version.__version__.startswith(table["salt"]):
        sys.exit(f"{path} wants Salt {table['salt']}")
    base = tempfile.mkdtemp()
    root = f"{base}/root"
    tested, really = Loaded(table, root, True), Loaded(table, root, False)
    for case in table["cases"]:
        for key in ("test", "run", "again", "after", "tested"):
            case.pop(key, None)
        if table.get("reload"):
            tested, really = Loaded(table, root, True), Loaded(table, root, False)
        before = fresh(root, case)
        case["test"] = tested.run(case, root)
        after = place(snapshot(root), root, R)
        if after != before:
            case["tested"] = after
        fresh(root, case)
        case["run"] = really.run(case, root)
        after = place(snapshot(root), root, R)
        if after != before:
            case["after"] = after
        if not case.get("answers"):
            case["again"] = really.run(case, root)
    shutil.rmtree(base)
    cases = table.pop("cases")
    head = json.dumps(table, indent=1, ensure_ascii=False)[:-2]
    body = ",\n".join("  " + json.dumps(case, ensure_ascii=False) for case in cases)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'{head},\n "cases": [\n{body}\n ]\n}}\n')


for one in sys.argv[1:]:
    main(one)
