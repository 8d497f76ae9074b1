"""The options of this daemon."""


def _opts():
    import salt_bridge

    return salt_bridge.JOB.opts()


def minion_config(path=None, *args, **kwargs):
    return _opts()


def master_config(path=None, *args, **kwargs):
    return _opts()


def client_config(path=None, *args, **kwargs):
    return _opts()


def apply_minion_config(overrides=None, *args, **kwargs):
    return dict(_opts(), **(overrides or {}))


def get_id(opts=None, *args, **kwargs):
    return _opts().get("id", "")


def get(key, default=""):
    return _opts().get(key, default)


DEFAULT_MINION_OPTS = {}
DEFAULT_MASTER_OPTS = {}
