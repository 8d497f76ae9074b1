"""Clients of functions on this host, by the functions of the minion."""


def _functions():
    import salt_bridge

    return salt_bridge.JOB.dunder("__salt__")


class Caller:
    """Runs functions of this minion."""

    def __init__(self, c_path=None, mopts=None):
        import salt_bridge

        self.opts = mopts or salt_bridge.JOB.opts()

    def cmd(self, fun, *args, **kwargs):
        return _functions()[fun](*args, **kwargs)

    function = cmd


class LocalClient:
    """Runs functions on other minions, as `publish.publish` does."""

    def __init__(self, c_path=None, mopts=None, *args, **kwargs):
        import salt_bridge

        self.opts = mopts or salt_bridge.JOB.opts()

    def cmd(self, tgt, fun, arg=(), timeout=None, tgt_type="glob", ret="", jid="", kwarg=None, **kwargs):
        """What the minions returned, by their ids."""
        kwargs = {"tgt_type": tgt_type}
        if timeout is not None:
            kwargs["timeout"] = timeout
        return _functions()["saltutil.cmd"](tgt, fun, arg=list(arg), kwarg=kwarg, **kwargs)

    def cmd_iter(self, *args, **kwargs):
        for name, value in self.cmd(*args, **kwargs).items():
            yield {name: value}


def get_local_client(*args, **kwargs):
    return LocalClient(*args, **kwargs)
