"""Which system this is."""

import platform as _platform
import subprocess
import sys


def is_windows():
    return sys.platform.startswith("win")


def is_linux():
    return sys.platform.startswith("linux")


def is_darwin():
    return sys.platform.startswith("darwin")


def is_freebsd():
    return sys.platform.startswith("freebsd")


def is_netbsd():
    return sys.platform.startswith("netbsd")


def is_openbsd():
    return sys.platform.startswith("openbsd")


def is_aix():
    return sys.platform.startswith("aix")


def is_sunos():
    return sys.platform.startswith("sunos")


def is_smartos():
    return is_sunos() and "joyent" in _platform.version()


def _zone():
    return subprocess.run(["zonename"], stdout=subprocess.PIPE, check=False).stdout.strip().decode()


def is_smartos_globalzone():
    return is_smartos() and _zone() == "global"


def is_smartos_zone():
    return is_smartos() and _zone() != "global"


def is_junos():
    return False


def is_proxy():
    return False


def _release():
    try:
        with open("/etc/os-release") as file:
            return dict(line.rstrip().partition("=")[::2] for line in file)
    except OSError:
        return {}


def is_fedora():
    return _release().get("ID", "").strip('"') == "fedora"


def is_photonos():
    return _release().get("ID", "").strip('"') == "photon"


def is_aarch64():
    return _platform.machine().startswith("aarch64")


def linux_distribution(full_distribution_name=True):
    release = _release()
    names = ("NAME" if full_distribution_name else "ID", "VERSION_ID", "VERSION_CODENAME")
    return tuple(release.get(name, "").strip('"') for name in names)


def spawning_platform():
    return False


def get_machine_identifier():
    for path in ("/etc/machine-id", "/var/lib/dbus/machine-id"):
        try:
            with open(path) as file:
                return file.read().strip()
        except OSError:
            pass
    return ""
