"""Runs wheel functions, as the minion's `saltutil.wheel` does."""


class WheelClient:
    def __init__(self, opts=None, context=None):
        self.opts = opts

    def cmd(self, fun, arg=(), pub_data=None, kwarg=None, *args, **kwargs):
        import salt_bridge

        return salt_bridge.JOB.dunder("__salt__")["saltutil.wheel"](fun, *(arg or ()), **(kwarg or {}))


Wheel = WheelClient
