"""Modules of the standard library under the names by which older plugins import them."""

import importlib
import io
import ipaddress
import subprocess
import xml.etree.ElementTree as ElementTree

StringIO = io.StringIO
importlib_metadata = importlib.metadata if hasattr(importlib, "metadata") else importlib.import_module("importlib.metadata")
