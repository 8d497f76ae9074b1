"""Salt's outputters."""

import json as _json


def out_format(data, out="nested", opts=None, **kwargs):
    """The data as an outputter prints it."""
    if out in ("json",):
        return _json.dumps(data, indent=4)
    import salt_bridge

    from salt_bridge.values import plain

    return salt_bridge.JOB.ask("format", value=plain(data), out=out)


string_format = out_format


def display_output(data, out=None, opts=None, **kwargs):
    print(out_format(data, out or "nested", opts))


def get_printout(out, opts=None, **kwargs):
    return lambda data, **kwargs: out_format(data, out, opts)
