"""What plugins use of `six`."""

import builtins
import collections
import collections.abc
import copyreg
import functools
import html
import html.entities
import html.parser
import http.client
import http.cookiejar
import http.cookies
import http.server
import importlib
import io
import itertools
import operator
import pickle
import queue
import reprlib
import shlex
import socketserver
import struct
import sys
import types
import urllib
import urllib.error
import urllib.parse
import urllib.request
import urllib.response
import urllib.robotparser
import xmlrpc.client

PY2 = False
PY3 = True
PY34 = True
MAXSIZE = sys.maxsize
string_types = (str,)
integer_types = (int,)
class_types = (type,)
text_type = str
binary_type = bytes
unichr = chr
StringIO = io.StringIO
BytesIO = io.BytesIO
Iterator = object
get_unbound_function = lambda unbound: unbound
get_method_function = operator.attrgetter("__func__")
get_method_self = operator.attrgetter("__self__")
get_function_closure = operator.attrgetter("__closure__")
get_function_code = operator.attrgetter("__code__")
get_function_defaults = operator.attrgetter("__defaults__")
get_function_globals = operator.attrgetter("__globals__")
int2byte = struct.Struct(">B").pack
byte2int = operator.itemgetter(0)
indexbytes = operator.getitem
iterbytes = iter
next = advance_iterator = builtins.next
callable = builtins.callable
exec_ = builtins.exec
print_ = builtins.print
wraps = functools.wraps
viewkeys = operator.methodcaller("keys")
viewvalues = operator.methodcaller("values")
viewitems = operator.methodcaller("items")


def iterkeys(mapping, **kwargs):
    return iter(mapping.keys(**kwargs))


def itervalues(mapping, **kwargs):
    return iter(mapping.values(**kwargs))


def iteritems(mapping, **kwargs):
    return iter(mapping.items(**kwargs))


def iterlists(mapping, **kwargs):
    return iter(mapping.lists(**kwargs))


def b(text):
    return text.encode("latin-1")


def u(text):
    return text


def ensure_binary(value, encoding="utf-8", errors="strict"):
    return value.encode(encoding, errors) if isinstance(value, str) else value


def ensure_str(value, encoding="utf-8", errors="strict"):
    return value.decode(encoding, errors) if isinstance(value, bytes) else value


ensure_text = ensure_str


def reraise(kind, value, tb=None):
    if value is None:
        value = kind()
    raise value.with_traceback(tb)


def raise_from(value, cause):
    raise value from cause


def with_metaclass(meta, *bases):
    return meta("temporary_class", bases or (object,), {})


def add_metaclass(metaclass):
    def decorate(cls):
        names = {name: value for name, value in cls.__dict__.items() if name not in ("__dict__", "__weakref__")}
        return metaclass(cls.__name__, cls.__bases__, names)

    return decorate


def python_2_unicode_compatible(cls):
    return cls


def _module(name, **names):
    module = types.ModuleType("%s.%s" % (__name__, name))
    module.__dict__.update(names)
    module.__path__ = []
    for own in (__name__, "six"):
        sys.modules.setdefault("%s.%s" % (own, name), module)
    return module


moves = _module(
    "moves",
    builtins=builtins,
    cStringIO=io.StringIO,
    StringIO=io.StringIO,
    configparser=importlib.import_module("configparser"),
    copyreg=copyreg,
    cPickle=pickle,
    filter=builtins.filter,
    filterfalse=itertools.filterfalse,
    getcwd=importlib.import_module("os").getcwd,
    html_entities=html.entities,
    html_parser=html.parser,
    http_client=http.client,
    http_cookiejar=http.cookiejar,
    http_cookies=http.cookies,
    input=builtins.input,
    intern=sys.intern,
    map=builtins.map,
    queue=queue,
    range=builtins.range,
    reduce=functools.reduce,
    reload_module=importlib.reload,
    reprlib=reprlib,
    shlex_quote=shlex.quote,
    socketserver=socketserver,
    UserDict=collections.UserDict,
    UserList=collections.UserList,
    UserString=collections.UserString,
    urllib=urllib,
    xmlrpc_client=xmlrpc.client,
    xrange=builtins.range,
    zip=builtins.zip,
    zip_longest=itertools.zip_longest,
    BaseHTTPServer=http.server,
)
for _name, _found in (
    ("builtins", builtins),
    ("configparser", moves.configparser),
    ("http_client", http.client),
    ("queue", queue),
    ("urllib", urllib),
    ("urllib.parse", urllib.parse),
    ("urllib.request", urllib.request),
    ("urllib.error", urllib.error),
    ("urllib_parse", urllib.parse),
    ("xmlrpc_client", xmlrpc.client),
):
    for _own in (__name__, "six"):
        sys.modules.setdefault("%s.moves.%s" % (_own, _name), _found)
__path__ = []
