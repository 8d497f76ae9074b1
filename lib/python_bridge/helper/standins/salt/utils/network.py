"""Addresses and interfaces. What the host has comes from the minion's functions."""

import ipaddress
import random
import re
import socket


def _network(fun, *args, **kwargs):
    import salt_bridge

    return salt_bridge.JOB.dunder("__salt__")["network." + fun](*args, **kwargs)


def sanitize_host(host):
    return re.sub(r"[^a-zA-Z0-9.\-_]", "", host)[:255]


def isportopen(host, port):
    if not 1 <= int(port) <= 65535:
        return False
    with socket.socket() as tried:
        tried.settimeout(5)
        return tried.connect_ex((sanitize_host(host), int(port))) == 0


def host_to_ips(host):
    try:
        found = socket.getaddrinfo(host, None, proto=socket.IPPROTO_TCP)
    except OSError:
        return None
    return list(dict.fromkeys(entry[4][0] for entry in found)) or None


def ip_to_host(ip):
    try:
        return socket.gethostbyaddr(ip)[0]
    except OSError:
        return None


def get_fqhostname():
    return socket.getfqdn()


def get_socket(addr, type=socket.SOCK_STREAM, proto=0):
    return socket.socket(socket.AF_INET6 if is_ipv6(addr) else socket.AF_INET, type, proto)


def is_reachable_host(entity_name):
    return host_to_ips(entity_name) is not None


def generate_minion_id():
    return socket.getfqdn()


def _parsed(kind, value):
    try:
        return kind(str(value).split("%")[0])
    except ValueError:
        return None


def is_ip(ip_addr):
    return is_ipv4(ip_addr) or is_ipv6(ip_addr)


def is_ipv4(ip_addr):
    return _parsed(ipaddress.IPv4Address, ip_addr) is not None


def is_ipv6(ip_addr):
    return _parsed(ipaddress.IPv6Address, ip_addr) is not None


def is_loopback(ip_addr):
    return ipaddress.ip_address(ip_addr).is_loopback


def is_subnet(cidr):
    return is_ipv4_subnet(cidr) or is_ipv6_subnet(cidr)


def is_ipv4_subnet(cidr):
    return "/" in str(cidr) and _parsed(ipaddress.IPv4Network, cidr) is not None


def is_ipv6_subnet(cidr):
    return "/" in str(cidr) and _parsed(ipaddress.IPv6Network, cidr) is not None


def natural_ipv4_netmask(ip_addr, fmt="prefixlen"):
    first = int(str(ip_addr).split(".")[0])
    bits = 8 if first < 128 else 16 if first < 192 else 24
    return cidr_to_ipv4_netmask(bits) if fmt == "netmask" else "/%d" % bits


def rpad_ipv4_network(ip_addr):
    return ".".join((ip_addr.split(".") + ["0"] * 4)[:4])


def cidr_to_ipv4_netmask(cidr_bits):
    try:
        return str(ipaddress.IPv4Network("0.0.0.0/%d" % int(cidr_bits)).netmask)
    except ValueError:
        return ""


def get_net_start(ipaddr, netmask):
    return str(ipaddress.ip_network("%s/%s" % (ipaddr, netmask), strict=False).network_address)


def get_net_size(mask):
    return bin(int(ipaddress.IPv4Address(mask))).count("1")


def calc_net(ipaddr, netmask=None):
    address = ipaddr if netmask is None else "%s/%s" % (ipaddr, netmask)
    return str(ipaddress.ip_network(address, strict=False))


def interfaces():
    return _network("interfaces")


linux_interfaces = interfaces


def hw_addr(iface):
    return _network("hw_addr", iface)


def interface(iface):
    return _network("interface", iface)


def interface_ip(iface):
    return _network("interface_ip", iface)


def subnets(interfaces=None):
    return _network("subnets", interfaces)


def subnets6():
    return _network("subnets6")


def in_subnet(cidr, addr=None):
    network = ipaddress.ip_network(cidr)
    given = [addr] if isinstance(addr, str) else addr or ip_addrs() + ip_addrs6()
    return any(ipaddress.ip_address(one) in network for one in given)


def ip_addrs(interface=None, include_loopback=False, interface_data=None):
    return _network("ip_addrs", interface, include_loopback)


def ip_addrs6(interface=None, include_loopback=False, interface_data=None):
    return _network("ip_addrs6", interface, include_loopback)


def hex2ip(hex_ip, invert=False):
    value = int(hex_ip, 16)
    octets = [(value >> shift) & 0xFF for shift in (24, 16, 8, 0)]
    return ".".join(map(str, reversed(octets) if invert else octets))


def gen_mac(prefix="AC:DE:48"):
    return "%s:%02X:%02X:%02X" % (prefix, random.randint(0, 255), random.randint(0, 255), random.randint(0, 255))


def mac_str_to_bytes(mac_str):
    digits = re.sub(r"[:-]", "", mac_str)
    if len(digits) != 12:
        raise ValueError("Invalid MAC address")
    return bytes.fromhex(digits)


def refresh_dns():
    """Does nothing: the resolver reads its configuration again by itself."""


def dns_check(addr, port=80, safe=False, ipv6=None, **kwargs):
    import salt.exceptions

    try:
        found = socket.getaddrinfo(addr, port, socket.AF_UNSPEC, socket.SOCK_STREAM)
    except OSError:
        if safe:
            return None
        raise salt.exceptions.SaltSystemExit(code=42, msg="DNS lookup of '%s' failed." % addr) from None
    wanted = socket.AF_INET6 if ipv6 else socket.AF_INET
    chosen = [entry for entry in found if entry[0] == wanted] or found
    return ip_bracket(chosen[0][4][0])


def parse_host_port(host_port):
    host, port = host_port, None
    found = re.fullmatch(r"\[(.+)\](?::(\d+))?", host_port) or re.fullmatch(r"([^:]+):(\d+)", host_port)
    if found:
        host, port = found.group(1), found.group(2)
    return host, int(port) if port else None


def ip_bracket(addr, strip=False):
    text = str(addr)
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    return "[%s]" % text if not strip and is_ipv6(text) else text


def ipwrap(data):
    return [ip_bracket(one) for one in data] if isinstance(data, (list, tuple, set)) else ip_bracket(data)


def filter_by_networks(values, networks):
    def inside(value):
        return any(ipaddress.ip_address(value) in ipaddress.ip_network(network) for network in networks)

    if networks is None or not values:
        return values
    if isinstance(values, dict):
        return {key: filter_by_networks(value, networks) for key, value in values.items()}
    return [value for value in values if inside(value)]
