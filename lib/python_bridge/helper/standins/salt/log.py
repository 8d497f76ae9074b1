"""Salt's logging, as far as plugins use it."""

import logging

LOG_LEVELS = {"all": 0, "garbage": 1, "trace": 5, "debug": 10, "info": 20, "warning": 30, "error": 40, "critical": 50}


def setup_console_logger(*args, **kwargs):
    """Does nothing: the minion has a log."""


def is_console_configured():
    return True


getLogger = logging.getLogger
