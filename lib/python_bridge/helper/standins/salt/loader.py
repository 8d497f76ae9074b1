"""Functions of families, as plugins ask the loader for them."""

loaded_base_name = "salt.loaded"


def _dunder(name):
    import salt_bridge

    return salt_bridge.JOB.dunder(name)


def minion_mods(opts=None, *args, **kwargs):
    import salt_bridge

    job = salt_bridge.JOB
    if job.role != "runner":
        return job.dunder("__salt__")
    from salt_bridge.dunders import Functions

    return Functions(job, "modules", "execute")


def utils(opts=None, *args, **kwargs):
    return _dunder("__utils__")


def states(opts=None, *args, **kwargs):
    return _dunder("__states__")


def grains(opts=None, *args, **kwargs):
    return _dunder("__grains__")


def raw_mod(opts, name, functions, mod="modules"):
    """The functions of one module."""
    known = _dunder("__salt__" if mod == "modules" else "__states__")
    return {full: known[full] for full in known if full.startswith(name + ".")}


def render(opts=None, functions=None, *args, **kwargs):
    raise NotImplementedError("salt.loader.render is not part of the bridge: use __salt__['slsutil.renderer']")


def returners(opts=None, functions=None, *args, **kwargs):
    raise NotImplementedError("salt.loader.returners is not part of the bridge")


def runner(opts=None, *args, **kwargs):
    import salt_bridge

    if salt_bridge.JOB.role == "runner":
        return _dunder("__salt__")
    raise NotImplementedError("salt.loader.runner is not part of the bridge: use __salt__['saltutil.runner']")


class LazyLoader:
    """A loader of a plugin's own: there is none."""

    def __init__(self, *args, **kwargs):
        raise NotImplementedError("salt.loader.LazyLoader is not part of the bridge")


def _create_loader(*args, **kwargs):
    return LazyLoader(*args, **kwargs)
