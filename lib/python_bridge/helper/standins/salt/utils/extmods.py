"""Plugins of the file server, by the minion's `saltutil.sync_*`."""


def sync(opts, form, saltenv=None, extmod_whitelist=None, extmod_blacklist=None, **kwargs):
    import salt_bridge

    changed = salt_bridge.JOB.dunder("__salt__")["saltutil.sync_" + form](saltenv=saltenv)
    return changed, bool(changed)
