"""The configuration of beacons."""

import copy


def remove_hidden_options(config, whitelist):
    hidden = {"enabled", "run_once"} - set(whitelist)
    return [item for item in copy.copy(config) if not (isinstance(item, dict) and set(item) & hidden)]


def list_to_dict(config):
    """A list of maps as one map."""
    made = {}
    for item in config:
        made.update(item)
    return made
