"""Maps whose values are made when they are first used."""

import collections.abc

import salt.exceptions


def verify_fun(lazy_obj, fun):
    if not fun:
        raise salt.exceptions.SaltInvocationError("Must specify a function to run!\nex: manage.up")
    if fun not in lazy_obj:
        raise salt.exceptions.CommandExecutionError("'%s' is not available." % fun)


class LazyDict(collections.abc.MutableMapping):
    def __init__(self):
        self.clear()

    def clear(self):
        self._dict = {}
        self.loaded = False

    def _load(self, key):
        raise NotImplementedError()

    def _load_all(self):
        raise NotImplementedError()

    def _missing(self, key):
        return False

    def missing_fun_string(self, function_name):
        return "'%s' is not available." % function_name

    def __setitem__(self, key, value):
        self._dict[key] = value

    def __delitem__(self, key):
        del self._dict[key]

    def __getitem__(self, key):
        if key not in self._dict and not self.loaded and not self._missing(key) and not self._load(key):
            raise KeyError(key)
        return self._dict[key]

    def __len__(self):
        if not self.loaded:
            self._load_all()
        return len(self._dict)

    def __iter__(self):
        if not self.loaded:
            self._load_all()
        return iter(self._dict)
