"""Values with their types in JSON: the recording scripts write them, and tests/support reads them."""


def typed(value, other=None):
    """`null`, `b:true`, `i:1`, `f:1.5`, `s:text`, `y:bytes`, `["L", …]` for lists, tuples and (sorted) sets, `["M", [key, value], …]`.

    `other` converts a value of another type."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return f"b:{str(value).lower()}"
    if isinstance(value, int):
        return f"i:{value}"
    if isinstance(value, float):
        return f"f:{value!r}"
    if isinstance(value, str):
        # Also for a subclass that prints differently.
        return "s:" + "".join(value)
    if isinstance(value, bytes):
        return "y:" + value.decode("latin-1")
    if hasattr(value, "items"):
        return ["M", *([typed(key, other), typed(item, other)] for key, item in value.items())]
    if isinstance(value, (list, tuple, set, frozenset)):
        items = sorted(value) if isinstance(value, (set, frozenset)) else value
        return ["L", *(typed(item, other) for item in items)]
    if other is None:
        raise TypeError(type(value))
    return other(value)
