"""Reads a file piece by piece."""

from salt.exceptions import SaltException


class InvalidFileMode(SaltException):
    """Only reading is possible."""


class BufferedReader:
    def __init__(self, path, max_in_mem=1024 * 1024, chunk_size=32 * 1024, mode="r"):
        if any(letter in mode for letter in "aw"):
            raise InvalidFileMode("Cannot open file in write or append mode")
        self._file = open(path, mode)
        self._size, self._most = chunk_size, max_in_mem
        self._buffered = None

    @property
    def buffered(self):
        return self._buffered

    def __iter__(self):
        return self

    def __next__(self):
        more = self._file.read(self._size)
        if not more:
            raise StopIteration
        self._buffered = (self._buffered[-(self._most - len(more)):] if self._buffered else more[:0]) + more
        return self._buffered

    next = __next__

    def close(self):
        self._file.close()

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.close()
