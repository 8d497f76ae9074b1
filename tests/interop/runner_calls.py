""" Calls runners of Python Salt in one process, without the bus of a master, and prints their results as one line of JSON:
what `salt-run --out=json` shows of each.

    python runner_calls.py CONFIGURATION_OF_THE_MASTER CALLS

CALLS is a JSON list of lists: the name of a runner and its arguments.
"""
import json
import logging
import sys

import salt.config
import salt.runner

logging.disable(logging.CRITICAL)
runner = salt.runner.RunnerClient(salt.config.client_config(sys.argv[1]))


def shown(result):
    """A result may name its outputter."""
    return result["data"] if isinstance(result, dict) and set(result) == {"outputter", "data"} else result


print(json.dumps([shown(runner.functions[name](*args)) for name, *args in json.loads(sys.argv[2])]))
