"""The file client, by the functions `cp.*` of the minion."""


class _Client:
    def __init__(self, opts=None):
        self.opts = opts

    def _call(self, fun, *args, **kwargs):
        import salt_bridge

        return salt_bridge.JOB.dunder("__salt__")["cp." + fun](*args, **kwargs)

    def cache_file(self, path, saltenv="base", *args, **kwargs):
        return self._call("cache_file", path, saltenv=saltenv)

    def cache_dir(self, path, saltenv="base", include_empty=False, include_pat=None, exclude_pat=None, *args):
        return self._call("cache_dir", path, saltenv, include_empty, include_pat, exclude_pat)

    def get_file(self, path, dest="", makedirs=False, saltenv="base", gzip=None, *args):
        return self._call("get_file", path, dest, saltenv=saltenv, makedirs=makedirs)

    def get_url(self, url, dest, makedirs=False, saltenv="base", *args, **kwargs):
        return self._call("get_url", url, dest, saltenv=saltenv, makedirs=makedirs)

    def is_cached(self, path, saltenv="base", *args):
        return self._call("is_cached", path, saltenv)

    def hash_file(self, path, saltenv="base"):
        return self._call("hash_file", path, saltenv)

    def file_list(self, saltenv="base", prefix=""):
        return self._call("list_master", saltenv, prefix)

    def dir_list(self, saltenv="base", prefix=""):
        return self._call("list_master_dirs", saltenv, prefix)

    def envs(self):
        return self._call("envs")

    def destroy(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *args):
        pass


def get_file_client(opts=None, pillar=False):
    return _Client(opts)


Client = RemoteClient = LocalClient = FSClient = _Client
