"""A minion in this process: its functions."""


class SMinion:
    def __init__(self, opts=None):
        import salt_bridge

        self.opts = opts or salt_bridge.JOB.opts()
        self.functions = salt_bridge.JOB.dunder("__salt__")


MasterMinion = SMinion
