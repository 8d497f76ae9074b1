"""Processes."""

import contextlib
import multiprocessing
import os
import signal
import threading


def appendproctitle(name):
    """Does nothing: the name of a job's process is the bridge's."""


def daemonize(redirect_out=True):
    """Leaves the job: the process continues as one of its own."""
    if os.fork() > 0:
        os._exit(0)
    os.setsid()


def daemonize_if(opts):
    """Does nothing: a job runs in a process of its own."""


def os_is_running(pid):
    try:
        os.kill(int(pid), 0)
        return True
    except PermissionError:
        return True
    except (OSError, ValueError):
        return False


def get_pidfile(pidfile):
    try:
        with open(pidfile) as file:
            return int(file.read())
    except (OSError, ValueError):
        return -1


def check_pidfile(pidfile):
    return os.path.isfile(pidfile)


def set_pidfile(pidfile, user):
    with open(pidfile, "w") as file:
        file.write(str(os.getpid()))


def clean_proc(proc, wait_for_kill=10):
    proc.terminate()
    proc.join(wait_for_kill)
    if proc.is_alive():
        proc.kill()


@contextlib.contextmanager
def default_signals(*signals):
    old = {number: signal.signal(number, signal.SIG_DFL) for number in signals}
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


class Process(multiprocessing.Process):
    """A process of a plugin."""


SignalHandlingProcess = MultiprocessingProcess = SignalHandlingMultiprocessingProcess = Process
Thread = threading.Thread
