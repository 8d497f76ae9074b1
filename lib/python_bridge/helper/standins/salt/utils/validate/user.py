"""Checks of user names."""

import re


def valid_username(user):
    return isinstance(user, str) and re.fullmatch(r"[a-z_][a-z0-9_-]{0,30}[$]?", user) is not None
