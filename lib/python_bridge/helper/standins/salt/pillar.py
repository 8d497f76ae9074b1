"""Pillar, as the minion has it."""


class _Pillar:
    def compile_pillar(self, *args, **kwargs):
        import salt_bridge

        return salt_bridge.JOB.dunder("__salt__")["pillar.items"](unmask=True)


def get_pillar(*args, **kwargs):
    return _Pillar()
