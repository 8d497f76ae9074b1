"""Iterators."""

import fnmatch
import re


def split(orig, sep=None):
    """The parts of a text, one after the other."""
    pattern = re.compile(r"\s+" if sep is None else re.escape(sep))
    start, length = 0, len(orig)
    for found in pattern.finditer(orig):
        piece = orig[start:found.start()]
        if sep is not None or piece:
            yield piece
        start = found.end()
    if sep is not None or start < length:
        yield orig[start:]


def read_file(fh_, chunk_size=1048576):
    try:
        for chunk in iter(lambda: fh_.read(chunk_size), b"" if "b" in getattr(fh_, "mode", "") else ""):
            yield chunk
    finally:
        fh_.close()


def fnmatch_multiple(candidates, pattern):
    return next((name for name in candidates if fnmatch.fnmatch(name, pattern)), None)
