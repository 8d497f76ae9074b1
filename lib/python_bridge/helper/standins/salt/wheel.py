"""Runs wheel functions: of a master in this process, of a minion as `saltutil.wheel` does."""


class WheelClient:
    def __init__(self, opts=None, context=None):
        self.opts = opts

    def cmd(self, fun, arg=(), pub_data=None, kwarg=None, *args, **kwargs):
        import salt_bridge

        from salt_bridge.values import plain
        job = salt_bridge.JOB
        if job.role == "runner" or (job.role == "engine" and job.opts()["__role"] == "master"):
            return job.ask("wheel", fun=fun, args=plain(list(arg or ())), kwargs=plain(kwarg or {}))
        return job.dunder("__salt__")["saltutil.wheel"](fun, *(arg or ()), **(kwarg or {}))

    cmd_sync = cmd


Wheel = WheelClient
