"""Rules 18 and 19: the values that a function returns."""

file("_modules/br.py", '''
import collections, datetime, decimal, enum, fractions, pathlib, types
from salt.utils.odict import OrderedDict
class N(enum.IntEnum):
    ONE = 1
class C(enum.Enum):
    RED = "red"
class S(str):
    pass
class L(list):
    pass
class D(dict):
    pass
class I(int):
    pass
class T(tuple):
    pass
class Own:
    pass
P = collections.namedtuple("P", "a b")
def scalars():
    return [None, True, False, 0, -1, 2 ** 31, 2 ** 63 - 1, -(2 ** 63), 1.5, -0.0, 1e300, "", "\\u00e4", "\\U0001f600"]
def large():
    return [2 ** 63, 2 ** 64 - 1, 2 ** 64, 2 ** 70, -(2 ** 70)]
def keys():
    return {1: "a", "1": "b", None: "c", True: "d", 1.5: "e"}
def tuples():
    return [(1, 2), (), ((1,), [2]), P(1, 2), T((1, 2))]
def sets():
    return [{3}, set()]
def subclasses():
    return [N.ONE, S("s"), L([1]), D(a=1), I(5), OrderedDict([("b", 1), ("a", 2)]), collections.defaultdict(int, x=1), collections.Counter("aab")]
def chain():
    return collections.ChainMap({"a": 1}, {"b": 2})
def raw():
    return [b"abc", b"\\xff", bytearray(b"x"), memoryview(b"y")]
def times():
    return [datetime.datetime(2024, 1, 2, 3, 4, 5, 6), datetime.date(2024, 1, 2)]
def zone():
    return datetime.datetime(2024, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc)
def infinite():
    return [float("inf"), float("-inf")]
def generated():
    yield {"a": 1}
    yield {"b": 2}
def generated_list():
    yield 1
    yield "two"
def generated_mixed():
    yield {"a": 1}
    yield 2
def generated_none():
    return
    yield
def nested():
    return {"a": [{"b": ({"c": {1}},)}]}
def text_lines():
    return "a\\nb\\n"
def true():
    return True
def empty_map():
    return {}
def frozen():
    return frozenset([1])
def ranged():
    return range(3)
def mapped():
    return map(str, [1, 2])
def zipped():
    return zip([1], [2])
def view():
    return {"a": 1}.keys()
def views():
    return [{"a": 1}.values(), {"a": 1}.items()]
def queue():
    return collections.deque([1])
def delta():
    return datetime.timedelta(1)
def clock():
    return datetime.time(1, 2)
def exact():
    return {"a": [decimal.Decimal("1.5")]}
def fraction():
    return fractions.Fraction(1, 2)
def path():
    return pathlib.Path("/a")
def colour():
    return C.RED
def complex_():
    return 1j
def exception():
    return ValueError("x")
def kind():
    return Own
def own():
    return [Own()]
def function():
    return {"f": len}
def proxy():
    return types.MappingProxyType({"a": 1})
def surrogate():
    return "\\ud800"
def pair_key():
    return {(1, 2): 3}
def bytes_key():
    return {b"k": 1}
def not_implemented():
    return NotImplemented
def ellipsis():
    return ...
async def coroutine():
    return 1
def recursive():
    value = []
    value.append(value)
    return value
def module():
    return types
def userdict():
    return collections.UserDict(a=1)
def userlist():
    return collections.UserList([1])
def grains():
    return __grains__ is not None and {"own": __grains__["own"]}
def dunder():
    return [type(__opts__).__name__ != "", __opts__["id"]]
''')
for name in (
    "scalars large keys tuples sets subclasses chain raw times zone infinite generated generated_list generated_mixed "
    "generated_none nested text_lines true empty_map frozen ranged mapped zipped view views queue delta clock exact fraction "
    "path colour complex_ exception kind own function proxy surrogate pair_key bytes_key not_implemented ellipsis coroutine "
    "recursive module userdict userlist grains dunder"
).split():
    lost(f"br.{name}")
