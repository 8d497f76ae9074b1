"""Files that are written whole or not at all."""

import os
import tempfile


class _AtomicFile:
    def __init__(self, filename, mode):
        self._target = filename
        descriptor, self._temporary = tempfile.mkstemp(dir=os.path.dirname(os.path.abspath(filename)))
        kwargs = {} if "b" in mode else {"encoding": "utf-8"}
        self._file = os.fdopen(descriptor, mode, **kwargs)

    def __getattr__(self, name):
        return getattr(self._file, name)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self._file.close()
        if kind is None:
            self._replace()
        else:
            os.unlink(self._temporary)

    def close(self):
        if not self._file.closed:
            self._file.close()
            self._replace()

    def _replace(self):
        if os.path.exists(self._target):
            old = os.stat(self._target)
            os.chmod(self._temporary, old.st_mode & 0o7777)
            os.chown(self._temporary, old.st_uid, old.st_gid)
        os.replace(self._temporary, self._target)


def atomic_open(filename, mode="w"):
    if mode not in ("w", "wb", "w+", "wb+", "w+b"):
        raise TypeError("the mode %r is not supported" % mode)
    return _AtomicFile(filename, mode)


def atomic_rename(src, dst):
    os.replace(src, dst)
