"""Formats values by an outputter in Python, for a command: one process for all of them, which ends with its input.

    python3 -E -s outputter.py FILE

Standard input has a byte for each value, which is then in FILE, as a MessagePack map: `files` (the outputters' paths by
name), `name`, `data`, `opts`. Standard output has the answers, in this order: a byte, the length in four bytes, and a
text. The byte is 0 for what is shown, and 1 for why the outputter failed.
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

    #: No other process takes files that need the real Salt.
    may_be_elsewhere = False

    def has(self, name):
        return False

    def starts_loading(self, loaded):
        pass

    def ask(self, what, **fields):
        raise RuntimeError("an outputter cannot use %s" % what)


class Outputters:
    def __init__(self):
        self._job = None
        self._family = None

    def shown(self, given):
        """The text of a value."""
        import salt_bridge
        from salt_bridge import loader

        if self._job is None:
            self._job = salt_bridge.JOB = Here(given["opts"])
            self._family = loader.Family(self._job, "output", given["files"])
        self._job.opts().update(given["opts"])
        output = self._family.function(given["name"], "output")
        if output is None:
            raise ValueError(self._family.reason(given["name"]) or "it has no function output")
        shown = output(given["data"])
        return "" if shown is None else str(shown)


def answer(outputters, content):
    """The byte and the text that answer a value."""
    from salt_bridge import pack

    try:
        return 0, outputters.shown(pack.decode(content))
    except (Exception, SystemExit) as error:
        return 1, "%s: %s" % (type(error).__name__, error)


def main():
    sys.pycache_prefix = os.path.join(HERE, "pyc")
    sys.path.insert(0, os.path.join(HERE, "standins"))
    sys.path.append(os.path.join(HERE, "fallbacks"))
    # What a plugin prints must not become a part of an answer.
    target = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    outputters = Outputters()
    while True:
        if os.read(0, 1) == b"":
            return
        with open(sys.argv[1], "rb") as file:
            code, text = answer(outputters, file.read())
        data = text.encode("utf-8", "replace")
        target.write(bytes((code,)) + len(data).to_bytes(4, "big") + data)
        target.flush()


if __name__ == "__main__":
    main()
