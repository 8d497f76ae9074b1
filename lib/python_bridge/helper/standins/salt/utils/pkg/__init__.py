"""What modules of packages share."""

import os
import re

import salt.utils.versions


def rtag(opts):
    return os.path.join(opts["cachedir"], "pkg_refresh")


def clear_rtag(opts):
    try:
        os.remove(rtag(opts))
    except FileNotFoundError:
        pass


def write_rtag(opts):
    if not os.path.isfile(rtag(opts)):
        with open(rtag(opts), "w"):
            pass


def check_refresh(opts, refresh=None):
    return bool(refresh if refresh is not None else os.path.isfile(rtag(opts)))


def split_comparison(version):
    found = re.match(r"^(<=>|!=|>=|<=|>>|<<|<>|>|<|=)?\s?([^<>=]+)$", version)
    return (found.group(1) or "", found.group(2).strip()) if found else ("", version)


def match_version(desired, available, cmp_func=None, ignore_epoch=False):
    oper, wanted = split_comparison(desired)
    for candidate in available:
        if salt.utils.versions.compare(candidate, oper or "==", wanted, cmp_func, ignore_epoch):
            return candidate
    return None


def check_bundled():
    return False
