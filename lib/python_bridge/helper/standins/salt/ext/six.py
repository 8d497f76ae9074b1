"""What plugins use of `six`."""

import builtins
import functools
import importlib
import importlib.abc
import importlib.machinery
import io
import operator
import struct
import sys
import types

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


#: Where the names of `six.moves` are: a module, or `module:name`. They are imported when they are first used.
_MOVES = {
    "builtins": "builtins",
    "cStringIO": "io:StringIO",
    "StringIO": "io:StringIO",
    "configparser": "configparser",
    "copyreg": "copyreg",
    "cPickle": "pickle",
    "filter": "builtins:filter",
    "filterfalse": "itertools:filterfalse",
    "getcwd": "os:getcwd",
    "html_entities": "html.entities",
    "html_parser": "html.parser",
    "http_client": "http.client",
    "http_cookiejar": "http.cookiejar",
    "http_cookies": "http.cookies",
    "input": "builtins:input",
    "intern": "sys:intern",
    "map": "builtins:map",
    "queue": "queue",
    "range": "builtins:range",
    "reduce": "functools:reduce",
    "reload_module": "importlib:reload",
    "reprlib": "reprlib",
    "shlex_quote": "shlex:quote",
    "socketserver": "socketserver",
    "UserDict": "collections:UserDict",
    "UserList": "collections:UserList",
    "UserString": "collections:UserString",
    "urllib": "urllib",
    "urllib_parse": "urllib.parse",
    "xmlrpc_client": "xmlrpc.client",
    "xrange": "builtins:range",
    "zip": "builtins:zip",
    "zip_longest": "itertools:zip_longest",
    "BaseHTTPServer": "http.server",
}
#: `six.moves.urllib` has these, as its `parse` and so on.
_URLLIB = ("error", "parse", "request", "response", "robotparser")


class _Moves(types.ModuleType):
    """`six.moves`."""

    def __getattr__(self, name):
        if name not in _MOVES:
            raise AttributeError("module %r has no attribute %r" % (self.__name__, name))
        module, _, attribute = _MOVES[name].partition(":")
        value = importlib.import_module(module)
        if name == "urllib":
            for part in _URLLIB:
                importlib.import_module("urllib.%s" % part)
        if attribute:
            value = getattr(value, attribute)
        setattr(self, name, value)
        return value


class _MovedModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports `six.moves.urllib.parse` and the like: the modules themselves, under another name."""

    def find_spec(self, name, path=None, target=None):
        before, dot, moved = name.partition(".moves.")
        if not dot or before not in (__name__, "six"):
            return None
        known = moved in _MOVES and ":" not in _MOVES[moved]
        if not known and not (moved.startswith("urllib.") and moved[len("urllib."):] in _URLLIB):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        moved = module.__name__.partition(".moves.")[2]
        getattr(moves, moved.partition(".")[0])
        sys.modules[module.__name__] = importlib.import_module(_MOVES.get(moved, moved))


moves = _Moves(__name__ + ".moves")
moves.__path__ = []
for _own in (__name__, "six"):
    sys.modules.setdefault(_own + ".moves", moves)
# Before the finder that refuses what has no stand-in.
sys.meta_path.insert(0, _MovedModules())
__path__ = []
