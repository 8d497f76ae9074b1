"""Names for plugins that import this module on every system."""

import contextlib


@contextlib.contextmanager
def Com():
    """Does nothing: there is no COM here."""
    yield
