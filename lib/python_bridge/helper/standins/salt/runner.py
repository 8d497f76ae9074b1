"""Runs runners, as the minion's `saltutil.runner` does."""


class RunnerClient:
    def __init__(self, opts=None, context=None):
        self.opts = opts

    def cmd(self, fun, arg=(), pub_data=None, kwarg=None, *args, **kwargs):
        import salt_bridge

        return salt_bridge.JOB.dunder("__salt__")["saltutil.runner"](fun, arg=list(arg or ()), kwarg=kwarg or {})


Runner = RunnerClient
