"""Maps with an order."""

import collections
from collections import OrderedDict


class DefaultOrderedDict(OrderedDict):
    """An OrderedDict with a default."""

    def __init__(self, default_factory=None, *args, **kwargs):
        if default_factory is not None and not callable(default_factory):
            raise TypeError("first argument must be callable")
        super().__init__(*args, **kwargs)
        self.default_factory = default_factory

    def __missing__(self, key):
        if self.default_factory is None:
            raise KeyError(key)
        self[key] = value = self.default_factory()
        return value

    def copy(self):
        return type(self)(self.default_factory, self)

    __copy__ = copy


class HashableOrderedDict(OrderedDict):
    """An OrderedDict that can be a key."""

    def __hash__(self):
        return id(self)


defaultdict = collections.defaultdict
