"""The cases of make_ip.py: calls of the module `ip` on systems of two families."""

DEBIAN = {"os": "Debian", "os_family": "Debian", "osfullname": "Debian", "osrelease": "12", "osrelease_info": [12], "osmajorrelease": 12}
UBUNTU = {**DEBIAN, "os": "Ubuntu", "osfullname": "Ubuntu", "osrelease": "22.04", "osrelease_info": [22, 4], "osmajorrelease": 22}
OLD_DEBIAN = {**DEBIAN, "osrelease": "5.0", "osrelease_info": [5, 0]}
ALMA = {"os": "AlmaLinux", "os_family": "RedHat", "osfullname": "AlmaLinux", "osrelease": "9.3", "osmajorrelease": 9, "num_cpus": 4}
CENTOS = {**ALMA, "os": "CentOS", "osrelease": "7.9", "osmajorrelease": 7}
RHEL10 = {**ALMA, "os": "RedHat", "osrelease": "10.0", "osmajorrelease": 10}
FEDORA = {**ALMA, "os": "Fedora", "osrelease": "39", "osmajorrelease": 39}
AMAZON = {**ALMA, "os": "Amazon", "osrelease": "2", "osmajorrelease": 2}

BASIC = """# The loopback network interface
auto lo
iface lo inet loopback

auto eth0
allow-hotplug eth0
iface eth0 inet static
    address 192.168.4.9
    netmask 255.255.255.0
    gateway 192.168.4.1
    dns-nameservers 8.8.8.8 8.8.4.4
    up ip route add 10.0.0.0/8 via 192.168.4.2
    post-down echo down
    metric 024

iface eth0 inet6 static
    address 2001:db8::3/64
    address 2001:db8::4
    netmask 64
    accept_ra 1
    dad-interval 0.5
"""
RICH = """source /etc/network/interfaces.d/*
auto bond0 eth7
iface bond0 inet manual
    bond-mode 4
    bond_miimon 100
    bond-slaves eth4 eth5
    link-speed 1000
    ethernet-wol g
iface br0 inet dhcp
    bridge_ports eth1 eth2
    bridge-stp on
    offload-gro off
    unknown-word 1
    mtu abc
    wpa-ssid my net
"""
DEBIAN_FILES = {"etc/network/interfaces": BASIC, "etc/hostname": "web1.example.com\n", "etc/resolv.conf": "domain example.com\nsearch a.example b.example # no\nnameserver 1.1.1.1\n",
                "etc/default/networking": "# x\nCONFIGURE_INTERFACES=yes\n", "etc/modprobe.d/": "", "etc/network/if-up.d/": "", "etc/network/if-down.d/": "", "etc/ppp/peers/": "", "etc/network/interfaces.d/": ""}
RICH_FILES = {**DEBIAN_FILES, "etc/network/interfaces": RICH, "etc/network/interfaces.d/extra": "auto eth9\niface eth9 inet dhcp\n    hostname web9\n"}
RH_FILES = {"etc/sysconfig/network-scripts/": "", "etc/sysconfig/network": "# x\nNETWORKING=yes\nHOSTNAME=web1.example.com\nGATEWAY=10.0.0.1\nbroken\n\n"}
STATIC = {"proto": "static", "ipaddr": "10.1.0.1", "netmask": "255.255.255.0", "gateway": "10.1.0.254", "dns": ["8.8.8.8", "8.8.4.4"]}
BOND = {"slaves": "eth4 eth5", "proto": "manual", "use_carrier": "on"}
ROUTES = [
    {"name": "secure_network", "ipaddr": "10.2.0.0", "netmask": "255.255.255.0", "gateway": "10.1.0.3"},
    {"ipaddr": "10.4.0.0", "netmask": 24, "metric": 100},
    {"ipaddr": "2001:db8:1::", "netmask": 48, "gateway": "2001:db8::1"},
    {"name": "no gateway", "ipaddr": "10.5.0.0/16"},
]


def debian(fun, *args, files=DEBIAN_FILES, grains=DEBIAN, answers=None, **kwargs):
    return {"module": "debian_ip", "fun": fun, "args": list(args), "kwargs": kwargs, "grains": grains, "files": files, "answers": answers or {}}


def rh(fun, *args, files=RH_FILES, grains=ALMA, answers=None, **kwargs):
    return {"module": "rh_ip", "fun": fun, "args": list(args), "kwargs": kwargs, "grains": grains, "files": files, "answers": answers or {}}


def twice(make, *args, **kwargs):
    """The same case in test mode and not in test mode."""
    return [make(*args, **{**kwargs, "test": True}), make(*args, **{**kwargs, "test": False})]


CASES = [
    debian("get_interface", "eth0"), debian("get_interface", "lo"), debian("get_interface", "none"),
    debian("get_interface", "bond0", files=RICH_FILES), debian("get_interface", "br0", files=RICH_FILES), debian("get_interface", "eth9", files=RICH_FILES),
    debian("get_interface", "source", files=RICH_FILES), debian("get_interface", "eth7", files=RICH_FILES), debian("get_interface", "eth0", files={}),
    debian("get_interface", "eth0", files={"etc/network/interfaces": "iface eth0 inet\n"}),
    debian("get_interface", "eth0", files={"etc/network/interfaces": "iface eth0 inet dhcp\n    noword\n"}),
    debian("get_interface", "eth0", files={"etc/network/interfaces": "iface eth0 inet dhcp\n    bonding x\n"}),
    *twice(debian, "build_interface", "eth0", "eth", True, **STATIC),
    *twice(debian, "build_interface", "eth1", "eth", True, **STATIC),
    *twice(debian, "build_interface", "eth1", "eth", False, proto="dhcp", hotplug=True, files=RICH_FILES),
    *twice(debian, "build_interface", "eth1", "eth", True, filename="eth1.cfg", **STATIC),
    debian("build_interface", "eth1", "eth", True, files={}, **STATIC),
    debian("build_interface", "eth1", "ETH", True, test=True, proto="static", ipaddr="10.1.0.1/24", mtu=9000, ttl="18", metric="5", hwaddr="00:11:22:33:44:55", hostname="x", vendor="v"),
    debian("build_interface", "eth1", "eth", True, test=True, enable_ipv6=True, ipv6proto="static", ipv6addr="2001:db8::3", ipv6netmask=64, ipv6gateway="2001:db8::1", ipv6ttl=15, mtu=1480, **STATIC),
    debian("build_interface", "eth1", "eth", True, test=True, enable_ipv4=False, enable_ipv6=True, ipv6proto="auto", ipv6autoconf=1, ipv6accept_ra="1", ipv6privext=2, ipv6dhcp=0),
    debian("build_interface", "eth1", "eth", True, test=True, enable_ipv6=False, ipv6proto="auto", **STATIC),
    debian("build_interface", "eth1", "eth", True, test=True, ipv4proto="static", ipv4ipaddr="10.0.0.1", ipv4ipaddrs=["10.0.0.2", "10.0.0.3"], ipv6proto="static", ipv6ipaddr="::1", ipv6ipaddrs=["::2", "::3"]),
    debian("build_interface", "eth1", "eth", True, test=True, ipaddr="10.0.0.300", netmask="255.0.255.0", **{"proto": "static"}),
    debian("build_interface", "eth1", "eth", True, test=True, proto="magic", ipaddr="10.0.0.1"),
    debian("build_interface", "eth1", "eth", True, test=True, proto="static", netmask="33", ipv6netmask=129, ipaddr="10.0.0.1/0", scope="link"),
    debian("build_interface", "eth1", "eth", True, test=True, proto="static", netmask="0.0.0.255", address="10.0.0.1", search="a b"),
    debian("build_interface", "eth1", "eth", True, test=True, proto="static", netmask="024", address="10.0.0.1", dns="8.8.8.8  9.9.9.9", search=["a", "b"]),
    debian("build_interface", "eth1", "eth", True, test=True, proto="manual", up_cmds=["echo 1", "echo 2"], pre_up_cmds="echo 0", down_cmds=["d"], pre_down_cmds=["p"], post_up_cmds=["u"], post_down_cmds=["q"]),
    debian("build_interface", "eth1", "eth", True, test=True, proto="dhcp", autoneg=True, duplex="full", speed="1000", rx="on", tx=False, sg="no", tso=1, gro="yes"),
    debian("build_interface", "eth1", "eth", True, test=True, proto="dhcp", speed=100, **{"wpa-ssid": "net", "wpa-psk": "x", "wireless-mode": "m"}),
    debian("build_interface", "eth1", "eth", True, test=True, proto="dhcp", autoneg="maybe"), debian("build_interface", "eth1", "eth", True, test=True, proto="dhcp", duplex="both"),
    debian("build_interface", "eth1", "eth", True, test=True, proto="dhcp", speed=7), debian("build_interface", "eth1", "eth", True, test=True, proto="dhcp", lro="x"),
    debian("build_interface", "eth1", "eth", True, test=True, proto="dhcp", hwaddr="none", mtu="big"),
    debian("build_interface", "eth1", "eth", True, test=True, proto="dhcp", mtu=[1]), debian("build_interface", "eth1", "eth", True, test=True, proto="dhcp", hwaddr=5),
    debian("build_interface", "eth1", "wifi", True), debian("build_interface", "eth1", "clone", True), debian("build_interface", "eth1", "slave", True), debian("build_interface", "br1", "bridge", True), debian("build_interface", "bond1", "bond", True),
    *twice(debian, "build_interface", "eth4", "slave", True, master="bond0"),
    *twice(debian, "build_interface", "bond0.2", "vlan", True, proto="static", ipaddr="10.1.0.8", use="x", enable_ipv6=True, ipv6proto="auto"),
    *twice(debian, "build_interface", "br0", "bridge", True, proto="dhcp", ports="eth0 eth1", stp=True, fd="2.5", maxwait=5, bridgeprio=100, hw="00:11:22:aa:bb:cc", pathcost="eth0 10", portprio="eth1 5", waitport="10 eth0 eth1"),
    debian("build_interface", "br0", "bridge", True, test=True, proto="dhcp", ports=["eth0", "eth1"], waitport=5, ageing=1, stp="off"),
    *[debian("build_interface", "br0", "bridge", True, test=True, proto="dhcp", ports="eth0", **{key: value}) for key, value in
      {"fd": "x", "maxwait": "5", "hw": "00-11:22:aa:bb:cc", "pathcost": "eth0", "portprio": "eth0 x", "stp": "perhaps", "waitport": "x eth0"}.items()],
    *twice(debian, "build_interface", "ppp0", "pppoe", True, provider="isp", user="me", password="secret", pppoe_iface="eth3", noipdefault=True, usepeerdns=False, proto="ppp", holdoff="5", mtu="1400", answers={"pkg.version": ""}),
    debian("build_interface", "ppp0", "pppoe", True, provider="isp", user="me", linkname="wan", proto="ppp", maxfail="", persist=False, noauth="no", answers={"pkg.version": "2.4"}, **{"hide-password": False, "lcp-echo-interval": 30}),
    debian("build_interface", "ppp0", "pppoe", True, test=True, provider="", user="me", answers={"pkg.version": "2.4"}), debian("build_interface", "ppp0", "pppoe", True, test=True, provider="x", persist="maybe", answers={"pkg.version": "2.4"}),
    debian("build_interface", "ppp0", "pppoe", True, user="me", proto="ppp", answers={"pkg.version": "2.4"}), debian("build_interface", "ppp0", "pppoe", True, provider="isp", proto="ppp", answers={"pkg.version": "2.4"}),
    *twice(debian, "build_interface", "more", "source", True, source="/etc/network/interfaces.d/x"),
    *[debian("build_interface", "bond0", "bond", True, test=True, mode=mode, **BOND) for mode in ("active-backup", "1", "3", "broadcast", "802.3ad", "4", "5", "balance-alb", "7", 4)],
    debian("build_interface", "bond0", "bond", True, mode="4", lacp_rate="fast", ad_select="bandwidth", **BOND),
    debian("build_interface", "bond0", "bond", True, mode="4", lacp_rate="slow", ad_select="1", miimon=50, downdelay="100", **{**BOND, "slaves": ["eth4", "eth5"], "hashing-algorithm": "layer3+4"}),
    debian("build_interface", "bond0", "bond", True, mode="4", **{**BOND, "hashing-algorithm": "layer9"}), debian("build_interface", "bond0", "bond", True, mode="1", miimon="often", **BOND),
    debian("build_interface", "bond0", "bond", True, mode="1", **{**BOND, "use_carrier": "x"}), debian("build_interface", "bond0", "bond", True, **BOND),
    debian("build_interface", "bond0", "bond", True, mode="0", **BOND), debian("build_interface", "bond0", "bond", True, mode="0", arp_ip_target="10.0.0.1", **BOND), debian("build_interface", "bond0", "bond", True, mode="0", arp_ip_target=[], **BOND),
    debian("build_interface", "bond0", "bond", True, test=True, mode="balance-rr", arp_ip_target=["10.0.0.1", "10.0.0.2"], **BOND),
    debian("build_interface", "bond0", "bond", True, test=True, mode="2", arp_ip_target=["10.0.0.1"], arp_interval="100", **{**BOND, "hashing-algorithm": "layer2+3"}),
    debian("build_interface", "bond0", "bond", True, test=True, mode="2", arp_ip_target=["10.0.0.1"], arp_interval="x", **BOND),
    debian("build_interface", "bond0", "bond", True, test=True, mode="1", primary="eth4", grains=UBUNTU, **BOND),
    debian("build_interface", "bond0", "bond", True, test=True, mode="1", primary="eth4", **BOND), debian("build_interface", "bond0", "bond", True, test=True, mode="6", primary="eth4", **BOND),
    *twice(debian, "build_bond", "bond0", mode="1", slaves="eth4 eth5", primary="eth4"), debian("build_bond", "bond0", mode="4", grains=OLD_DEBIAN), debian("build_bond", "bond0", mode="9"), debian("build_bond", "bond0"),
    debian("build_bond", "bond0", mode="1", files={}),
    debian("get_bond", "bond0"), debian("get_bond", "bond0", files={"etc/modprobe.d/bond0.conf": "alias bond0 bonding\noptions bond0 mode=1 "}),
    *twice(debian, "build_routes", "eth0", routes=ROUTES), *twice(debian, "build_routes", "bond0.12", routes=ROUTES[:1]), debian("build_routes", "eth0"), debian("build_routes", "eth0", routes=[], test=True),
    debian("build_routes", "eth0", ROUTES=ROUTES[:1], test=True), debian("build_routes", "eth0", routes=ROUTES, files={}),
    debian("get_routes", "eth0"), debian("get_routes", "eth0", files={"etc/network/if-up.d/route-eth0": "#!/bin/sh\nx\n", "etc/network/if-down.d/route-eth0": "y"}), debian("get_routes", "eth0", files={"etc/network/if-up.d/route-eth0": "#!/bin/sh\n"}),
    *[debian(fun, "eth0", kind) for fun in ("up", "down") for kind in ("eth", "slave", "source", None)],
    debian("get_network_settings"), debian("get_network_settings", files={}), debian("get_network_settings", grains=UBUNTU, answers={"service.available": True, "service.status": True}),
    debian("get_network_settings", grains=UBUNTU, answers={"service.available": False}), debian("get_network_settings", grains=UBUNTU, answers={"service.available": True, "service.status": False}),
    *twice(debian, "build_network_settings", enabled=True, hostname="web2.example.org"), *twice(debian, "build_network_settings", enabled="no", hostname="web2", search="c.example d.example"),
    *twice(debian, "build_network_settings", enabled=True, hostname="web2.example.org", grains=UBUNTU, answers={"service.available": True}), debian("build_network_settings", enabled=False, grains=UBUNTU, answers={"service.available": True}),
    debian("build_network_settings"), debian("build_network_settings", files={}), debian("build_network_settings", enabled="perhaps"), debian("build_network_settings", enabled=True, files={}),
    debian("build_network_settings", enabled=True, hostname="a.b", files={"etc/default/": "", "etc/hostname": "x\n"}), debian("build_network_settings", ENABLED=True, Hostname="web1.example.com"),
    debian("build_network_settings", enabled=True, hostname="web1.example.org", files={**DEBIAN_FILES, "etc/resolv.conf": "nameserver 1.1.1.1\n"}),
    debian("apply_network_settings"), debian("apply_network_settings", apply_hostname=True, hostname="web2"), debian("apply_network_settings", apply_hostname="yes"), debian("apply_network_settings", require_reboot=True),
    debian("apply_network_settings", answers={"service.stop": False}), debian("apply_network_settings", answers={"service.start": False}), debian("apply_network_settings", apply_hostname=True, hostname="w", answers={"network.mod_hostname": False}),
    # settings of unusual types, and incomplete files
    debian("build_interface", "br9", "bridge", True, test=True, proto="manual"), debian("build_interface", "br9", "bridge", True, test=True, proto="manual", ports="none", ageing=[1]),
    debian("build_interface", "br9", "bridge", True, test=True, proto="manual", ports="none", ageing="5m"), debian("build_interface", "br9", "bridge", True, test=True, proto="manual", ports="none", ageing=True),
    *[debian("build_interface", "eth0", "eth", True, test=True, **{**STATIC, "netmask": mask}) for mask in ("24", "33", 24, "0.0.0.255", "255.0.255.0", "x", ["255.255.255.0"])],
    *[debian("build_interface", "eth0", "eth", True, test=True, **{**STATIC, "ipaddr": address}) for address in ("10.1.0.1/24", "10.1.0.1/33", 5, ["10.1.0.1"])],
    debian("get_interface", "eth0", files={**DEBIAN_FILES, "etc/network/interfaces": BASIC.replace("    address 2001:db8::4\n", "    address 2001:db8::4\n    address 2001:db8::5\n    address 2001:db8::6\n")}),
    debian("build_network_settings", enabled=True, files={**DEBIAN_FILES, "etc/default/networking": "CONFIGURE_INTERFACES\n"}), debian("get_network_settings", files={**DEBIAN_FILES, "etc/default/networking": "CONFIGURE_INTERFACES\n"}),
    *[debian("build_network_settings", enabled=True, hostname=name) for name in (5, True, ["web2"])],
    rh("build_interface", "eth0", "eth", True, test=True, ipaddrs=[5]), rh("build_interface", "eth0", "eth", True, test=True, ipaddrs=[["10.0.0.1/24"]]),
    # the Red Hat family
    *[rh("build_interface", "eth0", "eth", True, test=True, grains=grains, proto="none", ipaddr="10.1.0.1", prefix=24) for grains in (ALMA, CENTOS, RHEL10, FEDORA, AMAZON, {**FEDORA, "osmajorrelease": 27})],
    *twice(rh, "build_interface", "eth0", "eth", True, proto="dhcp", mtu="9000", dns=["8.8.8.8", "8.8.4.4"], domain=["a.example", "b.example"], gateway="10.0.0.1", zone="public", uuid="u-1", nickname="n", answers={"network.interfaces": {"eth0": {"hwaddr": "aa:bb:cc:dd:ee:ff"}}}),
    rh("build_interface", "eth0", "eth", True, test=True, hwaddr="00:11:22:33:44:55"), rh("build_interface", "eth0", "eth", True, test=True, hwaddr="none"), rh("build_interface", "eth0", "eth", False, test=True, hwaddr="auto"), rh("build_interface", "eth0", "eth", True, test=True, hwaddr="x"),
    rh("build_interface", "eth0", "eth", True, test=True, hwaddr="none", macaddr="00:11:22:33:44:55"), rh("build_interface", "eth0", "eth", True, test=True, macaddr="00:11:22:33:44:55"),
    rh("build_interface", "eth0", "eth", True, test=True, proto="static"), rh("build_interface", "eth0", "eth", True, test=True, mtu="big"), rh("build_interface", "eth0", "eth", True, test=True, prefix=24, netmask="255.255.255.0"),
    rh("build_interface", "eth0", "eth", True, test=True, ipaddrs=["10.0.0.1/24", "10.0.1.1/16"], netmask="255.255.255.0", ipaddr="10.9.9.9"), rh("build_interface", "eth0", "eth", True, test=True, ipaddrs=["10.0.0.1"]), rh("build_interface", "eth0", "eth", True, test=True, ipaddrs=["x"]),
    rh("build_interface", "eth0", "eth", True, test=True, enable_ipv6=True, ipv6addr="2001:db8::1/64", ipv6gateway="2001:db8::ff", ipv6addrs=["2001:db8::2/64", "2001:db8::3/64"], ipv6_autoconf="no", dhcpv6c=False, ipv6_peerdns=True, ipv6_defroute=1, ipv6_peerroutes="off"),
    rh("build_interface", "eth0", "eth", True, test=True, ipv6addrs=["x"]), rh("build_interface", "eth0", "eth", True, test=True, ipv6addr="2001:db8::1/64", enable_ipv6=False),
    rh("build_interface", "eth0", "eth", True, test=True, onboot="yes", userctl=True, nm_controlled="yes", arpcheck=False, peerdns="no", peerroutes=True, defroute="no", stp="yes", onparent=True, ipv4_failure_fatal="yes", delay=0, srcaddr="10.0.0.9", bridge="br0", slave=False, vlan=True),
    rh("build_interface", "eth0", "eth", True, test=True, arpcheck=True, userctl="x"), rh("build_interface", "eth0", "eth", True, test=True, defroute="x"), rh("build_interface", "eth0", "eth", True, test=True, nm_controlled="x"),
    rh("build_interface", "eth0-range0", "eth", True, test=True, ipaddr_start="10.0.0.1", ipaddr_end="10.0.0.9", clonenum_start=10, no_aliasrouting="yes"),
    rh("build_interface", "eth0", "eth", True, test=True, autoneg="on", duplex="half", speed=100, rx=True, tx=False, gso="1", advertise="0x008", channels={"rx": 2, "combined": 4}),
    *[rh("build_interface", "eth0", "eth", True, test=True, **{key: value}) for key, value in {"autoneg": "x", "duplex": "x", "speed": 5, "advertise": "1", "channels": {"rx": 9}, "sg": "x"}.items()],
    rh("build_interface", "eth0", "magic", True), rh("build_interface", "eth0", "clone", True), rh("build_interface", "eth0", "slave", True), rh("build_interface", "bond0", "bond", True), rh("build_interface", "t0", "teamport", True), rh("build_interface", "i0", "ipip", True), rh("build_interface", "i0", "ipip", True, my_inner_ipaddr="1.1.1.1"),
    *twice(rh, "build_interface", "eth4", "slave", True, master="bond0"), rh("build_interface", "i0", "ipip", True, test=True, my_inner_ipaddr="1.1.1.1", my_outer_ipaddr="2.2.2.2"), rh("build_interface", "ib0", "ib", True, test=True), rh("build_interface", "eth0:1", "alias", True, test=True, ipaddr="10.0.0.5"),
    *twice(rh, "build_interface", "team0", "team", True, team_config={"runner": {"name": "activebackup"}, "x": [1, True, "é"]}, answers={"pkg.version": ""}), rh("build_interface", "t0", "teamport", True, test=True, master="team0", team_port_config={"prio": 100}), rh("build_interface", "t0", "teamport", True, test=True, master="team0", team_master="team1"),
    *twice(rh, "build_interface", "br0", "bridge", True, proto="none", stp=False, delay=2, bypassfirewall="no", answers={"pkg.version": "1"}), rh("build_interface", "br0", "bridge", True, test=True, answers={"pkg.version": ""}), rh("build_interface", "br0", "bridge", True, test=True, bypassfirewall="x"),
    rh("build_interface", "eth0.5", "vlan", True, test=True, reorder_hdr="yes", vlan_id=5, phys_dev="eth0"), rh("build_interface", "eth0.5", "vlan", True, test=True), rh("build_interface", "eth0.5", "vlan", True, test=True, reorder_hdr="x"), rh("build_interface", "eth0.5", "vlan", True, test=True, vlan_id=0), rh("build_interface", "eth0.5", "vlan", True, test=True, phys_dev=""), rh("build_interface", "eth0.5", "vlan", True, test=True, vlan_id="5"),
    *[rh("build_interface", "bond0", "bond", True, test=True, mode=mode, miimon=100) for mode in (0, 1, 2, 3, 4, 5, 6, 7, "802.3ad", "balance-alb")],
    *[rh("build_interface", "bond0", "bond", True, test=True, mode=mode) for mode in (0, 1, 2, 3, 4, 5, 6)],
    rh("build_interface", "bond0", "bond", True, test=True, mode=0, arp_interval=100, arp_ip_target=["10.0.0.1", "10.0.0.2"]), rh("build_interface", "bond0", "bond", True, test=True, mode=0, arp_interval=100), rh("build_interface", "bond0", "bond", True, test=True, mode=0, arp_interval="x", arp_ip_target=["10.0.0.1"]),
    rh("build_interface", "bond0", "bond", True, test=True, mode=2, arp_interval=100, arp_ip_target=[]), rh("build_interface", "bond0", "bond", True, test=True, mode=1, miimon=100, downdelay=150), rh("build_interface", "bond0", "bond", True, test=True, mode=1, miimon=100, updelay=300, use_carrier="no", primary="eth4"),
    rh("build_interface", "bond0", "bond", True, test=True, mode=1, miimon=0), rh("build_interface", "bond0", "bond", True, test=True, mode=1, miimon="x"), rh("build_interface", "bond0", "bond", True, test=True, mode=1, miimon="100"), rh("build_interface", "bond0", "bond", True, test=True, mode=1, miimon=100, use_carrier="x"), rh("build_interface", "bond0", "bond", True, test=True, mode=1, miimon=[1]),
    rh("build_interface", "bond0", "bond", True, test=True, mode=4, miimon=100, lacp_rate="fast", ad_select=1, **{"hashing-algorithm": "vlan+srcmac"}), rh("build_interface", "bond0", "bond", True, test=True, mode=4, miimon=100, grains=CENTOS, **{"hashing-algorithm": "vlan+srcmac"}), rh("build_interface", "bond0", "bond", True, test=True, mode=4, miimon=100, lacp_rate=1), rh("build_interface", "bond0", "bond", True, test=True, mode=4, miimon=100, ad_select="x"), rh("build_interface", "bond0", "bond", True, test=True, mode=2, miimon=100, **{"hashing-algorithm": "encap2+3"}),
    rh("build_interface", "eth0", "eth", True, files={}),
    *twice(rh, "build_routes", "eth0", routes=ROUTES), *twice(rh, "build_routes", "eth0", routes=ROUTES, grains=RHEL10), rh("build_routes", "eth0", routes=ROUTES), rh("build_routes", "eth0", test=True), rh("build_routes", "eth0", routes=[{"name": "x"}], test=True), rh("build_routes", "eth0", routes=[], test=True),
    rh("get_routes", "eth0"), rh("get_routes", "eth0", files={"etc/sysconfig/network-scripts/route-eth0": "\n10.0.0.0/8 dev eth0\n\n10.1.0.0/16 dev eth0\n", "etc/sysconfig/network-scripts/route6-eth0": "::/0 dev eth0\n"}),
    rh("get_interface", "eth0"), rh("get_interface", "eth0", files={"etc/sysconfig/network-scripts/ifcfg-eth0": 'DEVICE="eth0"\n\nONBOOT="yes"\n'}), rh("get_network_settings"), rh("get_network_settings", files={}),
    *[rh(fun, "eth0", kind) for fun in ("up", "down") for kind in ("eth", "Slave", "teamport", None)],
    *twice(rh, "build_network_settings", enabled=True, hostname="web2", gateway="10.0.0.1", gatewaydev="eth0", nozeroconf=True, nisdomain="n", ipv6gateway="::1", enable_ipv6="yes"), rh("build_network_settings", test=True), rh("build_network_settings", test=True, files={}), rh("build_network_settings", enabled=True, test=True, files={}), rh("build_network_settings", enabled=True),
    rh("build_network_settings", test=True, retain_settings=True, nozeroconf="no"), rh("build_network_settings", test=True, files={"etc/sysconfig/network": "NETWORKING=\"yes\"\nHOSTNAME=\"a\"\n"}, gateway="10.0.0.9"), rh("build_network_settings", test=True, enabled="x"), rh("build_network_settings", test=True, nozeroconf="x"), rh("build_network_settings", test=True, gateway=""), rh("build_network_settings", test=True, hostname=""),
    rh("apply_network_settings"), rh("apply_network_settings", grains=CENTOS), rh("apply_network_settings", require_reboot=True, apply_hostname=True, hostname="w"), rh("apply_network_settings", apply_hostname=True), rh("apply_network_settings", answers={"service.restart": False}),
    debian("build_interface", "ppp0", "pppoe", True, provider="isp", user="me", proto="ppp", answers={"pkg.version": "2.4"}, files={name: text for name, text in DEBIAN_FILES.items() if name != "etc/ppp/peers/"}),
]
