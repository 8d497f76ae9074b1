"""Rules 20 to 23: the names that a plugin finds in its module."""

pillar({"key": "secret", "br": {"key": "v", "list": [1, 2]}})
option("br_own", {"a": 1})
option("br:colon", "colons")
NAMES = (
    "__salt__ __grains__ __pillar__ __opts__ __context__ __utils__ __proxy__ __states__ __runner__ __runners__ __env__ __low__ __ret__ "
    "__running__ __lowstate__ __instance_id__ __jid_event__ __executors__ __serializers__ __file_client__ __salt_system_encoding__ __virtualname__ "
    "__events__ __returners__ __modules__ __fileclient__ __master_opts__ __sdb__"
).split()
KNOWN = f"NAMES = {NAMES!r}\ndef known(*args, **kwargs):\n    return [name for name in NAMES if name in globals()]\n"
file("_modules/br_known.py", KNOWN)
file("_utils/br_util.py", KNOWN + '''
def twice(n):
    return 2 * n
def ping():
    return __salt__["test.ping"]()
def who():
    return [__opts__["id"], __grains__["own"], __pillar__.get("key"), __name__]
def mark():
    __context__["mark"] = __context__.get("mark", 0) + 1
    return __context__["mark"]
''')
file("_states/br_state.py", KNOWN + '''
def told(name, **kwargs):
    return {"name": name, "result": True, "changes": {}, "comment": " ".join(known())}
''')
file("_returners/br_ret.py", KNOWN)
file("_grains/br_grains.py", KNOWN + '''
def facts(grains):
    names = known()
    return {"br_known": names, "br_kernel": grains["kernel"], "br_id": __opts__["id"], "br_name": __name__, "br_grains_in_opts": "grains" in __opts__}
def proxied(proxy):
    return {"br_proxy": proxy if isinstance(proxy, (dict, type(None))) else type(proxy).__name__}
def nothing():
    return None
def text():
    return "text"
def nested():
    return {"br_deep": {"a": {"b": 1}}}
def more():
    return {"br_deep": {"a": {"c": 2}}}
''')
file("_grains/br_later.py", '''
def facts(grains):
    return {"br_sees": grains.get("br_id")}
''')
file("_modules/br.py", '''
import copy
try:
    EARLY = __salt__
except NameError as error:
    EARLY = str(error)
__opts__ = {"br_more": 5, "id": "overridden"}
from salt.exceptions import CommandExecutionError, SaltInvocationError
def early():
    return EARLY
def get():
    return [__salt__.get("test.ping")(), __salt__.get("no.such", "default"), __salt__.get("no.such")]
def contains():
    return ["test.ping" in __salt__, "no.such" in __salt__, "br.get" in __salt__, "test" in __salt__, "" in __salt__]
def iterates():
    return [name for name in __salt__ if name.startswith("br.")] != [] and "test.ping" in list(__salt__)
def keys():
    return ["br.get" in __salt__.keys(), "cmd.run" in __salt__.keys()]
def items():
    return sorted(name for name, fun in __salt__.items() if name.startswith("br_known") and callable(fun))
def length():
    return len(__salt__) > 100
def attribute():
    return [__salt__.test.ping(), __salt__.br.pong(1, b=2)]
def attribute_absent():
    try:
        return __salt__.test.no_such()
    except Exception as error:
        return [type(error).__name__, str(error)]
def module_absent():
    try:
        return __salt__.nothing_of_it.f()
    except Exception as error:
        return [type(error).__name__, str(error)]
def absent():
    try:
        return __salt__["no.such"]
    except KeyError as error:
        return [type(error).__name__, str(error)]
def absent_raised():
    return __salt__["no.such"]()
def names():
    return [__salt__["br.pong"].__name__, __salt__["test.echo"].__name__, __salt__["br.pong"].__doc__]
def doc():
    return "Return a text" in (__salt__["test.echo"].__doc__ or "") or "echo" in (__salt__["test.echo"].__doc__ or "")
def pong(a, b=None):
    """Pongs."""
    return [a, b]
def kind_of(value):
    return type(value).__name__
def not_packed():
    return [__salt__["br.kind_of"]((1, 2)), __salt__["br_second.kind_of"]({1}), __salt__["br_second.kind_of"](lambda: 1)]
def shared():
    value = [1]
    __salt__["br_second.append"](value)
    return value
def catches():
    found = []
    for name, args in (("br_second.command", []), ("br_second.value", []), ("br_second.own", []), ("file.remove", ["relative"]), ("test.exception", ["text"]), ("cmd.run_all", []), ("test.echo", ["x"])):
        try:
            found.append(str(__salt__[name](*args)))
        except Exception as error:
            found.append([type(error).__name__, isinstance(error, CommandExecutionError), isinstance(error, SaltInvocationError), getattr(error, "info", None) is not None])
    return found
def info():
    try:
        __salt__["br_second.info"]()
    except CommandExecutionError as error:
        return [str(error), error.info, error.message, error.strerror]
def grains_change():
    __grains__["own"] = "changed"
    __grains__["new"] = {"a": 1}
    return [__salt__["grains.get"]("own"), __salt__["grains.get"]("new:a"), __salt__["br_second.grain"]("own"), __opts__["grains"]["own"]]
def grains_kept():
    return [__grains__["own"], "new" in __grains__]
def opts():
    return [__opts__["id"], __opts__["test"], __opts__["br_own"], __opts__["br_more"], "grains" in __opts__, "pillar" in __opts__, __opts__["__role"], __opts__["file_client"]]
def opts_second():
    return __salt__["br_second.opts"]()
def opts_copy():
    copied = copy.deepcopy(__opts__)
    copied["br_own"]["a"] = 2
    shallow = dict(__opts__)
    __opts__["br_written"] = True
    return [__opts__["br_own"]["a"], copied["br_own"]["a"], shallow["br_own"]["a"], __opts__["br_written"], __opts__.get("br_absent")]
def opts_kept():
    return ["br_written" in __opts__]
def opts_config():
    return [__salt__["config.get"]("br_own:a"), __salt__["config.option"]("br:colon"), __salt__["config.get"]("br:colon"), __salt__["config.get"]("own"), __salt__["config.get"]("nowhere")]
def pillars():
    return [__pillar__["key"], __pillar__["br"], __salt__["pillar.get"]("key"), __salt__["pillar.get"]("br:list"), __opts__["pillar"]["key"], __pillar__.get("no", 1)]
def pillar_change():
    __pillar__["key"] = "changed"
    return [__pillar__["key"], __salt__["br_second.pillar"]("key")]
def context():
    __context__["n"] = __context__.get("n", 0) + 1
    return __context__["n"]
def context_shared():
    __context__["shared"] = "x"
    return [__salt__["br_second.context"]("shared"), __salt__["br_second.context"]("absent"), __utils__["br_util.mark"](), __utils__["br_util.mark"](), __context__.get("mark")]
def utils():
    return [__utils__["br_util.twice"](4), "br_util.twice" in __utils__, "br_util.nothing" in __utils__, __utils__["br_util.ping"](), __utils__["br_util.who"](), callable(__utils__["files.fopen"])]
def utils_known():
    return __utils__["br_util.known"]()
def utils_absent():
    try:
        return __utils__["br_util.nothing"]
    except KeyError as error:
        return str(error)
def proxy():
    return [bool(__proxy__), type(__proxy__).__name__ in ("dict", "NamedLoaderContext", "LazyLoader")]
def self_reference():
    return __salt__["br.pong"] is pong
def dotted_none():
    return __salt__["test.echo"](None)
def keyword():
    return __salt__["test.kwarg"](a=1, b=[1])
def named():
    return [__name__, __file__.rsplit("/", 2)[-2:]]
def in_thread():
    import threading
    got = []
    thread = threading.Thread(target=lambda: got.append(__name__))
    thread.start()
    thread.join()
    return got
def slots():
    return __salt__["test.arg"](1, "a", b=2)
def sorted_bool():
    return [bool(__salt__), bool(__grains__), bool(__context__)]
''')
file("_modules/br_second.py", '''
from salt.exceptions import CommandExecutionError
class Own(Exception):
    pass
def kind_of(value):
    return type(value).__name__
def append(value):
    value.append(2)
def command():
    raise CommandExecutionError("of another")
def info():
    raise CommandExecutionError("of another", info={"a": 1})
def value():
    raise ValueError("v")
def own():
    raise Own("o")
def grain(name):
    return __grains__.get(name)
def pillar(name):
    return __pillar__.get(name)
def context(name):
    return __context__.get(name)
def opts():
    return [__opts__["id"], "br_more" in __opts__]
''')
call("saltutil.sync_all", "refresh=False")
call("saltutil.refresh_grains")
for name in (
    "early get contains iterates keys items length attribute attribute_absent module_absent absent absent_raised names doc "
    "not_packed shared catches info grains_change grains_kept opts opts_second opts_copy opts_kept opts_config pillars pillar_change "
    "context context context_shared utils utils_known utils_absent proxy self_reference dotted_none keyword named in_thread slots sorted_bool"
).split():
    call(f"br.{name}")
call("br_known.known")
call("state.single", "br_state.told", "name=x")
call("grains.item", "br_known", "br_kernel", "br_id", "br_name", "br_grains_in_opts", "br_proxy", "br_deep", "br_sees")
