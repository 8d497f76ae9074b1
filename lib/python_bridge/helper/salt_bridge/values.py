"""What a plugin returned, as a value that can be sent: Python's plain types only."""

import collections
import collections.abc
import datetime
import enum
import types

_LISTS = (
    tuple,
    set,
    frozenset,
    range,
    map,
    filter,
    zip,
    collections.deque,
    collections.UserList,
    type({}.keys()),
    type({}.values()),
    type({}.items()),
    types.GeneratorType,
)

MAX_DEPTH = 400


class UnsendableError(ValueError):
    """A part of a value cannot be sent."""


def plain(value, place=""):
    """The value in plain types.

    :raises UnsendableError: names the part that has no plain form, and its place.
    """
    kind = type(value)
    if value is None or kind in (bool, float, bytes):
        return value
    if kind is int:
        return value if -(1 << 63) <= value < (1 << 64) else str(value)
    if kind is str:
        return _text(value, place)
    if place.count(":") > MAX_DEPTH:
        raise UnsendableError("the value is nested too deeply")
    if isinstance(value, (dict, collections.abc.MutableMapping)):
        out = {}
        for key, item in value.items():
            out[_key(key, place)] = plain(item, _at(place, key))
        return out
    if isinstance(value, list) or isinstance(value, _LISTS):
        return [plain(item, _at(place, index)) for index, item in enumerate(value)]
    return _scalar(value, place)


def _scalar(value, place):
    if isinstance(value, enum.Enum) and not isinstance(value, (int, str)):
        raise _refusal(value, place)
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return plain(kind(value.value if isinstance(value, enum.Enum) else value), place)
    if isinstance(value, (bytearray, memoryview)):
        return bytes(value)
    if isinstance(value, datetime.datetime):
        return value
    if isinstance(value, datetime.date):
        return datetime.datetime(value.year, value.month, value.day)
    raise _refusal(value, place)


def _text(value, place):
    try:
        value.encode()
    except UnicodeEncodeError:
        raise UnsendableError("a text that is not UTF-8%s cannot be sent" % _where(place)) from None
    return value


def _key(key, place):
    if isinstance(key, (tuple, list)):
        raise _refusal(key, place)
    return plain(key, place)


def _at(place, key):
    return "%s:%s" % (place, key) if place else str(key)


def _where(place):
    return " at %s" % place[:200] if place else ""


def _refusal(value, place):
    return UnsendableError("%s%s cannot be sent" % (type(value).__name__, _where(place)))
