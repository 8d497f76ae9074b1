"""The process that starts a process for each job: it has loaded the helper and the stand-ins, and forks.

    python3 -E -s zygote.py SOCKET MEMORY_BYTES PROCESSES [DESCRIPTOR]

It listens on the Unix socket. A connection is a job: its process is forked, and ends with the connection. Its host
first sends one byte: `s` if nothing that the job prints may be repeated, else `l`. The first frame of the answer says
which process serves it; when that has ended, another one says how. Both are JSON, with a 0 in place of the 1 of the
job's own frames. The byte `r` asks for another such process, which has loaded the real Salt in place of the stand-ins:
the answer says where it listens. That one is started with the descriptor of its socket. What plugins print goes to
standard output, a line each. Ends when standard input is closed, or when it was idle for five minutes.
"""

import collections
import errno
import gc
import importlib
import json
import os
import select
import signal
import socket
import struct
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))

IDLE_SECONDS = 300
#: Interval of the checks of memory while there are jobs, in milliseconds.
LOOK_MS = 250
#: Time between SIGTERM and SIGKILL for a job whose host has gone, in seconds.
TERM_SECONDS = 2
#: Limits of what a job prints: lines, and bytes of a line.
MAX_LINES = 1000
MAX_LINE = 2000
#: Time for the first byte of a connection, in seconds.
FIRST_BYTE_SECONDS = 5
PAGE = os.sysconf("SC_PAGE_SIZE")
#: Stand-ins that most plugins import, and that cost little: no job loads them again.
PRELOADED = (
    "salt.exceptions",
    "salt.ext.six",
    "salt.utils.args",
    "salt.utils.data",
    "salt.utils.decorators",
    "salt.utils.dictupdate",
    "salt.utils.files",
    "salt.utils.json",
    "salt.utils.odict",
    "salt.utils.path",
    "salt.utils.platform",
    "salt.utils.stringutils",
    "salt.utils.versions",
)


def frame(fields):
    content = json.dumps(fields).encode()
    return struct.pack(">IB", len(content), 0) + content


class Child:
    """The process of one job, as the zygote sees it."""

    def __init__(self, pid, connection, printed, silent=False):
        self.pid = pid
        self.silent = silent
        self.connection = connection
        self.printed = printed
        self.status = None
        self.rest = b""
        self.last = ""
        self.lines = 0
        self.killed_at = None
        #: Why it was killed, if it has exceeded a limit.
        self.exceeded = None

    def read_printed(self):
        """Reads what it has printed.

        :returns: whether there may be more.
        """
        try:
            data = os.read(self.printed, 1 << 16)
        except BlockingIOError:
            return True
        except OSError:
            data = b""
        lines = (self.rest + data).split(b"\n")
        self.rest = lines.pop()[:MAX_LINE] if data else b""
        for line in lines:
            self.note(line[:MAX_LINE].decode("utf-8", "replace"))
        return bool(data)

    def note(self, line):
        if self.silent or not line.strip():
            return
        self.last = line
        self.lines += 1
        if self.lines <= MAX_LINES:
            say({"pid": self.pid, "printed": line})
        elif self.lines == MAX_LINES + 1:
            say({"pid": self.pid, "printed": "further output is left out"})

    def signal(self, number):
        for pid in (-self.pid, self.pid):
            try:
                os.kill(pid, number)
            except OSError:
                pass  # it has ended, as intended

    def resident(self):
        try:
            with open("/proc/%d/statm" % self.pid) as file:
                return int(file.read().split()[1]) * PAGE
        except (OSError, IndexError, ValueError):
            return 0

    def end_because(self, why):
        self.exceeded = why
        self.signal(signal.SIGKILL)

    def how_it_ended(self):
        code = self.status
        if self.exceeded is not None:
            what = self.exceeded
        elif os.WIFSIGNALED(code):
            number = os.WTERMSIG(code)
            try:
                name = signal.Signals(number).name
            except ValueError:
                name = str(number)
            what = "it was ended by %s" % name
        else:
            what = "it ended with exit code %d" % os.WEXITSTATUS(code)
        return "%s; the last line it printed was: %s" % (what, self.last) if self.last else what


def threads_of_host():
    """How many threads the host has, cheaply."""
    try:
        with open("/proc/loadavg") as file:
            return int(file.read().split()[3].partition("/")[2])
    except (OSError, IndexError, ValueError):
        return 0


def process_groups():
    """The group of each process of the host."""
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open("/proc/%s/stat" % name, "rb") as file:
                yield int(file.read().rpartition(b")")[2].split()[2])
        except (OSError, IndexError, ValueError):
            pass  # it has ended


def say(fields):
    """Writes a line for the daemon; a daemon that does not read it any more has ended."""
    try:
        os.write(1, json.dumps(fields).encode() + b"\n")
    except OSError:
        pass


def listen(path):
    """A socket at this path, for the user of this process alone."""
    mask = os.umask(0o177)
    try:
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(path)
        listener.listen(128)
    finally:
        os.umask(mask)
    return listener


class RealZygote:
    """The process like this one that has loaded the real Salt."""

    def __init__(self, path):
        self.path = path
        self.pid = None
        #: It ends when this is closed: with this process.
        self.input = None

    def start(self, memory, processes):
        """Starts it, unless it runs. Connections wait until it has loaded what it needs."""
        if self.pid is not None:
            return
        unlink(self.path)
        listener = listen(self.path)
        reads, self.input = os.pipe()
        for descriptor in (listener.fileno(), reads):
            os.set_inheritable(descriptor, True)
        words = [sys.executable, "-E", "-s", "-X", "utf8", os.path.join(HERE, "zygote.py")]
        words += [self.path, str(memory), str(processes), str(listener.fileno())]
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.dup2(reads, 0)
                os.execv(words[0], words)
            finally:
                os._exit(70)
        listener.close()
        os.close(reads)

    def has_ended(self):
        os.close(self.input)
        self.pid = self.input = None
        unlink(self.path)


def unlink(path):
    try:
        os.unlink(path)
    except OSError:
        pass  # somebody else has removed it


class Zygote:
    def __init__(self, path, memory, processes, listener):
        self.memory = memory
        self.processes = processes
        self.children = {}
        self.poll = select.poll()
        self.listener = listener
        self.path = path
        self.real = RealZygote(path + "r")
        self.wake, self.waker = os.pipe()
        for end in (self.wake, self.waker):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(self.waker, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        self.base = 0
        #: Threads of the host when no job had many processes.
        self.threads = threads_of_host()
        self.by_descriptor = {}

    def run(self):
        self.poll.register(0, select.POLLIN)
        self.poll.register(self.listener, select.POLLIN)
        self.poll.register(self.wake, select.POLLIN)
        while True:
            events = self.poll.poll(LOOK_MS if self.children else IDLE_SECONDS * 1000)
            if not events and not self.children and self.real.pid is None:
                return
            for descriptor, event in events:
                if descriptor == 0:
                    return
                if descriptor == self.listener.fileno():
                    self.accept()
                elif descriptor == self.wake:
                    self.drain()
                else:
                    self.happened(descriptor, event)
            self.reap()
            self.look()

    def drain(self):
        try:
            os.read(self.wake, 4096)
        except BlockingIOError:
            pass

    def accept(self):
        try:
            connection, _ = self.listener.accept()
            connection.settimeout(FIRST_BYTE_SECONDS)
            first = connection.recv(1)
            connection.settimeout(None)
        except OSError:
            return
        if first == b"r":
            self.lend_real(connection)
            return
        printed, output = os.pipe()
        try:
            pid = os.fork()
        except OSError as error:
            connection.sendall(frame({"ended": "it cannot be started: %s" % error}))
            connection.close()
            os.close(printed)
            os.close(output)
            return
        if pid == 0:
            self.become_job(connection, output)
        os.close(output)
        os.set_blocking(printed, False)
        child = Child(pid, connection, printed, silent=first == b"s")
        self.children[pid] = child
        self.by_descriptor[connection.fileno()] = child
        self.by_descriptor[printed] = child
        self.poll.register(connection, 0)
        self.poll.register(printed, select.POLLIN)

    def lend_real(self, connection):
        """Says where the process with the real Salt listens."""
        self.reap()
        try:
            self.real.start(self.memory, self.processes)
            answer = {"real": self.real.path}
        except OSError as error:
            answer = {"ended": "the process with the real Salt cannot be started: %s" % error}
        try:
            connection.sendall(frame(answer))
        except OSError:
            pass  # the host has gone
        connection.close()

    def become_job(self, connection, output):
        """In the new process: runs the job, and never returns."""
        try:
            os.setsid()
            signal.set_wakeup_fd(-1)
            for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGPIPE, signal.SIGHUP):
                signal.signal(number, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            self.listener.close()
            inputs = () if self.real.input is None else (self.real.input,)
            for descriptor in (self.wake, self.waker, *inputs, *self.by_descriptor):
                os.close(descriptor)
            null = os.open(os.devnull, os.O_RDONLY)
            os.dup2(null, 0)
            os.dup2(output, 1)
            os.dup2(output, 2)
            os.close(null)
            os.close(output)
            connection.sendall(frame({"started": os.getpid()}))
            from salt_bridge import job

            job.serve(connection)
        except BaseException:
            import traceback

            traceback.print_exc()
        os._exit(70)

    def happened(self, descriptor, event):
        child = self.by_descriptor.get(descriptor)
        if child is None:
            return
        if descriptor == child.printed:
            if not child.read_printed():
                self.close_printed(child)
            return
        # The host has gone: the job has no purpose any more.
        self.forget(descriptor)
        child.connection.close()
        child.connection = None
        if child.status is None:
            child.signal(signal.SIGTERM)
            child.killed_at = time.monotonic() + TERM_SECONDS

    def close_printed(self, child):
        """Its number may be that of the next connection: the child must not know it any more."""
        self.forget(child.printed)
        os.close(child.printed)
        child.printed = None

    def forget(self, descriptor):
        self.poll.unregister(descriptor)
        del self.by_descriptor[descriptor]

    def reap(self):
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except OSError as error:
                if error.errno != errno.ECHILD:
                    raise
                return
            if pid == 0:
                return
            if pid == self.real.pid:
                self.real.has_ended()
            child = self.children.pop(pid, None)
            if child is not None:
                child.status = status
                self.end(child)

    def end(self, child):
        # Processes that it has left in its group end with it.
        child.signal(signal.SIGKILL)
        if child.printed is not None:
            for _ in range(1 << 10):
                if not child.read_printed() or not select.select([child.printed], [], [], 0)[0]:
                    break
            if child.rest:
                child.note(child.rest.decode("utf-8", "replace"))
            self.close_printed(child)
        if child.connection is None:
            return
        self.forget(child.connection.fileno())
        child.connection.setblocking(False)
        try:
            child.connection.sendall(frame({"ended": child.how_it_ended()}))
        except OSError:
            pass  # the host has gone
        child.connection.close()

    def look(self):
        now = time.monotonic()
        for child in self.children.values():
            if child.killed_at is not None and now >= child.killed_at:
                child.signal(signal.SIGKILL)
            elif child.resident() > self.memory + self.base:
                child.end_because("it needed more memory than it may have (custom_module_memory: %d)" % self.memory)
        if self.children and threads_of_host() > self.threads + self.processes:
            self.look_for_bombs()

    def look_for_bombs(self):
        """Ends the jobs with too many processes. It reads all of the host's, so it runs only when these became many."""
        groups = collections.Counter(process_groups())
        for child in self.children.values():
            if groups[child.pid] > self.processes:
                child.end_because("it started more than %d processes" % self.processes)
        self.threads = threads_of_host()


class SixFinder:
    """Finds `salt.ext.six`, which Salt has no longer."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != "salt.ext.six":
            return None
        import importlib.util

        return importlib.util.spec_from_file_location(name, os.path.join(HERE, "standins", "salt", "ext", "six.py"))


def preload(is_real):
    """Loads the helper, and what most plugins import: the stand-ins, or parts of the real Salt."""
    # The stand-ins come before a real `salt`; `six` only after a real one.
    if is_real:
        sys.meta_path.append(SixFinder)
    else:
        sys.path.insert(0, os.path.join(HERE, "standins"))
    sys.path.append(os.path.join(HERE, "fallbacks"))
    import salt_bridge.job

    for name in PRELOADED:
        try:
            importlib.import_module(name)
        except ImportError:
            if not is_real:
                raise


def main():
    path, memory, processes = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    is_real = len(sys.argv) > 4
    sys.pycache_prefix = os.path.join(HERE, "pyc")
    preload(is_real)
    listener = socket.socket(fileno=int(sys.argv[4])) if is_real else listen(path)
    listener.set_inheritable(False)
    zygote = Zygote(path, memory, processes, listener)
    os.chdir("/")
    gc.collect()
    gc.freeze()
    child = Child(os.getpid(), None, None)
    zygote.base = child.resident()
    say({"ready": sys.version.split()[0]})
    try:
        zygote.run()
    finally:
        for child in zygote.children.values():
            child.signal(signal.SIGKILL)
        if not is_real:
            unlink(path)
            unlink(zygote.real.path)


if __name__ == "__main__":
    main()
