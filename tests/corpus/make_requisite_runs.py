#!/usr/bin/env python3
"""Writes requisite_runs.json: SLS files, and what Salt 3008.3 returns when it runs them. Run it with the Python of an environment that
has Salt: `<venv>/bin/python tests/corpus/make_requisite_runs.py > tests/corpus/requisite_runs.json`.

A case: `sls` (the text of `t.sls`), `more` (other files by path), `mods`, `opts` (the minion's options), `kwargs` (arguments of state.sls),
`fun` and `args` if another function is called, and `returned`: the return without `start_time` and `duration`, in the notation of
README.md, and `retcode`. Only states that change nothing on a host are used."""
import copy
import json
import logging
import os
import re
import shutil
import sys
import tempfile

from typed import typed

logging.disable(logging.CRITICAL)

CASES = []


def case(name, sls, more=None, mods="t", opts=None, fun="state.sls", args=None, **kwargs):
    row = {"name": name, "sls": sls}
    for key, value in (("more", more), ("opts", opts), ("kwargs", kwargs), ("args", args)):
        if value:
            row[key] = value
    if mods != "t":
        row["mods"] = mods
    if fun != "state.sls":
        row["fun"] = fun
    CASES.append(row)


def state(id_, fun, *args):
    """A state in YAML; `args` are lines `key: value`."""
    return f"{id_}:\n  test.{fun}:\n" + "".join(f"    - {arg}\n" for arg in args or ("order: 10000",))


CHANGES = "succeed_with_changes"
SAME = "succeed_without_changes"
FAILS = "fail_without_changes"
FAILS_CHANGED = "fail_with_changes"

OUTCOMES = {
    "succeeds": state("req", SAME),
    "changes": state("req", CHANGES),
    "fails": state("req", FAILS),
    "fails with changes": state("req", FAILS_CHANGED),
    "is skipped by unless": state("req", CHANGES, "unless: [{fun: test.true}]"),
    "is skipped by onlyif": state("req", CHANGES, "onlyif: [{fun: test.false}]"),
    "is skipped by creates": state("req", CHANGES, "creates: /"),
    "does not run, its requisite failed": state("x", FAILS) + state("req", CHANGES, "require: [{test: x}]"),
    "does not run, its onchanges": state("x", SAME) + state("req", CHANGES, "onchanges: [{test: x}]"),
    "does not run, its onfail": state("x", SAME) + state("req", CHANGES, "onfail: [{test: x}]"),
}
KINDS = ("require", "require_any", "watch", "watch_any", "onchanges", "onchanges_any", "onfail", "onfail_any", "onfail_all",
         "prereq", "listen")


def truth_table():
    for kind in KINDS:
        for outcome, sls in OUTCOMES.items():
            case(f"{kind} of a state that {outcome}", sls + state("me", SAME, f"{kind}: [{{test: req}}]"))
    for kind in KINDS:
        for outcome in ("changes", "succeeds", "fails"):
            sls = OUTCOMES[outcome] + state("me", SAME, f"{kind}: [{{test: req}}]")
            case(f"test mode: {kind} of a state that {outcome}", sls, test=True)
    for kind in ("require", "watch", "onchanges", "onfail", "prereq", "listen"):
        for outcome in ("changes", "succeeds", "fails"):
            sls = OUTCOMES[outcome].rstrip("\n") + f"\n    - {kind}_in: [{{test: me}}]\n" + state("me", SAME)
            case(f"{kind}_in of a state that {outcome}", sls.replace("req:", "areq:", 1))


def several():
    two = {
        "both succeed": state("r1", SAME) + state("r2", SAME),
        "one fails": state("r1", SAME) + state("r2", FAILS),
        "both fail": state("r1", FAILS) + state("r2", FAILS),
        "one changes": state("r1", CHANGES) + state("r2", SAME),
        "one changes, one fails": state("r1", CHANGES) + state("r2", FAILS),
        "both change": state("r1", CHANGES) + state("r2", CHANGES),
    }
    for kind in KINDS:
        for name, sls in two.items():
            if kind in ("require", "watch", "prereq", "listen") and name == "both fail":
                continue  # the order of the names in the comment depends on hashes
            case(f"{kind} of two: {name}", sls + state("me", SAME, f"{kind}: [{{test: r1}}, {{test: r2}}]"))
    pairs = (("require", "onchanges"), ("watch", "onchanges"), ("onfail", "require"), ("onfail", "onchanges"), ("prereq", "require"),
             ("prereq", "onchanges"), ("watch", "require"), ("onchanges_any", "onfail_any"), ("watch", "prereq"), ("onfail", "watch"))
    for a, b in pairs:
        for name, sls in two.items():
            if name == "both fail" and {a, b} <= {"require", "watch", "prereq"}:
                continue
            case(f"{a} and {b}: {name}", sls + state("me", SAME, f"{a}: [{{test: r1}}]", f"{b}: [{{test: r2}}]"))


def ways():
    case("a bare ID", state("a", FAILS) + state("b", SAME, "require: [a]"))
    case("a whole file", state("b", SAME, "require: [{sls: other}]"), {"other.sls": state("o1", SAME) + state("o2", FAILS)}, mods="t,other")
    case("a whole file that is empty", "include: [other]\n" + state("b", SAME, "require: [{sls: other}]"), {"other.sls": "{}"})
    case("a glob", state("a1", SAME) + state("a2", CHANGES) + state("b", SAME, "onchanges: [{test: 'a*'}]"))
    case("names", state("b", SAME, "require: [{test: x}]") + state("a", FAILS, "names: [x, y]"))
    case("names with arguments", state("a", "configurable_test_state", "names: [x: [{result: False}], y]", "changes: False"))
    case("use", state("a", CHANGES, "comment: hello") + state("b", CHANGES, "use: [{test: a}]"))
    case("a chain", state("c", SAME, "require: [b]") + state("b", SAME, "require: [a]") + state("a", FAILS))
    case("a chain of prereq", state("a", SAME, "prereq: [b]") + state("b", SAME, "prereq: [c]") + state("c", CHANGES))
    case("a chain of prereq without changes", state("a", SAME, "prereq: [b]") + state("b", SAME, "prereq: [c]") + state("c", SAME))
    case("prereq whose own requisite fails", state("x", FAILS) + state("a", SAME, "prereq: [c]") + state("c", CHANGES, "require: [x]"))
    case("prereq that fails", state("a", FAILS, "prereq: [c]") + state("c", CHANGES))
    case("prereq of a state that watches", state("x", CHANGES) + state("a", SAME, "prereq: [c]") + state("c", SAME, "watch: [x]"))
    case("two have the same prereq", state("a", SAME, "prereq: [c]") + state("b", SAME, "prereq: [c]") + state("c", CHANGES))
    case("prereq of two", state("a", SAME, "prereq: [c, d]") + state("c", SAME) + state("d", CHANGES))
    case("prereq and names", state("a", SAME, "prereq: [{test: x}]") + state("c", CHANGES, "names: [x, y]"))
    case("watch and a state with changes", state("x", CHANGES) + state("c", CHANGES, "watch: [x]"))
    case("watch and a state that fails", state("x", CHANGES) + state("c", FAILS, "watch: [x]"))
    case("watch and unless", state("x", CHANGES) + state("c", SAME, "watch: [x]", "unless: [{fun: test.true}]"))
    case("watch of something that watches", state("x", CHANGES) + state("c", SAME, "watch: [x]") + state("d", SAME, "watch: [c]"))
    case("listen of something that listens", state("x", CHANGES) + state("c", SAME, "listen: [x]") + state("d", SAME, "listen: [c]"))
    case("listen twice", state("x", CHANGES) + state("y", CHANGES) + state("c", SAME, "listen: [x, y]"))
    case("listen and names", state("x", CHANGES) + state("c", SAME, "names: [p, q]", "listen: [x]"))
    case("listen to names", state("x", CHANGES, "names: [p, q]") + state("c", SAME, "listen: [{test: q}]"))
    case("listen to nothing", state("c", SAME, "listen: [{test: nothere}]"))
    case("listen to a bare ID that is not there", state("c", SAME, "listen: [nothere]"))
    case("listen_in of nothing", state("c", CHANGES, "listen_in: [{test: nothere}]"))
    case("listen and require that fails", state("f", FAILS) + state("x", CHANGES) + state("c", SAME, "listen: [x]", "require: [f]"))
    case("listen in test mode", state("x", CHANGES) + state("c", SAME, "listen: [x]"), test=True)
    case("onfail of something that did not run", state("f", FAILS) + state("g", SAME, "require: [f]") + state("c", SAME, "onfail: [g]"))
    case("onfail handled", state("f", FAILS) + state("c", SAME, "onfail: [{test: f}]", "onfail_stop: []"))
    # In 3006 it handled a failure; 3008 does not compile it.
    case("onfail handled, not to stop", state("f", FAILS) + state("c", SAME, "onfail: [{test: f}]", "onfail_stop: False"))
    case("order", state("a", SAME, "order: last") + state("b", SAME, "order: 5") + state("c", SAME, "order: first") + state("d", SAME, "order: -1") + state("e", SAME))
    case("failhard", state("a", SAME) + state("b", FAILS, "failhard: True") + state("c", SAME))
    case("failhard option", state("a", SAME) + state("b", FAILS) + state("c", SAME), opts={"failhard": True})
    case("failhard option, not here", state("b", FAILS, "failhard: False") + state("c", SAME), opts={"failhard": True})
    case("failhard in test mode", state("b", FAILS, "failhard: True") + state("c", SAME), test=True)
    case("failhard of a requisite", state("a", SAME, "require: [z]", "order: first") + state("b", SAME) + state("z", FAILS, "failhard: True"))
    case("failhard and listen", state("x", CHANGES) + state("c", SAME, "listen: [x]") + state("b", FAILS, "failhard: True"))


CONDITIONS = {
    "true": "{fun: test.true}",
    "false": "{fun: test.false}",
    "a text": "{fun: test.echo, args: [hello]}",
    "an empty text": "{fun: test.echo, args: ['']}",
    "keyword arguments": "{fun: test.kwarg, a: 1}",
    "a path into the result": "{fun: test.kwarg, a: {b: [0, 1]}, get_return: 'a:b:1'}",
    "a path to zero": "{fun: test.kwarg, a: {b: [0, 1]}, get_return: 'a:b:0'}",
    "a path to nothing": "{fun: test.kwarg, a: 1, get_return: 'x:y'}",
    "no function": "{args: [1]}",
    "a number": "5",
    "a slot": "{fun: test.echo, args: ['__slot__:salt:test.echo(x)']}",
}


def conditions():
    for kind in ("onlyif", "unless"):
        for name, entry in CONDITIONS.items():
            case(f"{kind}: {name}", state("a", CHANGES, f"{kind}: [{entry}]"))
        for name, entries in {"two true": "[{fun: test.true}, {fun: test.true}]", "true, false": "[{fun: test.true}, {fun: test.false}]",
                              "false, true": "[{fun: test.false}, {fun: test.true}]", "two false": "[{fun: test.false}, {fun: test.false}]",
                              "none": "[]", "true, nonsense": "[{fun: test.true}, 5]", "nonsense, true": "[5, {fun: test.true}]",
                              "true, no function": "[{fun: test.true}, {x: 1}]", "a map": "{fun: test.true}", "null": "null"}.items():
            case(f"{kind}: {name}", state("a", CHANGES, f"{kind}: {entries}"))
    for a in ("true", "false"):
        for b in ("true", "false"):
            for c in ("/", "/nothere"):
                case(f"onlyif {a}, unless {b}, creates {c}",
                     state("a", CHANGES, f"onlyif: [{{fun: test.{a}}}]", f"unless: [{{fun: test.{b}}}]", f"creates: {c}"))
    case("creates", state("a", CHANGES, "creates: /nothere"))
    case("creates, several", state("a", CHANGES, "creates: [/, /tmp]"))
    case("creates, one missing", state("a", CHANGES, "creates: [/, /nothere]"))
    case("creates, a number", state("a", CHANGES, "creates: 5"))
    case("conditions in test mode", state("a", CHANGES, "unless: [{fun: test.true}]"), test=True)
    case("a condition whose function is not there", state("a", CHANGES, "unless: [{fun: test.true}]", "onlyif: [{fun: test.true}]"))
    conds = {"*": ["nothere*"], "test.nop": "*"}
    case("global conditions", state("a", CHANGES) + state("b", "nop"), opts={"global_state_conditions": conds})
    case("global conditions that hold", state("a", CHANGES), opts={"global_state_conditions": {"test": ["nothere", "*"]}})
    case("global conditions of another module", state("a", CHANGES), opts={"global_state_conditions": {"file": ["nothere"]}})
    case("check_cmd with a condition", state("a", CHANGES, "unless: [{fun: test.true}]"))


def arguments():
    case("retry until it is true", state("a", FAILS, "retry: {attempts: 3, interval: 0}"))
    case("retry until it fails", state("a", SAME, "retry: {attempts: 2, interval: 0, until: False}"))
    case("retry that succeeds", state("a", SAME, "retry: True"))
    case("retry not", state("a", FAILS, "retry: False"))
    case("retry in test mode", state("a", CHANGES, "retry: True"), test=True)
    case("retry with wrong types in test mode", state("a", CHANGES, "retry: {attempts: x, interval: 5, splay: y, until: 3}"), test=True)
    case("retry with splay in test mode", state("a", FAILS, "retry: {attempts: 7, interval: 5, splay: 9}"), test=True)
    case("retry of a number in test mode", state("a", CHANGES, "retry: 5"), test=True)
    case("retry and unless", state("a", FAILS, "retry: {attempts: 3, interval: 0}", "unless: [{fun: test.true}]"))
    case("retry and requisites", state("a", FAILS, "retry: {attempts: 2, interval: 0}") + state("b", SAME, "onfail: [a]"))
    case("retry and watch", state("x", CHANGES) + state("a", SAME, "retry: {attempts: 2, interval: 0}", "watch: [x]"))
    case("no_log", state("a", CHANGES, "no_log: True"))
    case("no_log of a failure", state("a", FAILS, "no_log: True", "comment: secret"))
    case("slots", state("a", "configurable_test_state", "changes: False", "comment: __slot__:salt:test.echo(hi)"))
    case("slots with more text", state("a", "configurable_test_state", "changes: False", "comment: '__slot__:salt:test.echo(hi) ~ \" there\"'"))
    case("slots with a path", state("a", "configurable_test_state", "changes: False", "comment: __slot__:salt:test.kwarg(a=1).a"))
    case("malformed slot", state("a", "configurable_test_state", "changes: False", "comment: __slot__:salt"))
    case("slot of a runner", state("a", "configurable_test_state", "changes: False", "comment: __slot__:runner:test.arg()"))
    case("slot of no function", state("a", "configurable_test_state", "changes: False", "comment: '__slot__:salt:nothere.fun(1)'"))
    case("slot in a list", state("a", "configurable_test_state", "changes: False", "warnings: ['__slot__:salt:test.echo(w)', x]"))
    case("umask", state("a", SAME, "umask: '027'"))
    case("umask that is none", state("a", SAME, "umask: 9z"))
    case("runas", state("a", SAME, "runas: root"))
    case("warnings", state("a", "configurable_test_state", "warnings: [one, two]"))
    case("an exception", state("a", "configurable_test_state", "changes: nonsense"))
    case("an exception in test mode", state("a", "configurable_test_state", "result: nonsense"), test=True)
    case("no such function", state("a", "nofun") + state("b", SAME, "require: [a]") + state("c", SAME, "onfail: [a]"))
    case("no such module", "a:\n  nomodule.fun:\n    - x: 1\n")
    case("a missing argument", state("a", "show_notification") + "b:\n  file.symlink: []\n")
    case("a name that is a number", state("a", SAME, "names: [1, two]"))
    case("reload arguments", state("a", CHANGES, "reload_modules: True", "reload_grains: True", "reload_pillar: True"))
    case("parallel", state("a", CHANGES, "parallel: True") + state("b", FAILS, "parallel: True") + state("c", SAME, "require: [a]") + state("d", SAME, "require: [b]"))
    case("parallel with requisites", state("a", CHANGES, "parallel: True") + state("b", SAME, "parallel: True", "watch: [a]") + state("c", SAME, "parallel: True", "onchanges: [b]"))
    case("parallel with retry", state("a", FAILS, "parallel: True", "retry: {attempts: 2, interval: 0}"))
    case("parallel with a limit", "".join(state(f"a{i}", CHANGES, "parallel: True") for i in range(4)), opts={"state_max_parallel": 1})
    case("parallel with a limit of two", "".join(state(f"a{i}", CHANGES, "parallel: True") for i in range(5)) + state("z", SAME, "require: [a4]"), opts={"state_max_parallel": 2})
    case("retry with splay", state("a", FAILS, "retry: {attempts: 2, interval: 0, splay: 1}"))
    case("mock of conditions and of a watch", state("a", CHANGES, "unless: [{fun: test.true}]") + state("b", CHANGES) + state("c", SAME, "watch: [b]"), mock=True)
    case("force_reload_modules", state("a", SAME, "force_reload_modules: True") + state("b", SAME, "reload_modules: True"))
    case("parallel in test mode", state("a", CHANGES, "parallel: True") + state("b", SAME, "require: [a]"), test=True)
    case("parallel and an exception", state("a", "configurable_test_state", "parallel: True", "changes: nonsense"))
    case("parallel and unless", state("a", CHANGES, "parallel: True", "unless: [{fun: test.true}]"))
    case("parallel and listen", state("a", CHANGES, "parallel: True") + state("c", SAME, "listen: [a]"))
    case("parallel and prereq", state("a", SAME, "prereq: [c]") + state("c", CHANGES, "parallel: True"))
    case("parallel and failhard", state("a", FAILS, "parallel: True", "failhard: True") + state("c", SAME))
    case("mock", state("a", FAILS) + state("b", SAME, "require: [a]"), mock=True)
    case("terse", state("a", FAILS) + state("b", SAME) + state("c", CHANGES), terse=True)
    case("terse of nothing", state("b", SAME), terse=True)


def calls():
    case("exclude an ID", state("a", FAILS) + state("b", SAME), exclude=[{"id": "a"}])
    case("exclude a file", state("b", SAME), {"other.sls": state("o", SAME)}, mods="t,other", exclude="oth*")
    case("exclude all", state("b", SAME), exclude="t")
    case("an empty file", "{}")
    case("no such file", state("b", SAME), mods="nothere")
    case("a requisite of nothing", state("b", SAME, "require: [{test: nothere}]"))
    case("a circle", state("a", SAME, "require: [b]") + state("b", SAME, "require: [a]"))
    case("a template that fails", "{{ nope }}")
    case("single", "", fun="state.single", args=["test.succeed_with_changes", "x"])
    case("single in test mode", "", fun="state.single", args=["test.succeed_with_changes", "x"], test=True)
    case("single that fails", "", fun="state.single", args=["test.fail_without_changes", "x"])
    case("single with conditions", "", fun="state.single", args=["test.succeed_with_changes", "x"], unless=[{"fun": "test.true"}])
    case("single of no function", "", fun="state.single", args=["test.nofun", "x"])
    case("single of no module", "", fun="state.single", args=["nomodule.fun", "x"])
    case("single without a dot", "", fun="state.single", args=["test", "x"])
    case("low", "", fun="state.low", args=[{"state": "test", "fun": "succeed_with_changes", "name": "x", "__id__": "x"}])
    case("low of no function", "", fun="state.low", args=[{"state": "test", "fun": "nofun", "name": "x", "__id__": "x"}])
    case("low without a function", "", fun="state.low", args=[{"state": "test", "name": "x", "__id__": "x"}])
    case("high", "", fun="state.high", args=[{"a": {"test": ["nop"]}, "b": {"test": ["fail_without_changes", {"require": [{"test": "a"}]}]}}])
    case("high with an error", "", fun="state.high", args=[{"a": {"test": ["nop", {"require": "x"}], "__sls__": "x"}}])
    case("high in test mode", "", fun="state.high", args=[{"a": {"test": ["succeed_with_changes"]}}], test=True)
    case("template_str", "", fun="state.template_str", args=["a: test.nop\nb:\n  test.succeed_with_changes: []\n"])
    case("template_str with an include", "", fun="state.template_str", args=["include: [t]\n"])
    case("template_str of a text", "", fun="state.template_str", args=["hello"])
    case("template_str with mistakes", "", fun="state.template_str", args=["a: nodot\nb:\n  test.nop:\n"])
    case("sls_id", state("a", SAME) + state("b", CHANGES, "require: [a]") + state("c", SAME), fun="state.sls_id", args=["b", "t"])
    case("sls_id whose requisite fails", state("a", FAILS) + state("b", CHANGES, "require: [a]"), fun="state.sls_id", args=["b", "t"])
    case("sls_id and watch", state("a", CHANGES) + state("b", SAME, "watch: [a]"), fun="state.sls_id", args=["b", "t"])
    case("sls_id and names", state("b", CHANGES, "names: [x, y]"), fun="state.sls_id", args=["b", "t"])
    case("sls_id in a chain", "".join(state(f"s{i}", SAME, f"require: [s{i + 1}]") for i in range(5)) + state("s5", CHANGES), fun="state.sls_id", args=["s0", "t"])
    for what, last in (("with", CHANGES), ("without", SAME)):
        chain = state("a", SAME, "prereq: [b]") + state("b", SAME, "prereq: [c]") + state("c", last)
        case(f"sls_id in a chain of prereq {what} changes", chain, fun="state.sls_id", args=["a", "t"])
    top = {"top.sls": "base:\n  '*': [t, other]\n", "other.sls": state("o", CHANGES)}
    case("highstate", state("a", SAME), top, fun="state.highstate", args=[])
    case("apply without names", state("a", SAME), top, fun="state.apply", args=[])
    case("apply with names", state("a", SAME), top, fun="state.apply", args=["t"])
    case("highstate in test mode", state("a", SAME), top, fun="state.highstate", test=True)
    case("highstate with a whitelist", state("a", SAME), top, fun="state.highstate", whitelist="t")
    case("highstate without some", state("a", SAME), top, fun="state.highstate", exclude="other")
    case("highstate for nobody", state("a", SAME), {"top.sls": "base:\n  'other':\n    - t\n"}, fun="state.highstate")
    case("highstate of nothing", "{}", {"top.sls": "base:\n  '*':\n    - t\n"}, fun="state.highstate")
    case("highstate without a top file", state("a", SAME), fun="state.highstate")
    case("another top file", state("a", SAME), {"other_top.sls": "base:\n  '*': [t]\n"}, fun="state.top", args=["other_top.sls"])
    case("state.test", state("a", CHANGES), fun="state.test", args=["t"])
    case("the option test", state("a", CHANGES), opts={"test": True})
    case("the option test, and not here", state("a", CHANGES), opts={"test": True}, test=False)
    case("test in other letters", state("a", CHANGES), Test=True)


def clean(value):
    if isinstance(value, dict):
        return {k: clean(v) for k, v in value.items() if k not in ("start_time", "duration")}
    return value


def texts(value):
    """Without texts that name this program or this host: tracebacks are cut to their last line."""
    if isinstance(value, str):
        start, trace, text = value.partition("Traceback (most recent call last):\n")
        return start + re.sub(r"^[\w.]+: ", "", text.rstrip("\n").rsplit("\n", 1)[-1]) if trace else value
    if isinstance(value, dict):
        return {k: texts(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [texts(v) for v in value]
    return value


def main():
    import salt.client
    import salt.config

    truth_table()
    several()
    ways()
    conditions()
    arguments()
    calls()
    names = [row["name"] for row in CASES]
    part, parts = (int(n) for n in os.environ.get("PART", "0/1").split("/"))
    assert len(names) == len(set(names)), [n for n in names if names.count(n) > 1]
    out = []
    only = os.environ.get("ONLY")
    for row in [row for row in CASES if only is None or row["name"] in only.split("|")][part::parts]:
        root = tempfile.mkdtemp(prefix="runs_")
        for path, text in {"t.sls": row["sls"], **row.get("more", {})}.items():
            if text:
                with open(os.path.join(root, path), "w") as file:
                    file.write(text)
        opts = salt.config.minion_config(None)
        opts.update({"file_client": "local", "local": True, "id": "m1", "root_dir": root, "cachedir": root + "/cache", "conf_file": "", "file_roots": {"base": [root]},
                     "pillar_roots": {"base": [root + "/pillar"]}, "extension_modules": root + "/ext", "fileserver_list_cache_time": 0, **row.get("opts", {})})
        opts["grains"] = {"id": "m1", "os": "Debian", "os_family": "Debian", "kernel": "Linux", "localhost": "m1"}
        caller = salt.client.Caller(mopts=opts)
        fun = row.get("fun", "state.sls")
        args = row.get("args", [row.get("mods", "t")] if fun == "state.sls" else [])
        function = caller.sminion.functions[fun]
        try:
            # Salt changes its arguments.
            returned = function(*copy.deepcopy(args), **copy.deepcopy(row.get("kwargs", {})))
            retcode = caller.sminion.functions.pack["__context__"].get("retcode", 0)
        except Exception as error:
            returned, retcode = f"{type(error).__name__}: {error}", None
        out.append({**row, "returned": typed(texts(clean(returned))), "retcode": retcode})
        shutil.rmtree(root)
    out = json.loads(json.dumps(out, ensure_ascii=False))
    sys.stdout.write("[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in out) + "\n]\n")


main()
