"""A set that keeps the order in which its items came."""

from collections.abc import MutableSet


def _is_several(value):
    return hasattr(value, "__iter__") and not isinstance(value, (str, tuple))


class OrderedSet(MutableSet):
    """Its items have an index, in the order of their coming."""

    def __init__(self, iterable=None):
        self.items = []
        for item in () if iterable is None else iterable:
            self.add(item)

    def __len__(self):
        return len(self.items)

    def __iter__(self):
        return iter(self.items)

    def __reversed__(self):
        return reversed(self.items)

    def __contains__(self, key):
        return key in self.items

    def __getitem__(self, index):
        if _is_several(index):
            return OrderedSet(self.items[i] for i in index)
        found = self.items[index]
        return OrderedSet(found) if isinstance(index, slice) else found

    def add(self, key):
        """Returns its index."""
        if key not in self.items:
            self.items.append(key)
        return self.items.index(key)

    append = add

    def update(self, sequence):
        """Returns the index of the last one."""
        index = None
        if not hasattr(sequence, "__iter__"):
            raise ValueError(f"Argument needs to be an iterable, got {type(sequence)}")
        for item in sequence:
            index = self.add(item)
        return index

    def index(self, key):
        if _is_several(key):
            return [self.index(one) for one in key]
        if key not in self.items:
            raise KeyError(key)
        return self.items.index(key)

    def pop(self):
        """Removes the last one."""
        if not self.items:
            raise KeyError("Set is empty")
        return self.items.pop()

    def discard(self, key):
        if key in self.items:
            self.items.remove(key)

    def clear(self):
        self.items.clear()

    def copy(self):
        return OrderedSet(self.items)

    def __repr__(self):
        return f"OrderedSet({self.items!r})" if self.items else "OrderedSet()"

    def __eq__(self, other):
        if isinstance(other, OrderedSet):
            return self.items == other.items
        try:
            return set(self.items) == set(other)
        except TypeError:
            return False
