"""`six` for plugins of a Python that does not have it."""

import sys

import salt.ext.six

sys.modules[__name__] = salt.ext.six
