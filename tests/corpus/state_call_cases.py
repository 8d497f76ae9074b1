"""The cases of make_state_calls.py."""

CASES = []


def call(fun, *args, write=None, ours=None, **kwargs):
    """One call of `state.<fun>`. `ours`: the reason, `returned` and `retcode` if ours must return something else than Salt, by `differs`."""
    made = {"fun": f"state.{fun}"}
    for key, value in (("args", list(args)), ("kwargs", kwargs), ("write", write), ("ours", ours)):
        if value:
            made[key] = value
    return made


def case(name, calls, files=None, opts=None):
    CASES.append({"name": name, "files": files or {}, **({"opts": opts} if opts else {}), "calls": calls})


def differs(why, returned, retcode=0):
    return {"why": why, "returned": returned, "retcode": retcode}


def result(id_, fun="succeed_without_changes", **more):
    """Our result, by its tag."""
    return {f"test_|-{id_}_|-{id_}_|-{fun}": {"name": id_, "changes": {}, "result": True, "comment": "Success!", "__sls__": None, "__run_num__": 0, "__id__": id_, **more}}


def state(id_, fun="succeed_without_changes", *args):
    """A state of `test` in YAML; `args` are lines `key: value`."""
    return f"{id_}:\n  test.{fun}:\n" + "".join(f"    - {arg}\n" for arg in args or ("order: 10000",))


CHANGES = "succeed_with_changes"
FAILS = "fail_without_changes"
CONFIGURED = "configurable_test_state"
A = {"t.sls": state("a", CHANGES)}
TOP = {"top.sls": "base:\n  '*': [t]\n"}

# --- errors before states run --------------------------------------------------------------------------------
WRONG = {"pillar": {"_errors": ["one", "two"]}}
for fun, args in {"sls": ["t"], "highstate": [], "sls_id": ["a", "t"]}.items():
    case(f"a pillar with errors: {fun}", [call(fun, *args, **WRONG), call(fun, *args, **WRONG, force=True)], {**A, **TOP})
case("a pillar with errors: top", [call("top", "top.sls", **WRONG)], {**A, **TOP})
case("a top file that cannot be rendered", [call("highstate"), call("show_top"), call("show_states"), call("show_state_usage"), call("show_lowstate")], {**A, "top.sls": "{{ nope }}\n"})
case("a top file that is wrong", [call(fun) for fun in ("highstate", "show_top", "show_highstate", "show_state_usage")], {**A, "top.sls": "base:\n  '*': t\n  x: [5]\n"})
case("a highstate with an SLS file that is wrong", [call(fun) for fun in ("highstate", "show_highstate", "show_states")], {**TOP, "t.sls": "a: [x]\n"})
case("a highstate with a template that fails", [call("highstate"), call("show_states")], {**TOP, "t.sls": "{{ nope }}\n"})
case("what a highstate would run", [call(fun) for fun in ("show_highstate", "show_lowstate", "show_states", "show_top", "show_state_usage")], {**A, **TOP, "u.sls": state("u")})

# --- one ID ----------------------------------------------------------------------------------------------------------------
case("sls_id of no ID", [call("sls_id", "nothere", "t")], A)
case("sls_id in a file that is wrong", [call("sls_id", "a", "t"), call("sls_id", "a", "nothere")], {"t.sls": "a: [x]\n"})
case("sls_id of several files", [call("sls_id", "b", "t,u"), call("sls_id", "b", ["t", "u"])], {**A, "u.sls": state("b", CHANGES, "require: [a]")})
PREREQ = state("p", "succeed_without_changes", "prereq: [c]")
for name, c in {"changes": state("c", CHANGES), "no changes": state("c"), "a failure": state("c", FAILS), "a requisite of it that changes": state("r", CHANGES) + state("c", "succeed_without_changes", "watch: [r]"),
                "onchanges that did not": state("r") + state("c", CHANGES, "onchanges: [r]"), "a requisite that fails": state("r", FAILS) + state("c", CHANGES, "require: [r]")}.items():
    case(f"sls_id and prereq of {name}", [call("sls_id", "p", "t"), call("sls_id", "p", "t", test=True)], {"t.sls": PREREQ + c})
case("sls_id and a chain of prereq", [call("sls_id", "a", "t"), call("sls_id", "b", "t")], {"t.sls": state("a", "succeed_without_changes", "prereq: [b]") + state("b", "succeed_without_changes", "prereq: [c]") + state("c", CHANGES)})
case("sls_id and failhard of a requisite", [call("sls_id", "b", "t", ours=differs("Salt's return has its mark __FAILHARD__ among the results", result("a", FAILS, result=False, comment="Failure!", __sls__="t"), 2))], {"t.sls": state("a", FAILS, "failhard: True") + state("b", CHANGES, "require: [a]")})
case("sls_id and a requisite that two have", [call("sls_id", "d", "t")], {"t.sls": state("a", CHANGES) + state("b", CHANGES, "require: [a]") + state("c", CHANGES, "require: [a]") + state("d", CHANGES, "require: [b, c]")})

# --- parallel states -------------------------------------------------------------------------------------------------------
P = "parallel: True"
case("parallel states that require each other", [call("sls", "t")], {"t.sls": state("a", CHANGES, P) + state("b", CHANGES, P, "require: [a]") + state("c", CHANGES, P, "require: [b]") + state("d")})
case("parallel states whose requisite fails", [call("sls", "t")], {"t.sls": state("a", FAILS, P) + state("b", CHANGES, P, "require: [a]") + state("c", "succeed_without_changes", P, "onfail: [a]") + state("d")})
case("parallel onchanges of a parallel state", [call("sls", "t")], {"t.sls": state("a", CHANGES, P) + state("b", CHANGES, P, "onchanges: [a]") + state("c")})
case("parallel onchanges of a parallel state without changes", [call("sls", "t")], {"t.sls": state("a", "succeed_without_changes", P) + state("b", CHANGES, P, "onchanges: [a]")})
case("parallel and retry in test mode", [call("sls", "t", test=True)], {"t.sls": state("a", CHANGES, P, "retry: {attempts: 3, interval: 0}")})
HIDDEN = "*" * 10
case("parallel and no_log", [call("sls", "t", ours=differs("Salt shows what a parallel state with no_log did", result("a", CHANGES, name=HIDDEN, comment=HIDDEN, changes={"testing": {"old": HIDDEN, "new": HIDDEN}}, __sls__="t", __parallel__=True)))], {"t.sls": state("a", CHANGES, P, "no_log: True")})
case("a chain of parallel states that waits at its end", [call("sls", "t")], {"t.sls": "".join(state(f"s{i}", CHANGES, P, *([f"require: [s{i - 1}]"] if i else [])) for i in range(4))})

# --- arguments that every state may have -----------------------------------------------------------------------------------
SLOTS = ("salt:test.echo(a b)", "salt:test.echo('a, b')", 'salt:test.echo("it\'s")', "salt:test.echo(text=[1, 2])", "salt:test.echo({a: (1)})", "salt:test.echo(a\\ b)", "salt:test.echo(a # b)", "salt:test.echo([)", "salt:test.echo(])",
         "salt:test.echo(", "salt:test.echo('", "salt:(x)", "salt:test.echo", "salt:test.echo('a\\'b')", 'salt:test.echo("a\\"b\\\\c\\d")', "salt:test.echo(a\\", "salt:test.kwarg(a=b=c)", "salt:test.echo(,x)", "salt:test.echo(x,)",
         "salt:test.arg(1) ~ x", "salt:test.echo(x) ~ 'y'", "salt:test.echo(x)~y~z", "salt:test.kwarg(a=1).a.b", "salt:test.kwarg(a=1).b", "salt:test.echo(x).y", "salt:test.echo((a))", "salt:test.echo(a)b")
case("slots", [call("sls", "t")], {"t.sls": "".join(state(f"s{i:02}", CONFIGURED, "changes: False", "comment: " + repr_) for i, repr_ in enumerate("'__slot__:" + slot.replace("'", "''") + "'" for slot in SLOTS))})
ENTRIES = {"of a text": "{fun: test.echo, args: [hello], get_return: a}", "of a text, empty": "{fun: test.echo, args: [hello], get_return: ''}", "of a list": "{fun: test.arg, args: [1], get_return: args}", "of a list by its index": "{fun: test.arg, args: [0], get_return: 'args:0'}",
           "by a list": "{fun: test.kwarg, a: {b: 1}, get_return: [a, b]}", "of a list by a number": "{fun: test.echo, args: [[0, 7]], get_return: 1}", "of a list by a number, zero": "{fun: test.echo, args: [[0, 7]], get_return: 0}", "of a text by a list": "{fun: test.echo, args: [hello], get_return: [a]}"}
case("get_return", [call("sls", "t")], {"t.sls": "".join(state(f"{kind} {name}", CHANGES, f"{kind}: [{entry}]") for kind in ("onlyif", "unless") for name, entry in ENTRIES.items())})
case("conditions whose command cannot run", [call("sls", "t")], {"t.sls": "".join(state(kind, CHANGES, f"{kind}: 'true'", "cwd: /no/such/directory") for kind in ("onlyif", "unless"))})
LISTENED = {**result("a", CHANGES, changes={"testing": {"old": "Unchanged", "new": "Something pretended to change"}}, __sls__="t"), **result("b", __run_num__=1, __sls__="t")}
LISTENER = {"test_|-listener_b_|-b_|-mod_watch": {**result("b")["test_|-b_|-b_|-succeed_without_changes"], "changes": {"Requisites with changes": []}, "__id__": "listener_b", "__run_num__": 2, "__sls__": "t", "comment": "Watch statement fired."}}
case("listen_in of a bare ID", [call("sls", "t", ours=differs("Salt fails: 'str' object has no attribute 'items'", {**LISTENED, **LISTENER}))], {"t.sls": state("a", CHANGES, "listen_in: [b]") + state("b")})
case("requisites as one list for two", [call("sls", "t")], {"t.sls": state("r", CHANGES) + "a:\n  test.nop:\n    - require: [{test: r}]\n    - onchanges: [{test: r}]\n    - watch_any: [{test: r}]\n"})
case("check_cmd", [call("sls", "t"), call("sls", "t", test=True)], {"t.sls": state("a", CHANGES, "check_cmd: ['true', 'true']") + state("b", CHANGES, "check_cmd: ['true', 'false']") + state("c", FAILS, "check_cmd: 'true'") + state("d", CHANGES, "check_cmd: []")})
case("the module of a state that is not there has more to set up", [call("sls", "t")], {"t.sls": "a:\n  pkg.nofun: []\nb:\n  test.nop: []\n"})
case("terse", [call("highstate", terse=True), call("sls", "t", terse=True)], {**TOP, "t.sls": state("a") + state("b", CHANGES) + state("c", FAILS)})

# --- the high data of an earlier run ---------------------------------------------------------------------------------------
CHANGED = {"t.sls": state("later", CHANGES)}
case("a run of cached high data", [call("highstate"), call("highstate", write=CHANGED), call("sls", "t", write=A), call("sls", "t", cache=True, write=CHANGED), call("sls", "t")], {**A, **TOP})
case("a highstate of cached high data", [call("highstate"), call("highstate", cache=True, write=CHANGED)], {**A, **TOP})
case("cached high data of a name", [call("highstate", cache_name="mine"), call("highstate", cache=True, cache_name="other", write=CHANGED), call("highstate", cache=True, cache_name="mine", write=A)], {**A, **TOP})
case("no cached high data", [call("sls", "t", cache=True), call("highstate", cache=True)], {**A, **TOP})
case("cached high data that are cleared", [call("highstate"), call("clear_cache"), call("highstate", cache=True, write=CHANGED), call("clear_cache"), call("clear_cache")], {**A, **TOP})

# --- environments ----------------------------------------------------------------------------------------------------------
DEV = {**A, **TOP, "dev|t.sls": state("in dev", CHANGES), "dev|top.sls": "dev:\n  '*': [t]\n", "dev|other_top.sls": "dev:\n  '*': [t]\n"}
case("another top file in an environment", [call("top", "other_top.sls", saltenv="dev"), call("top", "other_top.sls")], DEV)
case("an environment by argument", [call("sls", "t", saltenv="dev"), call("sls", "t", saltenv=None), call("highstate", saltenv="dev"), call("sls", "t", pillarenv="dev"), call("sls", "t", saltenv="nothere")], DEV)
case("an environment that is locked", [call("sls", "t", saltenv="dev"), call("sls", "t", saltenv="base")], DEV, {"lock_saltenv": True, "saltenv": "base"})
case("the order of environments", [call("show_top"), call("highstate")], DEV, {"env_order": ["dev", "base"]})
case("the order of environments that are not there", [call("show_top")], DEV, {"env_order": ["nothere", "base"]})
case("files for any environment", [call("sls", "t", saltenv="any"), call("sls", "nothere", saltenv="any")], {"__env__|t.sls": state("everywhere", CHANGES)})
case("includes of other environments", [call("show_sls", "t"), call("show_sls", "u", ours=differs("Salt fails: 'int' object has no attribute 'startswith'", ["Include 5 in SLS 'base:u' is no name of an SLS file"], 1)), call("show_sls", "v", ours=differs("as before", ["Include {'dev': 5} in SLS 'base:v' is no name of an SLS file"], 1)), call("show_sls", "w"), call("highstate")],
     {"top.sls": "base:\n  '*': [t, w]\ndev:\n  '*': [t]\n", "t.sls": "include:\n  - _xenv: x\n", "u.sls": "include: [5]\n", "v.sls": "include:\n  - dev: 5\n", "w.sls": "include:\n  - _xenv: y\n", "dev|x.sls": state("x"), "dev|t.sls": "{}\n", "dev|y.sls": state("y"), "y.sls": state("y base")})
case("an include that two other environments have", [call("highstate")], {"top.sls": "base:\n  '*': [t]\ndev:\n  '*': [n]\nqa:\n  '*': [n]\n", "t.sls": "include:\n  - _xenv: x\n", "dev|x.sls": state("x"), "qa|x.sls": state("x"), "dev|n.sls": "{}\n", "qa|n.sls": "{}\n"})
case("top files that include each other", [call("show_top")], {"top.sls": "include: [more, more, 'mor*']\nbase:\n  '*': [t]\n", "more.sls": "base:\n  'm*': [u]\n", **A, "u.sls": state("u")})

# --- merging of high data --------------------------------------------------------------------------------------------------
case("require_in of a whole file", [call("show_low_sls", "t"), call("sls", "t")], {"t.sls": "include: [u]\n" + state("a", CHANGES, "require_in: [{sls: u}]"), "u.sls": state("u1") + state("u2")})
case("use of a whole file", [call("show_low_sls", "t")], {"t.sls": "include: [u]\n" + state("a", CHANGES, "use: [{sls: u}]"), "u.sls": state("u1", "nop", "foo: 1")})
case("extend twice the same", [call("show_sls", "t"), call("show_low_sls", "t")], {"t.sls": "include: [u, v]\n", "u.sls": "include: [x]\nextend: {x: {test: [{foo: 1}]}}\n", "v.sls": "include: [x]\nextend: {x: {test: [{foo: 1}]}}\n", "x.sls": state("x", "nop")})
case("extend of a requisite that is no list", [call("show_low_sls", "t")], {"t.sls": "include: [x]\nextend: {x: {test: [{require: a}]}}\n" + state("a"), "x.sls": state("x", "nop", "require: [{test: a}]")})
case("extend without a state", [call("show_low_sls", "t")], {"t.sls": "include: [x]\nextend: {x: {}}\n", "x.sls": state("x", "nop")})
case("high data with extensions", [
    call("high", {"a": {"test": ["nop"]}, "__extend__": [5]}, ours=differs("Salt fails: 'int' object has no attribute 'items'", ["Extension value is not a dictionary"], 1)),
    call("high", {"a": {"test": ["nop"]}, "__extend__": [{"a": 5}]}, ours=differs("Salt fails: 'int' object is not iterable", ["Extension name 'a' is not a dictionary"], 1)),
    call("high", {"a": {"test": ["nop"]}, "__extend__": [{"a": {"test": [{"foo": 1}]}}]}),
    call("high", {"a": {"test": ["nop"]}, "__extend__": []}),
])
case("high data that are none", [call("high", {}), call("high", {"a": {"test": ["nop"]}})])

# --- templates -------------------------------------------------------------------------------------------------------------
LOCAL = {"/local.sls": "include: [u]\n" + state("{{ tpldir }}x", CHANGES, "require: [u]"), "u.sls": state("u")}
NO_ENV = "Salt renders such a file in no saltenv, so that it cannot include anything"
BOTH = {**result("u", __sls__="u"), **result("{ROOT}x", CHANGES, changes={"testing": {"old": "Unchanged", "new": "Something pretended to change"}}, __sls__="{ROOT}/local.sls", __run_num__=1)}
case("a template of this host", [call("template", "{ROOT}/local", ours=differs(NO_ENV, BOTH)), call("template", "{ROOT}/local.sls", ours=differs(NO_ENV, BOTH)), call("template", "{ROOT}/nothere"), call("template", "nothere.sls")], LOCAL)
case("a template of this host that is wrong", [
    call("template", "{ROOT}/local"),
    call("template", "{ROOT}/local", write={"/local.sls": "{{ nope }}\n"}, ours=differs(NO_ENV, ["Rendering SLS 'base:{ROOT}/local.sls' failed: Jinja variable 'nope' is undefined; line 1"], 1)),
    call("template", "{ROOT}/local", write={"/local.sls": "include: [nothere]\n"}, ours=differs(NO_ENV, ["Specified SLS nothere in saltenv base is not available on the salt master or through a configured fileserver"], 1)),
    call("template", "{ROOT}/local", write={"/local.sls": "{}\n"}),
], {"/local.sls": "a: [x]\n"})
for name, text in {"nothing": "{}", "two declarations of a module": "a:\n  test.nop: []\n  test.succeed_with_changes: []\n", "a list": "[1]", "extends": "extends: {}\n", "exclude": "exclude: []\n",
                   "a failing template": "{{ nope }}", "a short form": "a: test.nop.more\n", "a long form": "a:\n  test: [nop]\n"}.items():
    case(f"template_str of {name}", [call("template_str", text)])
NO_SLS = "Salt fails: KeyError '__sls__'"
for text, ours in {
    "a:\n  _x: 1\n  __y: [1]\n  test.nop: []\n": "State 'a' in SLS 'base' is not formed as a list",
    "a:\n  _x: [1]\n  test.nop: []\n": "No function declared in state 'a' in SLS 'base'",
    "1:\n  test.nop: []\n": "ID '1' in SLS 'base' is not formed as a string, but is type int. It may need to be quoted.",
    "a:\n  test.nop:\n    - require: x\n": "The require statement in state 'a' in SLS 'base' needs to be formed as a list",
}.items():
    case(f"template_str and an error: {ours}", [call("template_str", text, ours=differs(NO_SLS, [ours], 1))])
case("template_str of a body that is a list", [call("template_str", "a: [1]\n", ours=differs("Salt fails: 'int' object has no attribute 'startswith'", ["ID a in template <template-str> is not a dictionary"], 1))])

# --- modules that are fetched before -----------------------------------------------------------------------------------------
case("modules are not fetched", [call("highstate")], {**A, **TOP}, {"autoload_dynamic_modules": False})
case("modules that a call names", [call("sls", "t", sync_mods=mods) for mods in (True, "nosuch", "modules,states", ["grains"], "all,nosuch", "")], A)

# --- more of environments and of what is merged ------------------------------------------------------------------------------
ENVS = state("a", CONFIGURED, "changes: False", "comment: '{{ opts.saltenv }} {{ opts.pillarenv }}'")
case("the environments that a template sees", [call("sls", "t"), call("sls", "t", saltenv=None), call("sls", "t", pillarenv="x"), call("sls", "t", pillarenv=None)], {"t.sls": ENVS, "dev|t.sls": ENVS}, {"saltenv": "dev", "pillarenv": "cfg"})
case("the environment of pillar by that of states", [call("sls", "t", saltenv="dev"), call("sls", "t"), call("sls", "t", saltenv="dev", pillarenv="x")], {"t.sls": ENVS, "dev|t.sls": ENVS}, {"pillarenv_from_saltenv": True, "pillarenv": "cfg"})
for more, ours in {"require: a": differs("Salt requires each character of the text", ["The require statement in state 'x' in SLS 'x' needs to be formed as a list"], 1), "require: [{test: a}]": None, "foo: 1": None}.items():
    case(f"extend with {more}", [call("sls", "t", ours=ours)], {"t.sls": "include: [x]\nextend: {x: {test: [{%s}]}}\n" % more + state("a"), "x.sls": state("x", "nop", "require: [{test: b}]", "foo: [1]") + state("b")})
for name, extension in {"an ID by its name": "n: {test: [{foo: 1}]}", "a name that two have": "m: {test: [{foo: 1}]}", "an excluded file": "e: {test: [{foo: 1}]}"}.items():
    case(f"extend of {name}", [call("sls", "t")], {"t.sls": "include: [x, e]\nexclude: [e]\nextend: {%s}\n" % extension + state("a"), "e.sls": state("e"), "x.sls": state("x", "nop", "name: n") + state("y", "nop", "name: m") + state("z", "nop", "name: m")})
case("requisites of whole files", [call("sls", "t")], {"t.sls": "include: [x]\n" + state("a", CHANGES, "require_in: [{sls: x}]") + state("b", "nop", "require: [{sls: x}]"), "x.sls": state("x1") + state("x2")})
case("top files that are merged", [call("show_top"), call("highstate")], {"top.sls": "base:\n  '*': [t]\n", "dev|top.sls": "base:\n  '*': 5\n"}, {"top_file_merging_strategy": "merge_all"})
case("an include from any environment", [call("highstate"), call("show_sls", "t"), call("sls", "u")], {"top.sls": "base:\n  '*': [t]\ndev:\n  '*': [n]\nqa:\n  '*': [n]\n", "t.sls": "include:\n  - _xenv: x\n", "u.sls": "include:\n  - _xenv: y\n",
     "dev|x.sls": state("x"), "qa|x.sls": state("y"), "dev|n.sls": "{}\n", "qa|n.sls": "{}\n", "__env__|z.sls": "{}\n"})
case("an include from the one other environment", [call("highstate")], {"top.sls": "base:\n  '*': [t]\ndev:\n  '*': [n]\n", "t.sls": "include:\n  - _xenv: x\n", "dev|x.sls": state("x"), "dev|n.sls": state("n"), "__env__|z.sls": "{}\n"})
case("extend of no state", [call("sls", "t", ours=differs("Salt fails: StopIteration", ["Extension name 'x' in SLS 't' names no state"], 1))], {"t.sls": "include: [x]\nextend: {x: {__env__: base}}\n", "x.sls": state("x")})
