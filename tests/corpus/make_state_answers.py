#!/usr/bin/env python3
"""Records the results of Salt's state modules, and the execution functions that they call to change something, with
answers instead of all execution functions. Run it with the Python of an environment that has Salt 3008.3: `python
make_state_answers.py state_answers/pkg.json ...`. It reads the cases of each file, and rewrites the file with `result`
or `error`, and `calls` of each case.

A file is a map: `module` (the file of Salt's state module), `providers` (by the name of an execution module, the file
that provides it here), `grains`, `functions`, `params` (by function, the parameters that it has beside `name`), and
`cases`. A case has `fun`, `args` (by name), and may have `test`, `grains`, and `functions` (over those of the file;
null: there is no such function), and `ours`: the result here where Salt fails because of its own fault, or differs as
`docs/states.md` describes. An answer of a function is a value; or `{"answers": [...]}`, one for each call, the
last for all further ones; `{"by": {...}}`, by the first argument; `{"keyword": {...}}`, by a keyword that is true (both
may have `else`); `{"echo": true}`, the first argument; `{"raises": text, "info": value}`, a CommandExecutionError."""
import importlib
import inspect
import json
import logging
import re
import sys
import types
import warnings

warnings.simplefilter("ignore")
import salt.exceptions
import salt.modules.pkg_resource
import salt.output.nested
import salt.state
import salt.version

logging.disable(logging.CRITICAL)
CHANGING = re.compile(
    r"pkg\.(install|remove|purge|upgrade|hold|unhold|mod_repo|del_repo|del_repo_key)$|lowpkg\.unpurge$|"
    r"service\.(start|stop|restart|reload|force_reload|full_restart|enable|disable|mask|unmask)$|"
    r"(user|group)\.(add|delete|ch\w+|adduser|deluser|members)$|"
    r"shadow\.(set_\w+|del_password|lock_password|unlock_password|gen_password)$|"
    r"cron\.(set|rm|write)_\w+$|at\.(at|atrm)$|file\.mkdir$|debconf\.set\w*$|"
    r"gpg\.(receive_keys|import_key|trust_key|delete_key)$"
)


def plain(value):
    """A value for JSON; sets are sorted."""
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(plain(one) for one in value)
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return value


class Functions(dict):
    """Answers instead of `__salt__`."""

    def __init__(self, answers, params):
        self.calls = []
        self.counts = {}
        for name, answer in answers.items():
            if answer is not None or name in params.get("none", []):
                self[name] = self.fake(name, answer, params.get(name, []))

    def answer(self, name, answer, args, kwargs):
        if not isinstance(answer, dict):
            return answer
        if "answers" in answer:
            count = self.counts[name] = self.counts.get(name, -1) + 1
            return self.answer(name, answer["answers"][min(count, len(answer["answers"]) - 1)], args, kwargs)
        if "by" in answer:
            return self.answer(name, answer["by"].get(str(args[0]), answer.get("else")), args, kwargs)
        if "keyword" in answer:
            for key, one in answer["keyword"].items():
                if kwargs.get(key):
                    return self.answer(name, one, args, kwargs)
            return self.answer(name, answer.get("else"), args, kwargs)
        if answer.get("echo"):
            return args[0]
        if "raises" in answer:
            raise salt.exceptions.CommandExecutionError(answer["raises"], info=answer.get("info"))
        return answer

    def fake(self, name, answer, params):
        def call(*args, **kwargs):
            if CHANGING.match(name):
                self.calls.append(plain([name, list(args), kwargs]))
            return json.loads(json.dumps(self.answer(name, answer, args, kwargs)))

        names = ", ".join(f"{one}=None" for one in params)
        source = f"def fake(*args{', ' if names else ''}{names}, **kwargs):\n  given = dict(kwargs)\n"
        for one in params:
            source += f"  if {one} is not None: given[{one!r}] = {one}\n"
        # The parameters are positional for getfullargspec(), as those of Salt's functions are.
        positional = f"def fake({'name' + (', ' + names if names else '')}, *args, **kwargs):\n"
        body = source.split("\n", 1)[1]
        space = {"call": call}
        if params:
            exec(positional + body + "  return call(name, *args, **given)\n", space)
        else:
            exec("def fake(*args, **kwargs):\n  return call(*args, **kwargs)\n", space)
        return space["fake"]


def run(module, data, case):
    functions = {
        "test.ping": True,
        "pkg_resource.version_clean": {"echo": True},
        "pkg_resource.check_extra_requirements": True,
        **data.get("functions", {}),
        **case.get("functions", {}),
    }
    fakes = Functions(functions, data.get("params", {}))
    holder = types.ModuleType("fakes")
    holder.__context__ = {}
    sys.modules["fakes"] = holder
    fakes["test.ping"].__module__ = "fakes"
    opts = {"test": case.get("test", False), "cachedir": "/nonexistent", "color": False, "providers": {}}
    grains = {"os": "Debian", "os_family": "Debian", "kernel": "Linux", **data.get("grains", {}), **case.get("grains", {})}
    for name in ("parse_targets", "pack_sources"):
        fakes[f"pkg_resource.{name}"] = getattr(salt.modules.pkg_resource, name)
    for one in (module, salt.modules.pkg_resource):
        one.__salt__ = fakes
        one.__opts__ = opts
        one.__grains__ = grains
        one.__env__ = "base"
        one.__context__ = {}
        one.__utils__ = {"state.gen_tag": salt.state._gen_tag}
    if hasattr(module, "_get_systemd_only"):
        module._get_systemd_only.HAS_SYSTEMD = grains.get("init") == "systemd"
    out = {}
    try:
        out["result"] = plain(getattr(module, case["fun"].split(".")[1])(**json.loads(json.dumps(case["args"]))))
    except Exception as exc:  # pylint: disable=broad-except
        out["error"] = f"{type(exc).__name__}: {exc}"
    out["calls"] = fakes.calls
    return out


def main():
    for path in sys.argv[1:]:
        with open(path) as file:
            data = json.load(file)
        module = importlib.import_module(f"salt.states.{data['module']}")
        data["salt"] = str(salt.version.__saltstack_version__)
        lines = []
        for case in data.pop("cases"):
            asked = {key: case[key] for key in ("fun", "args", "test", "grains", "functions", "ours") if key in case}
            lines.append("  " + json.dumps({**asked, **run(module, data, asked)}))
        head = json.dumps(data, indent=1)
        with open(path, "w") as file:
            file.write(head[:-2] + ',\n "cases": [\n' + ",\n".join(lines) + "\n ]\n}\n")


if __name__ == "__main__":
    main()
