"""Rules 14 to 16: the words of a call, what does not fit, and the return code."""

file("_modules/br.py", '''
def nopub(a):
    return a
def documented(a, b=2):
    """
    Adds.

    CLI Example:

    .. code-block:: bash

        salt '*' br.documented 1
    """
    return [a, b]
def echo(*args):
    return list(args)
def pair(a, b=None):
    return [a, b, type(a).__name__]
def keyed(**kwargs):
    return {key: value for key, value in kwargs.items() if not key.startswith("__pub_")}
def pub(**kwargs):
    return sorted(kwargs)
def pubs(a, **kwargs):
    return [a, kwargs["__pub_fun"], kwargs["__pub_arg"], kwargs["__pub_tgt"], kwargs["__pub_tgt_type"], kwargs["__pub_ret"], kwargs["__pub_user"] != "", len(kwargs["__pub_jid"])]
def only(a, *, c=3, d):
    return [a, c, d]
def strict(a, *, c):
    return [a, c]
def typed(count: int, name: str = "x") -> list:
    return [count, type(count).__name__, name]
def code():
    __context__["retcode"] = 3
    return "fine"
def code_zero():
    __context__["retcode"] = 0
    return False
def code_raise():
    __context__["retcode"] = 4
    raise ValueError("went wrong")
def code_text():
    __context__["retcode"] = 5
    return {"result": False}
def false():
    return False
def refused():
    return {"result": False, "comment": "no"}
def succeeded():
    return {"success": False}
def nothing():
    pass
def inner_type():
    """Help of inner."""
    return len(5)
def default(a=[1, {"b": 2}], t=(1, 2)):
    return [a, type(t).__name__]
def wide(a, b, c=1, *rest, **more):
    return [a, b, c, list(rest), sorted(key for key in more if not key.startswith("__pub_"))]
''')
call("br.echo", "012", "null", "[1]", "1.0", "'5'", "yes", "1e3", "0x1F", "{a: 1}", "", "a b", "2024-01-01")
call("br.echo", "~", "True", "off", "#x", "a#b", "1_000", "-1", "!x", "*a", "&a", "a: 1", "@x", "%x")
call("br.keyed", "a=1", "b=[1, 2]", "c={d: e}", "e=", "f=null", "g='1'")
call("br.echo", "a=1")
call("br.pair", "a=1", "b=2")
call("br.pair", "1", "b=x=y")
call("br.pair", "5")
call("br.nopub", "1", "c=3")
call("br.nopub", "c=3", "d=x")
call("br.nopub")
call("br.nopub", "1", "2")
call("br.nopub", "1", "a=2")
call("br.documented")
call("br.documented", "1", "2", "3")
call("br.documented", "1", "x=2")
call("br.documented", "b=3")
call("br.pub")
call("br.pubs", "7")
call("br.only", "1", "d=4")
call("br.only", "1")
call("br.strict", "1", "2")
call("br.strict", "1", "c=2")
call("br.typed", "five")
call("br.typed", "5", "name=3")
call("br.code")
call("br.code_zero")
call("br.code_raise")
call("br.code_text")
call("br.false")
call("br.refused")
call("br.succeeded")
call("br.nothing")
call("br.inner_type")
call("br.default")
call("br.wide", "1", "2", "3", "4", "z=5")
call("br.wide", "1")
call("br.wide", "1", "b=2", "c=3", "d=4")
call("br")
call("br.")
call("br.nothing_here")
call("nothing.here")
