"""Versions, and warnings that something will go."""

import functools
import re
import warnings


@functools.total_ordering
class LooseVersion:
    """A version of numbers and letters, compared part by part."""

    _PART = re.compile(r"\d+|[a-z]+", re.I)

    def __init__(self, vstring=None):
        self.vstring = "" if vstring is None else str(vstring)
        self.version = [int(part) if part.isdigit() else part for part in self._PART.findall(self.vstring)]

    def parse(self, vstring):
        self.__init__(vstring)

    def _key(self):
        return [(0, part, "") if isinstance(part, int) else (-1, 0, part) for part in self.version]

    def _other(self, other):
        return other if isinstance(other, LooseVersion) else LooseVersion(other)

    def __eq__(self, other):
        return self._key() == self._other(other)._key()

    def __lt__(self, other):
        return self._key() < self._other(other)._key()

    def __hash__(self):
        return hash(tuple(self._key()))

    def __str__(self):
        return self.vstring

    def __repr__(self):
        return "LooseVersion ('%s')" % self


class StrictVersion(LooseVersion):
    """A version of numbers, maybe with a letter and a number."""


Version = StrictVersion


def parse(version):
    return LooseVersion(version)


def version_cmp(pkg1, pkg2, ignore_epoch=False):
    """-1, 0 or 1; None if they cannot be compared."""
    sides = []
    for text in (str(pkg1), str(pkg2)):
        epoch, colon, rest = text.partition(":")
        number = int(epoch) if colon and epoch.isdigit() else 0
        sides.append((0 if ignore_epoch else number, LooseVersion(rest if colon else text)))
    try:
        return (sides[0] > sides[1]) - (sides[0] < sides[1])
    except TypeError:
        return None


_OPERATORS = {"<": (-1,), "<=": (-1, 0), "==": (0,), "=": (0,), ">=": (0, 1), ">": (1,), "!=": (-1, 1), "<>": (-1, 1)}


def compare(ver1="", oper="==", ver2="", cmp_func=None, ignore_epoch=False):
    if oper not in _OPERATORS:
        return False
    result = (cmp_func or version_cmp)(ver1, ver2, ignore_epoch=ignore_epoch)
    return result in _OPERATORS[oper]


def warn_until(version, message, category=DeprecationWarning, stacklevel=None, _version_info_=None,
               _dont_call_warnings=False):
    if not _dont_call_warnings:
        warnings.warn(message.format(version=version, until_version=version), category, stacklevel=(stacklevel or 2) + 1)


def warn_until_date(date, message, category=DeprecationWarning, stacklevel=None, **kwargs):
    warnings.warn(message.format(date=date, today=""), category, stacklevel=(stacklevel or 2) + 1)


def kwargs_warn_until(kwargs, version, category=DeprecationWarning, stacklevel=None, **more):
    if kwargs:
        names = ", ".join("'%s'" % name for name in kwargs)
        warnings.warn("The following parameter(s) have been deprecated: %s" % names, category, stacklevel=2)


def check_boto_reqs(*args, **kwargs):
    try:
        import boto3  # noqa: F401
    except ImportError:
        return (False, "The boto3 library is not installed")
    return True
