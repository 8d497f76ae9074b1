"""Runs runners: of a master in this process, of a minion as `saltutil.runner` does."""

import salt.utils.args


class RunnerClient:
    def __init__(self, opts=None, context=None):
        self.opts = opts

    def cmd(self, fun, arg=(), pub_data=None, kwarg=None, *args, **kwargs):
        import salt_bridge

        job = salt_bridge.JOB
        if job.role == "runner":
            return job.dunder("__salt__")[fun](*(arg or ()), **(kwarg or {}))
        if job.role == "engine" and job.opts()["__role"] == "master":
            given, named = salt.utils.args.parse_input(list(arg or ()), condition=False)
            return job.dunder("__runners__")[fun](*given, **dict(named, **(kwarg or {})))
        return job.dunder("__salt__")["saltutil.runner"](fun, arg=list(arg or ()), kwarg=kwarg or {})

    cmd_sync = cmd


Runner = RunnerClient
