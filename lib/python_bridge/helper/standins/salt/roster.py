"""What rosters in Python use of Salt's rosters."""

import os

import salt.syspaths


def get_roster_file(options):
    """The path of the roster's file: the option `roster_file`, else `roster` in the directory of the configuration.

    :raises OSError: if it cannot be read.
    """
    own = options.get("config_dir") or salt.syspaths.CONFIG_DIR
    directory = options.get("__master_opts__", {}).get("config_dir") or own
    path = options.get("roster_file") or os.path.join(directory, "roster")
    if not os.path.isfile(path):
        raise OSError('Roster file "%s" not found' % path)
    if not os.access(path, os.R_OK):
        raise OSError('Access denied to roster "%s"' % path)
    return path
