"""JSON."""

import json as _json


def import_json():
    return _json


def _given(kwargs):
    kwargs.pop("_json_module", None)
    kwargs.pop("encoding", None)
    return kwargs


def load(fp, **kwargs):
    return _json.load(fp, **_given(kwargs))


def loads(s, **kwargs):
    return _json.loads(s, **_given(kwargs))


def _default(kwargs):
    kwargs = _given(kwargs)
    kwargs.setdefault("ensure_ascii", False)
    return kwargs


def dump(obj, fp, **kwargs):
    return _json.dump(obj, fp, **_default(kwargs))


def dumps(obj, **kwargs):
    return _json.dumps(obj, **_default(kwargs))


def find_json(s):
    """The JSON in a text with other lines before or after it."""
    lines = s.splitlines()
    for start, line in enumerate(lines):
        if not line.lstrip().startswith(("{", "[")):
            continue
        for end in range(len(lines), start, -1):
            try:
                return _json.loads("\n".join(lines[start:end]))
            except ValueError:
                pass
    raise ValueError("no JSON")
