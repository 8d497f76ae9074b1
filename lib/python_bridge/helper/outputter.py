"""Formats one value by an outputter in Python, for a command: a program of its own, which ends with it.

    python3 -E -s outputter.py

Standard input is a MessagePack map: `files` (the outputters' paths by name), `name`, `data`, `opts`. Standard output is
the text. An outputter that fails ends it with 1, and the reason on standard error.
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


class Here:
    """What the loader needs of a job: an outputter has its options, and no functions."""

    role = "command"

    def __init__(self, opts):
        self._dunders = {"__opts__": opts}

    def opts(self):
        return self._dunders["__opts__"]

    def dunder(self, name):
        return self._dunders.setdefault(name, {})

    def has(self, name):
        return False

    def starts_loading(self, loaded):
        pass

    def ask(self, what, **fields):
        raise RuntimeError("an outputter cannot use %s" % what)


def main():
    sys.pycache_prefix = os.path.join(HERE, "pyc")
    sys.path.insert(0, os.path.join(HERE, "standins"))
    sys.path.append(os.path.join(HERE, "fallbacks"))
    import salt_bridge
    from salt_bridge import loader, pack

    given = pack.decode(sys.stdin.buffer.read())
    job = salt_bridge.JOB = Here(given["opts"])
    # What a plugin prints must not become a part of the text.
    text, sys.stdout = sys.stdout, sys.stderr
    family = loader.Family(job, "output", given["files"])
    output = family.function(given["name"], "output")
    if output is None:
        sys.exit(family.reason(given["name"]) or "it has no function output")
    shown = output(given["data"])
    if shown is not None:
        text.write(str(shown))


if __name__ == "__main__":
    main()
