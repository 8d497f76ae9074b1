"""Functions made of functions."""

import types


def namespaced_function(function, global_dict, defaults=None, preserve_context=None):
    """A copy of a function that has other globals. A function of the minion stays what it is."""
    if not isinstance(function, types.FunctionType):
        return function
    names = dict(function.__globals__)
    names.update(global_dict)
    copy = types.FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)
    copy.__dict__.update(function.__dict__)
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__module__ = global_dict.get("__name__", function.__module__)
    return copy


def alias_function(fun, name, doc=None):
    """The function under another name."""
    if not isinstance(fun, types.FunctionType):
        return fun
    copy = types.FunctionType(fun.__code__, fun.__globals__, name, fun.__defaults__, fun.__closure__)
    copy.__dict__.update(fun.__dict__)
    copy.__kwdefaults__ = fun.__kwdefaults__
    copy.__module__ = fun.__module__
    copy.__doc__ = doc if isinstance(doc, str) else (
        "\nThis function is an alias of ``%s``.\n%s" % (fun.__name__, fun.__doc__ or "")
    )
    return copy


def call_function(salt_function, *args, **kwargs):
    return salt_function(*args, **kwargs)


def parse_function(function_arguments):
    args = [arg for arg in function_arguments if not isinstance(arg, dict)]
    kwargs = {}
    for arg in function_arguments:
        if isinstance(arg, dict):
            kwargs.update(arg)
    return args, kwargs
