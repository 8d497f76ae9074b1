"""The loader of YAML."""

from salt.utils.yaml import *  # noqa: F403
from salt.utils.yaml import load
