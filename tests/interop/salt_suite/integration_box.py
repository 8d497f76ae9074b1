"""Runs Salt's integration tests against a Salt that is not Python: a pytest plugin for pytest-salt-factories.

The commands are those of the directory that pytest's option `--scripts-dir` names. Salt's own conftest files and fixtures
are used as they are. Two expectations of pytest-salt-factories need a Python Salt, and are replaced here: an engine in
each daemon, which forwards the master's events to the tests, and a log handler.

Environment: `SALT_SUITE_RESULTS`, a file that gets a line of JSON for each test: its id, its outcome (passed, failed,
skipped), and why it did not pass. A fixture that fails after its test adds a line.
"""

import contextlib
import datetime
import json
import os
import pathlib
import socket
import threading

import msgpack
from saltfactories.daemons.master import SaltMaster
from saltfactories.manager import FactoriesManager
from saltfactories.utils import running_username

RESULTS = os.environ["SALT_SUITE_RESULTS"]

# Time between two tries to connect, and between two looks at whether to stop, in seconds.
PAUSE = 0.1

# The smallest value of the option that this project accepts; pytest-salt-factories gives minions 0.05.
LOOP_INTERVAL = 0.1


class EventReader:
    """A thread that reads the event bus of a master while it runs, and gives its events to the tests."""

    def __init__(self, master):
        config = master.config
        self.master_id = config["id"]
        self.bus = str(pathlib.Path(config["sock_dir"]) / "master_event_pub.ipc")
        self.ports = (config["publish_port"], config["ret_port"])
        self.listener_port = master.event_listener.port
        self.stopping = threading.Event()
        self.thread = None

    def start(self):
        self.stop()
        self.stopping.clear()
        self.thread = threading.Thread(target=self.follow, name=f"events of {self.master_id}", daemon=True)
        self.thread.start()

    def stop(self):
        self.stopping.set()
        if self.thread is not None:
            self.thread.join()
            self.thread = None

    def follow(self):
        """Connects again whenever the master ends: some tests restart it without the fixture."""
        with contextlib.closing(socket.create_connection(("127.0.0.1", self.listener_port))) as listener:
            while not self.stopping.is_set():
                bus = self.connect(socket.AF_UNIX, self.bus)
                if bus is None:
                    return
                with contextlib.closing(bus):
                    for port in self.ports:
                        found = self.connect(socket.AF_INET, ("127.0.0.1", port))
                        if found is None:
                            return
                        found.close()
                    # The tests wait for this event; a master sends it before anybody can read its bus.
                    self.give(listener, f"salt/master/{self.master_id}/start", {"id": self.master_id})
                    for tag, data in self.events(bus):
                        self.give(listener, tag, data)

    def connect(self, family, address):
        """A connection as soon as there is one; None if the reader has to stop before."""
        while not self.stopping.is_set():
            found = socket.socket(family, socket.SOCK_STREAM)
            found.settimeout(PAUSE)
            try:
                found.connect(address)
                return found
            except OSError:
                found.close()
                self.stopping.wait(PAUSE)
        return None

    def events(self, bus):
        """The events of the bus until the master or the reader ends: tag and data."""
        # A frame is a map of MessagePack; its body is the tag, two line ends, and the data as MessagePack.
        frames = msgpack.Unpacker(raw=True, strict_map_key=False)
        while not self.stopping.is_set():
            try:
                received = bus.recv(65536)
            except socket.timeout:
                continue
            except ConnectionError:
                return
            if not received:
                return
            frames.feed(received)
            for frame in frames:
                tag, _, packed = frame[b"body"].partition(b"\n\n")
                data = msgpack.unpackb(packed, raw=False, strict_map_key=False, unicode_errors="replace")
                if isinstance(data, dict):
                    yield tag.decode(errors="replace"), data

    def give(self, listener, tag, data):
        now = datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None).isoformat()
        event = {"id": self.master_id, "tag": tag, "data": {"_stamp": now, **data}}
        listener.sendall(msgpack.packb(event, use_bin_type=True, default=str))


def plain_config(_manager, config, _role):
    """The configuration of a daemon without engine and log handler of pytest-salt-factories."""
    config.setdefault("user", running_username())
    config["loop_interval"] = max(config.get("loop_interval", 1), LOOP_INTERVAL)


prepare_master = SaltMaster.__attrs_post_init__


def prepare_read_master(master):
    prepare_master(master)
    reader = EventReader(master)
    master.before_start(reader.start)
    master.after_terminate(reader.stop)


FactoriesManager.final_common_config_tweaks = plain_config
SaltMaster.__attrs_post_init__ = prepare_read_master


def pytest_runtest_logreport(report):
    if report.when != "call" and report.outcome == "passed":
        return
    line = {"id": report.nodeid, "outcome": report.outcome}
    if report.outcome != "passed":
        line["why"] = str(report.longrepr)[-3000:]
    with open(RESULTS, "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
