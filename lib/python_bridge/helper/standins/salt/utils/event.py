"""Events: of a minion by its `event.*`, of an engine and a runner by the bus of their host."""

import time
from collections.abc import MutableMapping

TAGEND = "\n\n"
TAGPARTER = "/"

#: Streams of events whose objects are gone without having been closed.
_ABANDONED = []


def tagify(suffix="", prefix="", base="salt"):
    parts = [base, prefix]
    parts.extend(suffix if isinstance(suffix, (list, tuple)) else [suffix])
    return TAGPARTER.join(str(part) for part in parts if part)


class SaltEvent:
    """The bus of the minion, or of its master. Engines read it too."""

    def __init__(self, node="minion", sock_dir=None, opts=None, listen=True, *args, **kwargs):
        self._node = node
        self._stream = None
        self.raise_errors = False
        if listen and self._job().role == "engine":
            self.connect_pub()

    def _job(self):
        import salt_bridge

        return salt_bridge.JOB

    def fire_event(self, data, tag, timeout=1000):
        if not str(tag):
            raise ValueError("Empty tag.")
        if not isinstance(data, MutableMapping):
            raise ValueError("Dict object expected, not '%s'." % (data,))
        job = self._job()
        if job.role in ("runner", "engine"):
            from salt_bridge.values import plain

            return job.ask("fire", data=plain(data), tag=str(tag), here=self._node != "master")
        fun = "event.send" if self._node == "master" else "event.fire"
        given = (tag, data) if fun == "event.send" else (data, tag)
        return job.dunder("__salt__")[fun](*given)

    def fire_master(self, data, tag, timeout=1000):
        """Sends an event to the master."""
        return SaltEvent("master", listen=False).fire_event(data, tag)

    def connect_pub(self, timeout=None):
        """Reads the events from now on."""
        job = self._job()
        if job.role != "engine":
            raise NotImplementedError("salt.utils.event: only engines wait for events")
        if self._stream is None:
            while _ABANDONED:
                job.ask("event_close", stream=_ABANDONED.pop())
            self._stream = job.ask("event_open")
        return True

    subscribe = unsubscribe = lambda self, tag=None, match_type=None: None

    def get_event(self, wait=5, tag="", full=False, match_type=None, no_block=False, auto_reconnect=False):
        """The next event whose tag begins with `tag`; None if none comes within `wait` seconds; 0: for ever."""
        self.connect_pub()
        ends = None if not wait and not no_block else time.monotonic() + (0 if no_block else wait)
        while True:
            left = 60 if ends is None else ends - time.monotonic()
            event = self._job().ask("event_next", stream=self._stream, wait_ms=int(max(0, min(left, 60)) * 1000))
            if event is not None and _fits(event["tag"], tag or "", match_type):
                return event if full else event["data"]
            if event is None and ends is not None and time.monotonic() >= ends:
                return None

    def iter_events(self, tag="", full=False, match_type=None, auto_reconnect=False):
        """The events whose tags begin with `tag`, for ever."""
        while True:
            event = self.get_event(60, tag, full, match_type)
            if event is not None:
                yield event

    def get_event_noblock(self):
        return self.get_event(tag="", full=True, no_block=True)

    get_event_block = lambda self: self.get_event(wait=0, full=True)

    def close_pub(self):
        if self._stream is not None:
            self._job().ask("event_close", stream=self._stream)
            self._stream = None

    destroy = close_pub

    def __del__(self):
        # The link may be in use while Python collects it.
        if self._stream is not None:
            _ABANDONED.append(self._stream)

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.close_pub()


def _fits(tag, wanted, match_type):
    if match_type == "endswith":
        return tag.endswith(wanted)
    if match_type == "find":
        return wanted in tag
    if match_type == "regex":
        import re

        return re.search("^" + wanted, tag) is not None
    if match_type == "fnmatch":
        import fnmatch

        return fnmatch.fnmatch(tag, wanted)
    return tag.startswith(wanted)


class MinionEvent(SaltEvent):
    def __init__(self, opts=None, listen=True, **kwargs):
        super().__init__("minion", None, opts, listen)


class MasterEvent(SaltEvent):
    def __init__(self, sock_dir=None, opts=None, listen=True, **kwargs):
        super().__init__("master", sock_dir, opts, listen)


def get_event(node="minion", sock_dir=None, opts=None, listen=True, **kwargs):
    return SaltEvent(node, sock_dir, opts, listen)


def get_master_event(opts=None, sock_dir=None, listen=True, **kwargs):
    return SaltEvent("master", sock_dir, opts, listen)
