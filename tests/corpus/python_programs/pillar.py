"""Sources of pillar: `ext_pillar(minion_id, pillar, …)` on a master, and on a host without one."""

file("pillar/top.sls", "base: {'*': [own]}\n")
file("pillar/own.sls", "{of: file, deep: {a: 1}, list: [1]}\n")
file("ext/utils/br_part.py", "def part(): return ['part', __opts__['id'], '__salt__' in globals()]\n")
file("ext/modules/br.py", "def pillar(): return dict(__pillar__)\ndef ping(): return ['pong', __grains__.get('id'), sorted(__pillar__), __opts__['__role']]\n")
file("ext/pillar/br_known.py", '''
import sys
import br_plain
NAMES = ("__salt__", "__grains__", "__pillar__", "__opts__", "__context__", "__utils__", "__proxy__", "__states__", "__ext_pillar_name__", "__runner__")
def ext_pillar(minion_id, pillar, *args, **kwargs):
    known = [name for name in NAMES if name in globals()]
    opts = [__opts__["id"], __opts__["__role"], __opts__.get("saltenv"), __opts__.get("pillarenv"), __opts__["test"] if "test" in __opts__ else "absent", __opts__.get("minion_id"), __opts__["file_client"], sorted(__opts__["pillar"]) if "pillar" in __opts__ else "no pillar", "grains" in __opts__]
    return {"known": [minion_id, sorted(pillar), list(args), kwargs, known, opts, __name__, br_plain.NAME]}
''')
file("ext/pillar/br_plain.py", "NAME = __name__\nclass ext_pillar(object): pass\n")
file("ext/pillar/br_calls.py", '''
def ext_pillar(minion_id, pillar, *args):
    def tried(call):
        try:
            return call()
        except Exception as error:
            return [type(error).__name__, str(error)]
    return {"calls": [
        __salt__["test.echo"]("x"), tried(lambda: __salt__["br.ping"]()), tried(lambda: __salt__["no.such"]), "br.ping" in __salt__,
        tried(lambda: __utils__["br_part.part"]()), tried(lambda: __salt__["grains.get"]("own", "none")), tried(lambda: __salt__["grains.get"]("id", "none")),
        tried(lambda: __salt__["pillar.get"]("of", "none")), tried(lambda: __salt__["config.get"]("id")),
        __grains__.get("own"), __grains__.get("id"), sorted(dict(__pillar__)),
    ]}
''')
file("ext/pillar/br_inplace.py", '''
def ext_pillar(minion_id, pillar, how):
    pillar["added"] = how
    pillar["deep"]["b"] = 2
    pillar["list"].append(2)
    if how == "deletes":
        del pillar["of"]
    if how == "returns":
        return pillar
    return {} if how == "empty" else None
''')
file("ext/pillar/br_value.py", '''
import collections, datetime, decimal, pathlib
def ext_pillar(minion_id, pillar, which):
    class Text(str): pass
    return {
        "none": lambda: None, "empty": lambda: {},
        "tuple": lambda: {"v": (1, (2, 3))}, "set": lambda: {"v": {1}}, 
        "bytes": lambda: {"v": b"abc"}, "latin": lambda: {"v": "\\xe9\\u20ac"},
        "order": lambda: collections.OrderedDict([("z", 1), ("a", collections.OrderedDict([("y", 1), ("b", 2)]))]),
        "default": lambda: collections.defaultdict(list, {"v": [1]}), "class": lambda: {"v": Text("t")}, 
        "keys": lambda: {1: "a", None: "b", True: "c", 2.5: "d", "1": "e"}, "nested": lambda: {"deep": {"c": 3}, "list": [9]},
        "replaces": lambda: {"of": {"a": 1}, "deep": "text"}, 
    }[which]()
''')
file("ext/pillar/br_raises.py", '''
import sys
from salt.exceptions import CommandExecutionError, SaltInvocationError
def ext_pillar(minion_id, pillar, how):
    if how == "value":
        raise ValueError("went wrong")
    if how == "command":
        raise CommandExecutionError("no command", info={"a": 1})
    if how == "key":
        return pillar["nothing"]
    if how == "type":
        len(5)
    if how == "unicode":
        raise ValueError("w\\xf6rong")
    if how == "lines":
        raise ValueError("two\\nlines")
    if how == "empty":
        raise ValueError()
''')
file("ext/pillar/br_two.py", "def ext_pillar(minion_id, pillar, a, b=2): return {'two': [a, b]}\n")
file("ext/pillar/br_none.py", "def other(): pass\n")
file("ext/pillar/br_virtual.py", "__virtualname__ = 'br_called'\ndef __virtual__(): return __virtualname__\ndef ext_pillar(minion_id, pillar, *a): return {'called': list(a)}\n")
file("ext/pillar/br_refused.py", "def __virtual__(): return (False, 'needs the moon')\ndef ext_pillar(*a): return {'refused': 1}\n")
file("ext/pillar/br_syntax.py", "def ext_pillar(*a:\n  return 1\n")
file("ext/pillar/br_import.py", "import no_such_module\ndef ext_pillar(*a): return {'i': 1}\n")
file("ext/pillar/br_counts.py", '''
COUNT = []
def ext_pillar(minion_id, pillar, key):
    COUNT.append(1)
    __context__["seen"] = __context__.get("seen", 0) + 1
    return {key: [len(COUNT), __context__["seen"]]}
''')
file("ext/pillar/br_sees.py", "def ext_pillar(minion_id, pillar, *a): return {'sees': [sorted(pillar), pillar.get('deep'), sorted(dict(__pillar__)), isinstance(pillar.get('deep', {}), dict)]}\n")
file("ext/pillar/br_opts.py", "__opts__ = {'own_option': 5}\ndef ext_pillar(minion_id, pillar, *a): return {'opts': [__opts__.get('own_option'), __opts__['id'], __opts__.get('own_setting')]}\n")
file("ext/pillar/br_writes.py", "def ext_pillar(minion_id, pillar, *a):\n    __opts__['written'] = 1\n    __grains__['written'] = 2\n    return {'wrote': 1}\n")
file("ext/pillar/br_reads.py", "def ext_pillar(minion_id, pillar, *a): return {'reads': [__opts__.get('written'), __grains__.get('written'), __salt__['grains.get']('written', 'none')]}\n")

RUNS = {
    "known": [{"br_known": ["a", 2]}, {"br_known": {"k": 1}}],
    "scalar": [{"br_known": 5}], "text": [{"br_known": "t"}], "nothing": [{"br_known": None}], "emptied": [{"br_known": []}], "emptymap": [{"br_known": {}}],
    "calls": [{"br_calls": []}],
    "inplace": [{"br_inplace": "empty"}, {"br_sees": 1}], "inplace_none": [{"br_inplace": "none"}, {"br_sees": 1}],
    "inplace_returns": [{"br_inplace": "returns"}], "inplace_deletes": [{"br_inplace": "deletes"}, {"br_sees": 1}],
    **{"value_" + which: [{"br_value": which}] for which in ("none", "empty", "tuple", "bytes", "latin", "order", "default", "class", "keys", "nested", "replaces")},
    **{"raises_" + how: [{"br_raises": how}, {"br_two": [1]}] for how in ("value", "command", "key", "type", "unicode", "lines", "empty")},
    "arguments": [{"br_two": []}, {"br_two": [1, 2, 3]}, {"br_two": {"a": 1, "c": 2}}, {"br_two": {"a": 5}}],
    "absent": [{"br_none": 1}, {"nothing_here": 1}, {"br_virtual": 1}, {"br_called": [1]}, {"br_refused": 1}, {"br_syntax": 1}, {"br_import": 1}, {"br_plain": 1}, {"br_two": [1]}],
    "counts": [{"br_counts": "first"}, {"br_counts": "second"}],
    "twice": [{"br_two": [1]}, {"br_two": [3]}],
    "sees": [{"br_two": [1]}, {"br_sees": 1}], "opts": [{"br_opts": 1}], "writes": [{"br_writes": 1}, {"br_reads": 1}],
    "malformed": ["br_two", {"br_two": [1]}], "malformed_last": [{"br_two": [1]}, 5],
}
for name, sources in RUNS.items():
    master(ext_pillar=sources, own_setting=1)
    show("salt-run", "pillar.show_pillar", "m1")
    minion(ext_pillar=sources, own_setting=1)
    call("br.pillar")
master(ext_pillar=[{"br_two": [1]}, {"br_known": 1}], ext_pillar_first=True)
show("salt-run", "pillar.show_pillar", "m1")
master(ext_pillar_first=None, ext_pillar=[{"br_known": 1}], pillarenv_from_saltenv=True)
show("salt-run", "pillar.show_pillar", "m1", "saltenv=base")
show("salt-run", "pillar.show_pillar", "m1", "pillarenv=base")
minion(ext_pillar=[{"br_known": 1}])
call("br.pillar")
call("pillar.ext", "{'br_two': [7]}")
call("pillar.get", "two")
call("state.single", "test.nop", "name={{ pillar['known'] }}")
call("slsutil.renderer", "string={{ pillar['known'][0] }}")
