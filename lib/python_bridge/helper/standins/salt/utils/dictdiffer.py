"""Differences of maps."""


class DictDiffer:
    """Which keys were added, removed, changed, left."""

    def __init__(self, current_dict, past_dict):
        self.current_dict, self.past_dict = current_dict, past_dict
        self.set_current, self.set_past = set(current_dict), set(past_dict)
        self.intersect = self.set_current & self.set_past

    def added(self):
        return self.set_current - self.intersect

    def removed(self):
        return self.set_past - self.intersect

    def changed(self):
        return {key for key in self.intersect if self.past_dict[key] != self.current_dict[key]}

    def unchanged(self):
        return {key for key in self.intersect if self.past_dict[key] == self.current_dict[key]}


def diff(current_dict, past_dict):
    return DictDiffer(current_dict, past_dict)


def deep_diff(old, new, ignore=None):
    """The parts of two maps that differ: `old` and `new`."""
    import salt.utils.data

    return salt.utils.data.recursive_diff(old, new, ignore_keys=ignore)


class RecursiveDictDiffer(DictDiffer):
    """The differences of two maps at any depth."""

    NONE_VALUE = "<_null_>"

    def __init__(self, past_dict, current_dict, ignore_missing_keys=True):
        super().__init__(current_dict, past_dict)
        self.ignore_missing_keys = ignore_missing_keys
        self._diffs = self._compare(past_dict, current_dict)

    def _compare(self, past, current):
        found = {}
        for key in list(current) + [key for key in past if key not in current and not self.ignore_missing_keys]:
            if key not in past:
                found[key] = {"old": self.NONE_VALUE, "new": current[key]}
            elif key not in current:
                found[key] = {"old": past[key], "new": self.NONE_VALUE}
            elif isinstance(past[key], dict) and isinstance(current[key], dict):
                deeper = self._compare(past[key], current[key])
                if deeper:
                    found[key] = deeper
            elif past[key] != current[key]:
                found[key] = {"old": past[key], "new": current[key]}
        return found

    @property
    def diffs(self):
        return self._diffs

    def _side(self, name, tree):
        made = {}
        for key, value in tree.items():
            if set(value) == {"old", "new"}:
                if value[name] != self.NONE_VALUE:
                    made[key] = value[name]
            else:
                deeper = self._side(name, value)
                if deeper:
                    made[key] = deeper
        return made

    @property
    def new_values(self):
        return self._side("new", self._diffs)

    @property
    def old_values(self):
        return self._side("old", self._diffs)

    def _paths(self, tree, wanted, way=""):
        for key, value in tree.items():
            if set(value) != {"old", "new"}:
                yield from self._paths(value, wanted, "%s%s." % (way, key))
            elif wanted(value):
                yield "%s%s" % (way, key)

    def added(self, separator="."):
        return sorted(self._paths(self._diffs, lambda value: value["old"] == self.NONE_VALUE))

    def removed(self, separator="."):
        return sorted(self._paths(self._diffs, lambda value: value["new"] == self.NONE_VALUE))

    def changed(self, separator="."):
        both = lambda value: self.NONE_VALUE not in (value["old"], value["new"])
        return sorted(self._paths(self._diffs, both))


def recursive_diff(past_dict, current_dict, ignore_missing_keys=True):
    return RecursiveDictDiffer(past_dict, current_dict, ignore_missing_keys)
