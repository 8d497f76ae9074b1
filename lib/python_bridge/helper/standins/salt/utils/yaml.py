"""YAML: by the library PyYAML if this Python has it, else by the minion."""

try:
    import yaml as _yaml
except ImportError:
    _yaml = None


class YAMLError(Exception):
    """A text that is no YAML."""


if _yaml is not None:
    from yaml import *  # noqa: F403

    YAMLError = _yaml.YAMLError
    SaltYamlSafeLoader = _yaml.SafeLoader
    SafeOrderedDumper = OrderedDumper = IndentedSafeOrderedDumper = _yaml.SafeDumper
    _yaml.SafeDumper.add_multi_representer(dict, _yaml.representer.SafeRepresenter.represent_dict)


def _text(stream):
    data = stream.read() if hasattr(stream, "read") else stream
    return data.decode("utf-8") if isinstance(data, bytes) else data


def load(stream, Loader=None):
    if _yaml is not None:
        return _yaml.load(stream, Loader or _yaml.SafeLoader)
    import salt_bridge

    return salt_bridge.JOB.ask("yaml_load", text=_text(stream))


def safe_load(stream, Loader=None):
    return load(stream, Loader)


def dump(data, stream=None, **kwargs):
    if _yaml is not None:
        kwargs.setdefault("Dumper", _yaml.SafeDumper)
        kwargs.setdefault("allow_unicode", True)
        kwargs.setdefault("default_flow_style", None)
        kwargs.setdefault("sort_keys", True)
        return _yaml.dump(data, stream, **kwargs)
    import salt_bridge

    from salt_bridge.values import plain

    flow = kwargs.get("default_flow_style") is not False
    text = salt_bridge.JOB.ask("yaml_dump", value=plain(data), flow=flow)
    if stream is None:
        return text
    stream.write(text)
    return None


def safe_dump(data, stream=None, **kwargs):
    return dump(data, stream, **kwargs)
