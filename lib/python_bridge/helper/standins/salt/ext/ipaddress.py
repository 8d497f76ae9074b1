"""The standard library's module."""

from ipaddress import *  # noqa: F403
