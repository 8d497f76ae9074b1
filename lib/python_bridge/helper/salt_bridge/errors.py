"""Exceptions on the link: their class, text and facts, in both directions."""

import os
import traceback

HEADER = "Traceback (most recent call last):\n"
_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def describe(error, usage=None):
    """The exception as a map that can be sent.

    :param usage: the documentation of the called function, for a TypeError.
    """
    names = [kind.__name__ for kind in type(error).__mro__ if kind is not object]
    fields = {"class": type(error).__name__, "bases": names, "text": _text(error), "trace": trace_of(error)}
    info = getattr(error, "info", None)
    if info is not None:
        from .values import UnsendableError, plain

        try:
            fields["info"] = plain(info)
        except UnsendableError:
            fields["info"] = repr(info)
        fields["short"] = str(getattr(error, "strerror_without_changes", ""))
    if usage is not None:
        fields["usage"] = usage
    return fields


def _text(error):
    try:
        return str(error).encode("utf-8", "replace").decode()
    except Exception:
        return "(its text cannot be made)"


def trace_of(error):
    """The traceback with the plugin's own frames."""
    shown = traceback.TracebackException(type(error), error, error.__traceback__)
    one = shown
    while one is not None:
        kept = [frame for frame in one.stack if not frame.filename.startswith(_OWN) or "standins" in frame.filename]
        one.stack = traceback.StackSummary.from_list(kept)
        one = one.__cause__ or (None if one.__suppress_context__ else one.__context__)
    text = "".join(shown.format()).encode("utf-8", "replace").decode()
    # An exception without a frame of a plugin has no header of its own.
    return text if HEADER in text else HEADER + text


def revive(message):
    """The exception that a refusal of the host stands for."""
    import builtins

    import salt.exceptions as salt_errors

    name, text = message.get("class", "Exception"), message.get("text", "")
    kind = getattr(salt_errors, name, None) or getattr(builtins, name, None)
    if not (isinstance(kind, type) and issubclass(kind, Exception)):
        kind = Exception
    try:
        if message.get("info") is not None and issubclass(kind, salt_errors.CommandExecutionError):
            error = kind(message.get("short") or text)
            error.info, error.strerror = message["info"], text
            return error
        return kind(text)
    except TypeError:
        return Exception(text)
