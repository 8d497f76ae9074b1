"""A minion in this process: its functions."""


class SMinion:
    def __init__(self, opts=None):
        import salt_bridge

        self.opts = opts or salt_bridge.JOB.opts()
        import salt.loader

        self.functions = salt.loader.minion_mods()


MasterMinion = SMinion
