"""Runs runners: of a master in this process, of a minion as `saltutil.runner` does."""


class RunnerClient:
    def __init__(self, opts=None, context=None):
        self.opts = opts

    def cmd(self, fun, arg=(), pub_data=None, kwarg=None, *args, **kwargs):
        import salt_bridge

        job = salt_bridge.JOB
        if job.role == "runner":
            return job.dunder("__salt__")[fun](*(arg or ()), **(kwarg or {}))
        return job.dunder("__salt__")["saltutil.runner"](fun, arg=list(arg or ()), kwarg=kwarg or {})

    cmd_sync = cmd


Runner = RunnerClient
