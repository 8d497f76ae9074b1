"""systemd."""

import os
import re
import subprocess


def booted(context=None):
    return os.path.isdir("/run/systemd/system")


def offline(context=None):
    return booted() and os.environ.get("SYSTEMD_OFFLINE", "").lower() in ("1", "yes", "true", "on")


def status(context=None):
    done = subprocess.run(["systemctl", "status"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return done.returncode == 0


def version(context=None):
    try:
        printed = subprocess.run(["systemctl", "--version"], stdout=subprocess.PIPE, check=False).stdout.decode()
    except OSError:
        return None
    found = re.search(r"\w+ ([0-9]+)", printed)
    return int(found.group(1)) if found else None


def has_scope(context=None):
    number = version(context)
    return number is not None and number >= 205


def pid_to_service(pid):
    try:
        with open("/proc/%s/cgroup" % pid) as file:
            found = re.search(r"/([^/]+\.service)$", file.read(), re.M)
    except OSError:
        return None
    return found.group(1) if found else None
