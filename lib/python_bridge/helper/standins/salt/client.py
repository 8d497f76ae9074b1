"""Clients of functions on this host and on minions: by the functions of the minion, or by the master's own client."""


def _job():
    import salt_bridge

    return salt_bridge.JOB


class Caller:
    """Runs execution functions on this host."""

    def __init__(self, c_path=None, mopts=None):
        self.opts = mopts or _job().opts()

    def cmd(self, fun, *args, **kwargs):
        import salt.loader

        return salt.loader.minion_mods()[fun](*args, **kwargs)

    function = cmd


class LocalClient:
    """Runs functions on minions: of a master with its own rights, of a minion as `publish.publish` does."""

    def __init__(self, c_path=None, mopts=None, *args, **kwargs):
        self.opts = mopts or _job().opts()

    def _run(self, what, tgt, fun, arg, kwarg, tgt_type, timeout):
        from salt_bridge.values import plain

        fields = {"tgt": plain(tgt), "tgt_type": tgt_type, "fun": plain(fun)}
        fields.update(args=plain(list(arg or ())), kwargs=plain(kwarg or {}), timeout=timeout)
        return _job().ask(what, **fields)

    def cmd(
        self,
        tgt,
        fun,
        arg=(),
        timeout=None,
        tgt_type="glob",
        ret="",
        jid="",
        full_return=False,
        kwarg=None,
        **kwargs
    ):
        """What the minions returned, by their ids."""
        tgt_type = kwargs.get("expr_form") or tgt_type
        if _job().role == "minion":
            options = {"tgt_type": tgt_type}
            if timeout is not None:
                options["timeout"] = timeout
            return _job().dunder("__salt__")["saltutil.cmd"](tgt, fun, arg=list(arg or ()), kwarg=kwarg, **options)
        returns = self._run("local", tgt, fun, arg, kwarg, tgt_type, timeout)
        return returns if full_return else {name: one.get("ret") for name, one in returns.items()}

    def cmd_iter(self, tgt, fun, arg=(), timeout=None, tgt_type="glob", ret="", kwarg=None, **kwargs):
        for name, value in self.cmd(tgt, fun, arg, timeout, tgt_type, kwarg=kwarg, full_return=True, **kwargs).items():
            yield {name: value if isinstance(value, dict) and "ret" in value else {"ret": value}}

    cmd_iter_no_block = cmd_iter

    def cmd_batch(self, tgt, fun, arg=(), tgt_type="glob", ret="", kwarg=None, batch="10%", **kwargs):
        for name, value in self.cmd(tgt, fun, arg, tgt_type=tgt_type, kwarg=kwarg).items():
            yield {name: value}

    def cmd_async(self, tgt, fun, arg=(), tgt_type="glob", ret="", jid="", kwarg=None, **kwargs):
        """Starts a job.

        :returns: its id; 0 if no minion matches.
        """
        return self._run("local_async", tgt, fun, arg, kwarg, tgt_type, None)

    def run_job(self, tgt, fun, arg=(), tgt_type="glob", ret="", timeout=None, jid="", kwarg=None, **kwargs):
        return {"jid": self.cmd_async(tgt, fun, arg, tgt_type, kwarg=kwarg), "minions": []}

    def destroy(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *args):
        pass


def get_local_client(*args, **kwargs):
    return LocalClient()
