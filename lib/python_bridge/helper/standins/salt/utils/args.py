"""Arguments of functions."""

import collections
import copy
import inspect
import re
import shlex

import salt.exceptions

KWARG_REGEX = re.compile(r"^([^\d\W][\w.-]*)=(?!=)(.*)$", re.UNICODE)
_ArgSpec = collections.namedtuple("ArgSpec", "args varargs keywords defaults")


def clean_kwargs(**kwargs):
    """The arguments without those that begin with two underscores."""
    return {key: value for key, value in kwargs.items() if not key.startswith("__")}


def invalid_kwargs(invalid_kwargs, raise_exc=True):
    words = ["%s=%s" % item for item in invalid_kwargs.items()] if isinstance(invalid_kwargs, dict) else invalid_kwargs
    text = "The following keyword arguments are not valid: %s" % ", ".join(words)
    if raise_exc:
        raise salt.exceptions.SaltInvocationError(text)
    return text


def yamlify_arg(arg):
    import salt.utils.yaml

    if not isinstance(arg, str) or arg.strip() == "" or "#" in arg or "_" in arg and re.fullmatch(r"[\d_]+", arg):
        return arg
    try:
        value = salt.utils.yaml.safe_load(arg)
    except Exception:
        return arg
    return arg if value is None and arg.lower() not in ("null", "none", "~") else value


def parse_kwarg(string_):
    found = KWARG_REGEX.match(string_) if isinstance(string_, str) else None
    return found.groups() if found else (None, None)


def parse_input(args, condition=True, no_parse=None):
    given, kwargs = [], {}
    for arg in args:
        name, value = parse_kwarg(arg)
        if name:
            kwargs[name] = value if name in (no_parse or ()) else yamlify_arg(value)
        else:
            given.append(yamlify_arg(arg))
    return condition_input(given, kwargs) if condition else (given, kwargs)


def condition_input(args, kwargs):
    given = list(args)
    if kwargs:
        given.append(dict(kwargs, __kwarg__=True))
    return given


def get_function_argspec(func, is_class_method=None):
    """The names and defaults of a function's parameters."""
    if not callable(func):
        raise TypeError("%s is not a callable" % func)
    parameters = inspect.signature(inspect.unwrap(func)).parameters.values()
    usual = [one for one in parameters if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)]
    names = [one.name for one in usual]
    defaults = tuple(one.default for one in usual if one.default is not one.empty)
    rest = {one.kind: one.name for one in parameters}
    if is_class_method:
        del names[0]
    Kind = inspect.Parameter
    return _ArgSpec(names, rest.get(Kind.VAR_POSITIONAL), rest.get(Kind.VAR_KEYWORD), defaults or None)


def arg_lookup(fun, aspec=None):
    spec = aspec or get_function_argspec(fun)
    defaults = spec.defaults or ()
    split = len(spec.args) - len(defaults)
    return {"kwargs": dict(zip(spec.args[split:], defaults)), "args": spec.args[:split]}


def argspec_report(functions, module=""):
    report = {}
    for name in functions:
        if name == module or name.startswith(module.rstrip(".") + "."):
            spec = get_function_argspec(functions[name])
            report[name] = {
                "args": spec.args or None,
                "defaults": spec.defaults or None,
                "varargs": True if spec.varargs else None,
                "kwargs": True if spec.keywords else None,
            }
    return report


def shlex_split(s, **kwargs):
    return shlex.split(s, **kwargs) if isinstance(s, str) else s


def split_input(val, mapper=None):
    given = val if isinstance(val, list) else [part.strip() for part in str(val).split(",")]
    return [mapper(item) for item in given] if mapper else given


def test_mode(**kwargs):
    for name in kwargs:
        if name.lower() == "test":
            import salt.utils.data

            return salt.utils.data.is_true(kwargs[name])
    return False


test_mode.__test__ = False


def format_call(fun, data, initial_ret=None, expected_extra_kws=(), is_class_method=None):
    """The arguments for a function from a map."""
    ret = copy.copy(initial_ret) if initial_ret is not None else {}
    spec = get_function_argspec(fun, is_class_method)
    known = arg_lookup(fun, spec)
    data = dict(data)
    ret.setdefault("args", [])
    ret.setdefault("kwargs", {})
    kwargs = {name: data.pop(name, default) for name, default in known["kwargs"].items()}
    missing = [name for name in known["args"] if name not in data]
    if missing:
        raise salt.exceptions.SaltInvocationError(
            "%s takes at least %d arguments (%d given)" % (fun.__name__, len(known["args"]), len(known["args"]) - len(missing))
        )
    ret["args"] = [data.pop(name) for name in known["args"]]
    ret["kwargs"].update(kwargs)
    if spec.keywords:
        ret["kwargs"].update(data)
    return ret


def parse_function(s):
    """`fun(a, b=1)` as name, arguments and keyword arguments."""
    name, bracket, rest = s.partition("(")
    if not bracket or not rest.rstrip().endswith(")"):
        return None, None, None
    words = shlex.shlex(rest.rstrip()[:-1], posix=False)
    words.whitespace, words.whitespace_split = ",", True
    args, kwargs = [], {}
    for word in (word.strip() for word in words):
        key, value = parse_kwarg(word)
        if key:
            kwargs[key] = yamlify_arg(value)
        elif word:
            args.append(yamlify_arg(word))
    return name.strip(), args, kwargs


def prepare_kwargs(all_kwargs, class_init_kwargs):
    own = {name: value for name, value in all_kwargs.items() if name in class_init_kwargs}
    return own, {name: value for name, value in all_kwargs.items() if name not in own}
