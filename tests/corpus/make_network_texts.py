#!/usr/bin/env python3
"""Writes network_texts.json: Salt's results for usual and unusual outputs of `ip` and `ifconfig`. Run it as make_argspec.py. A case is a function,
the output of its program, and the result or error."""
import json
import pathlib

import salt.modules.network as network
import salt.utils.network as interfaces

network.__utils__ = {"network.calc_net": interfaces.calc_net}
LINK = "2: eth0: <BROADCAST,UP> mtu 1500\n    link/ether 52:54:00:12:34:56 brd ff:ff:ff:ff:ff:ff\n"
IFCONFIG = [
    "eth0      Link encap:Ethernet  HWaddr 52:54:00:12:34:56\n          inet addr:10.1.2.3  Bcast:10.1.15.255  Mask:255.255.240.0\n          inet6 addr: fe80::5054:ff:fe12:3456/64 Scope:Link\n          UP BROADCAST RUNNING  MTU:1500  Metric:1\n\nlo        Link encap:Local Loopback\n          inet addr:127.0.0.1  Mask:255.0.0.0\n          inet6 addr: ::1/128 Scope:Host\n",
    "em0: flags=8843<UP,BROADCAST> metric 0 mtu 1500\n\tether 08:00:27:94:c3:5b\n\tinet 10.0.2.15 netmask 0xffffff00 broadcast 10.0.2.255 \n\tinet6 fe80::a00:27ff:fe94:c35b%em0 prefixlen 64 scopeid 0x1 \n\tinet 10.9.9.9 netmask 0xffffff80 \n",
    "tun0: flags=4305<UP,POINTOPOINT>  mtu 1500\n        inet 10.8.0.2  netmask 255.255.255.255  destination 10.8.0.1\n        inet6 fd00::2  \n        unspec 00-00-00\n",
    "eth1: flags=2<BROADCAST>  mtu 1500\n",
]
ADDR = [
    "    inet 10.9.9.9/0 scope global eth0\n", "    inet 10.9.9.9 peer 10.9.9.1/32 scope global eth0\n", "    inet6 fd00::1/64 scope link\n    inet6 fd00::2/128 scope global\n", "    inet 10.9.9.9/24 brd 10.9.9.255 scope global secondary eth0:1\n    inet6 fd00::3/64 scope global secondary\n",
    "    inet\n    inet6\n    link\n", "    link/none\n", "    link/infiniband 80:00:00:48:fe:80 brd 00\n    vf 0 MAC 00:00\n",
]
ROUTES = ["default via 10.1.0.1 dev eth0 proto dhcp\n10.1.0.0/20 dev eth0 scope link\nunreachable 10.9.0.0/16\n", "default via 10.1.0.1 proto static\n10.2.0.0/16 via 10.1.0.2 dev eth0\n10.3.0.1 dev tun0\n", "default dev ppp0 scope link\n"]
ROUTES6 = [
    "::1 dev lo proto kernel\ndefault via fe80::1 dev eth0\nlocal fd00::2 dev eth0 table local\nmulticast ff00::/8 dev eth0\n", "default via fe80::1 proto ra\nlocal ::1 table local\nfd01::/64 via fe80::1 dev eth0\nblackhole fd09::/64\n", "unreachable ::/96 dev lo\nanycast fd00:: dev eth0\n",
]


def returned(function, *args):
    try:
        return {"return": function(*args)}
    except Exception as exc:  # an error is a result, too
        return {"error": f"{type(exc).__name__}: {exc}"}


cases = [{"function": "ifconfig", "text": text, **returned(interfaces._interfaces_ifconfig, text)} for text in IFCONFIG]
for text in ADDR:
    text = f"{LINK}{text}"
    cases.append({"function": "ip", "text": text, **returned(interfaces._interfaces_ip, text)})
    interfaces.interfaces = lambda text=text: interfaces._interfaces_ip(text)
    cases.append({"function": "subnets", "text": text, **returned(interfaces.subnets)})
for name, function, texts in (("ip_routes", network._ip_route_linux, ROUTES), ("ip_routes6", network._ip_route_linux, ROUTES6)):
    for text in texts:
        # The function runs ip for both families.
        network.__salt__ = {"network.calc_net": network.calc_net, "cmd.run": lambda cmd, *_args, _text=text, _six=name.endswith("6"), **_kwargs: _text if ("-6" in cmd) == _six else ""}
        cases.append({"function": name, "text": text, **returned(function)})
with open(pathlib.Path(__file__).parent / "network_texts.json", "w", encoding="utf-8") as out:
    out.write("[\n" + ",\n".join(json.dumps(one, ensure_ascii=False) for one in cases) + "\n]\n")
