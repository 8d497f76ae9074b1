"""Names for plugins that import this module."""


def ip_bracket(addr):
    import salt.utils.network

    return salt.utils.network.ip_bracket(addr)


def zmq_version():
    return (0, 0, 0)


check_ipc_path_max_len = lambda uri: None
