"""Rule 26: executors, matchers, drivers of sdb, serializers, returners, and what is told of those that are not there."""

option("stored", {"driver": "br_sdb", "prefix": "p_"})
file("_executors/br_exec.py", '''
def execute(opts, data, func, args, kwargs):
    return ["br_exec", opts["id"], data["fun"], func.__name__, list(args), sorted(k for k in kwargs if k[:2] != "__"), func(*args, **kwargs)]
''')
file("_executors/br_none.py", '''
def execute(opts, data, func, args, kwargs):
    __context__["seen"] = data.get("executor_opts")
    return None
''')
file("_executors/br_known.py", '''
NAMES = ("__salt__", "__grains__", "__pillar__", "__opts__", "__context__", "__utils__", "__states__", "__executors__", "__proxy__")
def execute(opts, data, func, args, kwargs):
    return [[name for name in NAMES if name in globals()], __name__, data["tgt"], data["tgt_type"], isinstance(data["arg"], list), sorted(set(data) & {"jid", "fun", "arg", "tgt", "user", "ret", "module_executors"})]
''')
file("_executors/br_refuses.py", '''
from salt.exceptions import CommandExecutionError
def execute(opts, data, func, args, kwargs):
    raise CommandExecutionError("not now")
''')
file("_executors/br_raises.py", '''
def execute(opts, data, func, args, kwargs):
    raise ValueError("went wrong")
''')
file("_executors/br_virtual.py", '''
def __virtual__():
    return (False, "needs the moon")
def execute(opts, data, func, args, kwargs):
    return 1
''')
file("_executors/br_named.py", '''
__virtualname__ = "br_called"
def __virtual__():
    return __virtualname__
def execute(opts, data, func, args, kwargs):
    return "called"
''')
file("_executors/br_changes.py", '''
def execute(opts, data, func, args, kwargs):
    return func(*["changed"] + list(args), **kwargs)
''')
file("_modules/br.py", '''
def echo(*args, **kwargs):
    return [list(args), sorted(k for k in kwargs if k[:2] != "__")]
def code():
    __context__["retcode"] = 3
    return "fine"
def nothing():
    pass
''')
file("_matchers/br_match.py", '''
NAMES = ("__salt__", "__grains__", "__pillar__", "__opts__", "__context__", "__utils__", "__proxy__")
def match(tgt, opts=None, minion_id=None):
    return tgt == "yes" and __opts__["id"] == "m1" and __opts__["grains"]["own"] == "grain"
''')
file("_matchers/br_raise_match.py", '''
def match(tgt, opts=None, minion_id=None):
    raise ValueError("went wrong")
''')
file("_matchers/br_truth_match.py", '''
def match(tgt, opts=None, minion_id=None):
    return tgt
''')
file("_sdb/br_sdb.py", '''
KEPT = {}
def get(key, profile=None):
    return [key, profile["prefix"], KEPT.get(key)]
def set_(key, value, profile=None):
    KEPT[key] = value
    return True
__func_alias__ = {"set_": "set"}
''')
file("_serializers/br_ser.py", '''
def serialize(obj, **options):
    return "serialized %s %s" % (sorted(obj), sorted(options))
def deserialize(stream, **options):
    return {"read": stream if isinstance(stream, str) else stream.decode()}
''')
file("_returners/br_ret.py", '''
def returner(ret):
    with open("/dev/null", "w") as file:
        file.write(ret["id"])
def get_fun(fun):
    return {"fun": fun}
def get_jid(jid):
    return {"jid": jid}
''')
call("br.echo", "1", "a=2", executors=["br_exec"])
call("test.echo", "x", executors=["br_exec"])
call("test.echo", "x", executors="br_exec")
call("test.echo", "x", executors=["br_none", "direct_call", "br_exec"])
call("test.echo", "x", executors=["br_none"])
call("test.echo", "x", executors=["br_known"])
call("test.echo", "x", executors=["br_refuses"])
call("test.echo", "x", executors=["br_raises"])
call("test.echo", "x", executors=["br_virtual"])
call("test.echo", "x", executors=["nobody"])
call("test.echo", "x", executors=["br_named"])
call("test.echo", "x", executors=["br_called"])
call("test.arg", "x", executors=["br_changes"])
call("br.code", executors=["br_exec"])
call("br.nothing", executors=["br_none", "direct_call"])
call("br.nothing", "1", executors=["br_exec"])
call("nothing.here", executors=["br_exec"])
call("test.echo", "x", executors={"a": 1})
file("top.sls", """
base:
  'yes':
    - match: br
    - a
  'no':
    - match: br
    - b
  'truth':
    - match: br_truth
    - c
  '*':
    - d
""")
call("state.show_top")
file("top.sls", "base:\n  'x':\n    - match: br_raise\n    - a\n  '*':\n    - d\n")
call("state.show_top")
call("sdb.get", "sdb://stored/k")
call("sdb.set", "sdb://stored/k", "v")
call("config.get", "stored:prefix")
call("slsutil.serialize", "br_ser", "{a: 1}")
call("slsutil.deserialize", "br_ser", "text")
call("sys.list_returner_functions", "br_ret")
