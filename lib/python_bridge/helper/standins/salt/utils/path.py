"""Paths and programs."""

import os
import posixpath
import re
import shutil


def islink(path):
    return os.path.islink(path)


def readlink(path):
    return os.readlink(path)


def which(exe=None):
    """The path of a program; None if there is none."""
    if not exe:
        return None
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), "/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin"])
    return shutil.which(exe, path=path)


def which_bin(exes):
    if not isinstance(exes, (list, tuple, set)):
        return None
    for exe in exes:
        found = which(exe)
        if found:
            return found
    return None


def join(*parts, **kwargs):
    """The parts as one path; only the first may begin with a slash that counts."""
    if not parts:
        return ""
    others = [str(part).lstrip("/") for part in parts[1:]]
    return posixpath.normpath(posixpath.join(str(parts[0]), *others)) if others else posixpath.normpath(str(parts[0]))


def check_or_die(command):
    import salt.exceptions

    if command is None:
        raise salt.exceptions.CommandNotFoundError("'None' is not a valid command.")
    if not which(command):
        raise salt.exceptions.CommandNotFoundError("'%s' is not in the path" % command)


def sanitize_win_path(winpath):
    return re.sub(r'[<>:|?*"]', "_", winpath) if isinstance(winpath, str) else winpath


def safe_path(path, allow_path=None):
    """Whether a path is no link out of its directory."""
    if not allow_path:
        allow_path = os.path.dirname(path)
    real = os.path.realpath(path)
    return os.path.commonpath([real, os.path.realpath(allow_path)]) == os.path.realpath(allow_path)


def os_walk(top, *args, **kwargs):
    return os.walk(top, *args, **kwargs)


def expand(path):
    return os.path.expanduser(os.path.expandvars(path))
