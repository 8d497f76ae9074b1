"""Parts of the minion's grains, by the functions that compute them in Salt."""

__opts__ = {}


def _grains(*names):
    import salt_bridge

    grains = salt_bridge.JOB.dunder("__grains__")
    return {name: grains[name] for name in names if name in grains}


def os_data():
    import salt_bridge

    return dict(salt_bridge.JOB.dunder("__grains__"))


def hostname():
    return _grains("localhost", "fqdn", "host", "domain")


def id_():
    return _grains("id")


def ip4():
    return _grains("ipv4")


def ip6():
    return _grains("ipv6")


def ip_interfaces():
    return _grains("ip_interfaces")


def hwaddr_interfaces():
    return _grains("hwaddr_interfaces")


def fqdns():
    return _grains("fqdns")


def dns():
    return _grains("dns")


def path():
    return _grains("path")


def pythonversion():
    return _grains("pythonversion")


def saltversion():
    return _grains("saltversion")


def locale_info():
    return _grains("locale_info")


def get_server_id():
    return _grains("server_id")
