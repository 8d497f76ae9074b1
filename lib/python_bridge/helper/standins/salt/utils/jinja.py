"""Names of Salt's Jinja environment that plugins import."""

import collections
import pprint


class PrintableDict(collections.OrderedDict):
    """A map that prints as a plain one."""

    def __str__(self):
        return "{%s}" % ", ".join("%r: %r" % (str(key) if isinstance(key, str) else key, value) for key, value in self.items())

    def __repr__(self):
        return "{%s}" % ", ".join("%r: %s" % (key, pprint.pformat(value)) for key, value in self.items())
