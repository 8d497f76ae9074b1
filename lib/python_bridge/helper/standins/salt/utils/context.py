"""Values for the time of a block."""

import collections.abc
import contextlib


@contextlib.contextmanager
def func_globals_inject(func, **overrides):
    """Gives a function other globals while the block runs."""
    names = getattr(func, "__globals__", {})
    old = {name: names[name] for name in overrides if name in names}
    names.update(overrides)
    try:
        yield
    finally:
        for name in overrides:
            if name in old:
                names[name] = old[name]
            else:
                names.pop(name, None)


class ContextDict(dict):
    """A map; here it is the same for all threads."""

    def __init__(self, threadsafe=False, **data):
        super().__init__(**data)


class NamespacedDictWrapper(collections.abc.MutableMapping, dict):
    """A part of a map as a map."""

    def __init__(self, d, pre_keys, override_name=None):
        self._whole = d
        self._keys = (pre_keys,) if isinstance(pre_keys, str) else tuple(pre_keys)

    def _dict(self):
        at = self._whole
        for key in self._keys:
            at = at[key]
        return at

    def __getitem__(self, key):
        return self._dict()[key]

    def __setitem__(self, key, value):
        self._dict()[key] = value

    def __delitem__(self, key):
        del self._dict()[key]

    def __iter__(self):
        return iter(self._dict())

    def __len__(self):
        return len(self._dict())
