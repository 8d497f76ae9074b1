"""The environment of programs."""


def get_module_environment(env=None, function=None):
    """The option `system-environment` for a module and its function."""
    if not isinstance(env, dict):
        return {}
    made = {}
    name = env.get("__name__", "").rpartition(".")[2]
    for source in (env.get("__opts__") or {}, env.get("__pillar__") or {}):
        conf = source.get("system-environment", {}).get("modules", {}).get(name, {})
        made.update(conf.get("_", {}))
        made.update(conf.get(function, {}) if function else {})
    return made
