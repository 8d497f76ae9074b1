"""The dumper of YAML."""

from salt.utils.yaml import *  # noqa: F403
from salt.utils.yaml import dump, safe_dump
