"""Exceptions as maps."""


def pack_exception(exc):
    return exc.pack() if hasattr(exc, "pack") else {"message": str(exc), "args": exc.args}


def raise_error(name=None, args=None, message=""):
    import builtins

    import salt.exceptions

    kind = getattr(salt.exceptions, str(name), None) or getattr(builtins, str(name), None) or Exception
    raise kind(*(args if args is not None else (message,)))


def fire_exception(exc, opts, job=None, node="minion"):
    """Does nothing: the minion reports exceptions."""
