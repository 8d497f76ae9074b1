"""What returners share."""


def get_returner_options(virtualname=None, ret=None, attrs=None, **kwargs):
    """The options of a returner, by the names in `attrs`."""
    opts, config = kwargs.get("__opts__") or {}, kwargs.get("__salt__")
    profile = (ret or {}).get("ret_config")
    prefix = "%s." % virtualname
    if profile:
        prefix += "%s." % profile
    options = dict((kwargs.get("defaults") or {}))
    for name, attr in (attrs or {}).items():
        full = prefix + attr
        value = opts.get(full)
        if value is None and config is not None and not isinstance(config, dict):
            value = config["config.option"](full) or None
        if value is not None:
            options[name] = value
        else:
            options.setdefault(name, None)
    options.update((ret or {}).get("ret_kwargs") or {})
    return options
