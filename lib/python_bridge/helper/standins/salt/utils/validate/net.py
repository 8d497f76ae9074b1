"""Checks of addresses."""

import ipaddress
import re


def mac(addr):
    return re.fullmatch(r"([0-9a-fA-F]{1,2}[:-]){5}[0-9a-fA-F]{1,2}", addr) is not None


def _is(addr, kind):
    text, _, prefix = str(addr).partition("/")
    try:
        kind(text)
        return prefix == "" or 0 <= int(prefix) <= kind(text).max_prefixlen
    except ValueError:
        return False


def ipv4_addr(addr):
    return _is(addr, ipaddress.IPv4Address)


def ipv6_addr(addr):
    return _is(addr, ipaddress.IPv6Address)


def ip_addr(addr):
    return ipv4_addr(addr) or ipv6_addr(addr)


def netmask(mask):
    """Whether it is a mask of IPv4."""
    if not isinstance(mask, str) or not ipv4_addr(mask):
        return False
    inverted = int(ipaddress.IPv4Address(mask)) ^ 0xFFFFFFFF
    return inverted & (inverted + 1) == 0
