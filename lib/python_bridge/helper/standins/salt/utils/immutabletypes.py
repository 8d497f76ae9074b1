"""Values that cannot be changed."""

import collections.abc


class ImmutableDict(collections.abc.Mapping):
    def __init__(self, obj):
        self._obj = obj

    def __len__(self):
        return len(self._obj)

    def __iter__(self):
        return iter(self._obj)

    def __getitem__(self, key):
        return freeze(self._obj[key])

    def __repr__(self):
        return "<%s %r>" % (type(self).__name__, self._obj)


class ImmutableList(collections.abc.Sequence):
    def __init__(self, obj):
        self._obj = obj

    def __len__(self):
        return len(self._obj)

    def __getitem__(self, key):
        return freeze(self._obj[key])

    def __add__(self, other):
        return self._obj + other

    def __repr__(self):
        return "<%s %r>" % (type(self).__name__, self._obj)


class ImmutableSet(collections.abc.Set):
    def __init__(self, obj):
        self._obj = obj

    def __len__(self):
        return len(self._obj)

    def __iter__(self):
        return iter(self._obj)

    def __contains__(self, key):
        return key in self._obj


def freeze(obj):
    for kind, frozen in ((dict, ImmutableDict), (list, ImmutableList), (set, ImmutableSet)):
        if isinstance(obj, kind):
            return frozen(obj)
    return obj
