"""Events, by the minion's `event.*`."""

TAGEND = "\n\n"
TAGPARTER = "/"


def tagify(suffix="", prefix="", base="salt"):
    parts = [base, prefix]
    parts.extend(suffix if isinstance(suffix, (list, tuple)) else [suffix])
    return TAGPARTER.join(str(part) for part in parts if part)


class SaltEvent:
    """Fires events on the bus of the minion, or of its master."""

    def __init__(self, node="minion", *args, **kwargs):
        self._node = node

    def fire_event(self, data, tag, timeout=1000):
        import salt_bridge

        job = salt_bridge.JOB
        if job.role == "runner":
            from salt_bridge.values import plain

            return job.ask("fire", data=plain(data), tag=tag)
        fun = "event.send" if self._node == "master" else "event.fire"
        given = (tag, data) if fun == "event.send" else (data, tag)
        return job.dunder("__salt__")[fun](*given)

    fire_master = fire_event

    def get_event(self, *args, **kwargs):
        raise NotImplementedError("salt.utils.event: a plugin of the bridge cannot wait for events")

    def destroy(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *args):
        pass


class MinionEvent(SaltEvent):
    pass


class MasterEvent(SaltEvent):
    def __init__(self, *args, **kwargs):
        super().__init__("master")


def get_event(node="minion", *args, **kwargs):
    return SaltEvent(node)


def get_master_event(*args, **kwargs):
    return SaltEvent("master")
