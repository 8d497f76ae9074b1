"""A cache of files, of a plugin's own data."""

import json
import os
import time


class Cache:
    """Banks of keys below `cachedir`."""

    def __init__(self, opts=None, cachedir=None, **kwargs):
        import salt_bridge

        self.opts = opts or salt_bridge.JOB.opts()
        self.cachedir = cachedir or self.opts.get("cachedir", "/var/cache/salt")

    def _path(self, bank, key=None):
        parts = [part for part in bank.split("/") if part not in ("", ".", "..")]
        if key is not None:
            parts.append(key.replace("/", "_") + ".j")
        return os.path.join(self.cachedir, "python_cache", *parts)

    def store(self, bank, key, data, expires=None):
        path = self._path(bank, key)
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(path + ".part", "w") as file:
            json.dump(data, file)
        os.replace(path + ".part", path)

    def fetch(self, bank, key):
        try:
            with open(self._path(bank, key)) as file:
                return json.load(file)
        except FileNotFoundError:
            return {}

    def updated(self, bank, key):
        try:
            return int(os.path.getmtime(self._path(bank, key)))
        except OSError:
            return None

    def flush(self, bank, key=None):
        import shutil

        path = self._path(bank, key)
        if key is None:
            shutil.rmtree(path, ignore_errors=True)
        elif os.path.exists(path):
            os.unlink(path)

    def list(self, bank):
        path = self._path(bank)
        return [name[:-2] for name in os.listdir(path) if name.endswith(".j")] if os.path.isdir(path) else []

    def contains(self, bank, key=None):
        return os.path.exists(self._path(bank, key))

    def cache(self, bank, key, fun, loop_fun=None, **kwargs):
        """The stored value, if it is not older than `expires` seconds; else what the function returns."""
        updated = self.updated(bank, key)
        if updated is not None and time.time() - updated < kwargs.pop("expires", 0):
            return self.fetch(bank, key)
        data = fun(**kwargs)
        if loop_fun is not None:
            data = [loop_fun(item) for item in data]
        self.store(bank, key, data)
        return data


def factory(opts=None, **kwargs):
    return Cache(opts, **kwargs)
