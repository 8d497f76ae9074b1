""" Prints the master's public key as Python Salt finds it.

    python master_key.py CONFIGURATION_OF_THE_MASTER [start]

With `start` it does what the start of Python's master does; without, what its wheel function `key.master_key_str` does.
"""
import json
import sys

import salt.config
import salt.crypt

opts = salt.config.master_config(sys.argv[1])
keys = salt.crypt.MasterKeys(opts, autocreate="start" in sys.argv)
print(json.dumps(keys.get_pub_str()))
