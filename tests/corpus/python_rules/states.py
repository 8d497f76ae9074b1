"""Rules 23 and 24: state modules."""

file("_states/brst.py", '''
"""Own states."""
INITS = []
def _ret(name, **more):
    ret = {"name": name, "result": True, "changes": {}, "comment": ""}
    ret.update(more)
    return ret
def mod_init(low):
    __context__["inits"] = __context__.get("inits", 0) + 1
    INITS.append([low["state"], low["fun"], low["__id__"]])
    return True
def plain(name):
    """Does nothing.

    name
        The name.
    """
    return _ret(name, comment="inits %s" % __context__.get("inits"))
def inits(name):
    return _ret(name, comment=str(INITS))
def changed(name, value=1):
    return _ret(name, changes={"value": value}, comment="changed")
def tested(name):
    if __opts__["test"]:
        return _ret(name, result=None, comment="would")
    return _ret(name, changes={"done": True})
def any_args(name, **kwargs):
    return _ret(name, comment=str(sorted(kwargs)))
def args(name, a, b=2, *rest, **kwargs):
    return _ret(name, comment=str([a, b, rest]))
def low(name, **kwargs):
    return _ret(name, comment="%s %s %s %s %s" % (__low__["__id__"], __low__["state"], __low__["fun"], __low__["__sls__"], __low__["__env__"]))
def low_keys(name, **kwargs):
    return _ret(name, comment=str(sorted(__low__)))
def running(name):
    return _ret(name, comment=str(sorted(__running__)))
def running_values(name):
    return _ret(name, comment=str(sorted((key, value["result"], value["changes"]) for key, value in __running__.items())))
def lowstate(name):
    return _ret(name, comment=str([chunk["__id__"] for chunk in __lowstate__]))
def env(name):
    return _ret(name, comment=str([__env__, type(__instance_id__).__name__]))
def calls(name):
    return __states__["test.succeed_with_changes"](name=name)
def calls_own(name):
    ret = __states__["brst.changed"](name, value=7)
    ret["comment"] = "called: " + ret["comment"]
    return ret
def calls_file(name):
    ret = __states__["file.absent"](name)
    return ret
def states_known(name):
    return _ret(name, comment=str(["brst.plain" in __states__, "test.nop" in __states__, "no.such" in __states__]))
def single(name):
    return list(__salt__["state.single"]("test.succeed_without_changes", name="inner").values())[0]
def count(name):
    __context__["count"] = __context__.get("count", 0) + 1
    return _ret(name, comment="%s %s" % (__context__["count"], __salt__["brmod.count"]()))
def text(name):
    return "text"
def none(name):
    return None
def listed(name):
    return []
def changes_list(name):
    return _ret(name, changes=[])
def changes_text(name):
    return _ret(name, changes="x")
def no_changes(name):
    return {"name": name, "result": True, "comment": ""}
def no_comment(name):
    return {"name": name, "result": True, "changes": {}}
def no_name(name):
    return {"result": True, "changes": {}, "comment": "without a name"}
def empty(name):
    return {}
def comment_list(name):
    return _ret(name, comment=["a", "b"])
def comment_none(name):
    return _ret(name, comment=None)
def comment_map(name):
    return _ret(name, comment={"a": 1})
def comment_number(name):
    return _ret(name, comment=5)
def result_text(name):
    return _ret(name, result="yes")
def result_number(name):
    return _ret(name, result=1)
def more_keys(name):
    return _ret(name, pchanges={"a": 1}, warnings=["watch out"], extra=[1])
def sub_state(name):
    return _ret(name, sub_state_run=[{"low": {"state": "test", "fun": "nop", "name": "inner", "__id__": "inner", "__state_ran__": True}, "changes": {}, "comment": "sub", "result": True, "duration": 1, "start_time": "0"}])
def skip_watch(name):
    return _ret(name, skip_watch=True, changes={"a": 1})
def raises(name):
    raise ValueError("went wrong")
def raises_command(name):
    from salt.exceptions import CommandExecutionError
    raise CommandExecutionError("went wrong", info={"a": 1})
def raises_key(name):
    return {}["absent"]
def raises_type(name):
    return len(5)
def exits(name):
    import sys
    sys.exit(3)
def needs(name, a):
    return _ret(name)
def needs_two(name, a, b):
    return _ret(name)
def no_name_at_all():
    return {"name": "x", "result": True, "changes": {}, "comment": ""}
def keyword_only(name, *, a=1):
    return _ret(name, comment=str(a))
def ordered(name, names_seen=None):
    return _ret(name, comment=str(names_seen))
def failing(name):
    return _ret(name, result=False, comment="failed")
def mod_watch(name, sfun=None, **kwargs):
    return _ret(name, changes={"watched": sfun}, comment="watched %s %s" % (sfun, sorted(kwargs)))
def sets(name):
    return _ret(name, changes={"a": (1, 2), "b": {3}})
def tuple_comment(name):
    return _ret(name, comment=("a", "b"))
''')
file("_states/br_unwatched.py", '''
def f(name, **kwargs):
    return {"name": name, "result": True, "changes": {}, "comment": "ran"}
''')
file("_states/br_requires.py", '''
def mod_init(low):
    raise ValueError("init broke")
def f(name):
    return {"name": name, "result": True, "changes": {}, "comment": "ran"}
''')
file("_states/br_inits_false.py", '''
COUNT = []
def mod_init(low):
    COUNT.append(1)
    return False
def f(name):
    return {"name": name, "result": True, "changes": {}, "comment": str(len(COUNT))}
''')
file("_states/br_aggregates.py", '''
def mod_aggregate(low, chunks, running):
    low["comment_"] = "aggregated %s" % len([c for c in chunks if c["state"] == "br_aggregates"])
    return low
def f(name, comment_="alone", **kwargs):
    return {"name": name, "result": True, "changes": {}, "comment": comment_}
''')
file("_states/br_refused.py", '''
def __virtual__():
    return (False, "needs the moon")
def f(name):
    pass
''')
file("_states/br_virtual.py", '''
__virtualname__ = "br_other"
def __virtual__():
    return __virtualname__
def f(name):
    return {"name": name, "result": True, "changes": {}, "comment": __name__}
''')
file("_states/br_alias.py", '''
__func_alias__ = {"is_": "is"}
def is_(name):
    return {"name": name, "result": True, "changes": {}, "comment": "alias"}
''')
file("_modules/brmod.py", '''
def count():
    __context__["count"] = __context__.get("count", 0) + 1
    return __context__["count"]
''')
PLAIN = "plain inits changed tested any_args low low_keys running running_values lowstate env calls calls_own states_known single count".split()
file("plain.sls", "".join(f"{name}:\n  brst.{name}: []\n" for name in PLAIN) + "second:\n  brst.count: []\nfile:\n  brst.calls_file:\n    - name: /nowhere/at/all\n")
call("state.sls", "plain")
WRONG = (
    "text none listed changes_list changes_text comment_list comment_none comment_map comment_number result_text result_number "
    "more_keys skip_watch raises raises_command raises_key raises_type needs needs_two no_name_at_all sets tuple_comment failing "
    "keyword_only nothing_here"
).split()
for name in WRONG:
    file(f"one_{name}.sls", f"{name}:\n  brst.{name}: []\n")
for name in WRONG:
    call("state.sls", f"one_{name}")
for name in "empty no_changes no_comment no_name exits sub_state".split():
    call("state.single", f"brst.{name}", "name=x")
file("args.sls", """
a:
  brst.args:
    - a: 1
b:
  brst.args:
    - a: 1
    - b: 3
    - c: 4
d:
  brst.any_args:
    - one: 1
    - two: 2
    - require:
      - brst: a
e:
  brst.changed:
    - name: named
    - value: 5
f:
  brst.changed:
    - names:
      - f1
      - f2:
        - value: 9
g:
  brst:
    - changed
    - value: 3
h:
  brst.is_not: []
""")
call("state.sls", "args")
file("unknown_argument.sls", "c:\n  brst.changed:\n    - valu: 5\n")
call("state.sls", "unknown_argument")
file("watch.sls", """
a:
  brst.changed: []
b:
  brst.plain:
    - watch:
      - brst: a
c:
  brst.any_args:
    - extra: 1
    - watch:
      - brst: a
d:
  br_unwatched.f:
    - watch:
      - brst: a
e:
  brst.plain:
    - onchanges:
      - brst: a
f:
  brst.plain:
    - onfail:
      - brst: a
g:
  brst.failing: []
h:
  brst.plain:
    - require:
      - brst: g
i:
  brst.plain:
    - watch_in:
      - br_unwatched: d
""")
call("state.sls", "watch")
call("state.sls", "watch", "test=True")
file("others.sls", """
a:
  br_requires.f: []
b:
  br_inits_false.f: []
c:
  br_inits_false.f: []
d:
  br_refused.f: []
e:
  br_other.f: []
f:
  br_virtual.f: []
g:
  br_alias.is: []
h:
  br_alias.is_: []
i:
  nothing_like.it: []
""")
call("state.sls", "others")
file("aggregate.sls", "a:\n  br_aggregates.f:\n    - aggregate: True\nb:\n  br_aggregates.f:\n    - aggregate: True\n")
call("state.sls", "aggregate")
call("state.single", "brst.tested", "name=x")
call("state.single", "brst.tested", "name=x", "test=True")
call("state.single", "brst.any_args", "name=x", "a=1", "b=2")
call("state.single", "brst.args", "name=x")
call("state.low", "{state: brst, fun: changed, name: lowly}")
call("sys.state_doc", "brst.plain")
call("sys.state_doc", "brst")
call("sys.state_argspec", "brst.args")
call("sys.list_state_functions", "br_alias")
call("sys.list_state_modules", "br*")
