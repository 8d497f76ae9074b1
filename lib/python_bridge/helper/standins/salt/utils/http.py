"""HTTP, by the minion's `http.query`."""


def query(url, method="GET", params=None, data=None, **kwargs):
    import salt_bridge

    from salt_bridge.values import plain

    known = {name: value for name, value in kwargs.items() if name not in ("opts", "raise_error_obj", "stream", "streaming_callback", "header_callback") and value is not None}
    for name, value in (("params", params), ("data", data)):
        if value is not None:
            known[name] = value
    return salt_bridge.JOB.dunder("__salt__")["http.query"](url, method=method, **plain(known))
