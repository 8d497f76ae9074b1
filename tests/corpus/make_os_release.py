#!/usr/bin/env python3
"""Writes os_release.json: texts of /etc/os-release by distribution, and the grains that Salt 3008.3 makes of each on a host
without lsb-release. Run it with the Python of an environment that has Salt: `python make_os_release.py > os_release.json`.
Hosts for which Salt reads further files (CentOS 7) or uses Python's distro (Red Hat) are left out."""
import json
import os
import shlex
import tempfile
from unittest.mock import patch

import distro
import salt.grains.core as core

S={
"fedora":'NAME="Fedora Linux"\nVERSION="39 (Server Edition)"\nID=fedora\nVERSION_ID=39\nVERSION_CODENAME=""\nPRETTY_NAME="Fedora Linux 39 (Server Edition)"\nCPE_NAME="cpe:/o:fedoraproject:fedora:39"\n',
"alma":'NAME="AlmaLinux"\nVERSION="9.3 (Shamrock Pampas Cat)"\nID="almalinux"\nID_LIKE="rhel centos fedora"\nVERSION_ID="9.3"\nPRETTY_NAME="AlmaLinux 9.3 (Shamrock Pampas Cat)"\nCPE_NAME="cpe:/o:almalinux:almalinux:9::baseos"\n',
"rocky":'NAME="Rocky Linux"\nVERSION="9.3 (Blue Onyx)"\nID="rocky"\nID_LIKE="rhel centos fedora"\nVERSION_ID="9.3"\nPRETTY_NAME="Rocky Linux 9.3 (Blue Onyx)"\n',
"sles":'NAME="SLES"\nVERSION="15-SP5"\nVERSION_ID="15.5"\nPRETTY_NAME="SUSE Linux Enterprise Server 15 SP5"\nID="sles"\nID_LIKE="suse"\nCPE_NAME="cpe:/o:suse:sles:15:sp5"\n',
"leap":'NAME="openSUSE Leap"\nVERSION="15.5"\nID="opensuse-leap"\nID_LIKE="suse opensuse"\nVERSION_ID="15.5"\nPRETTY_NAME="openSUSE Leap 15.5"\nCPE_NAME="cpe:/o:opensuse:leap:15.5"\n',
"tw":'NAME="openSUSE Tumbleweed"\nID="opensuse-tumbleweed"\nID_LIKE="opensuse suse"\nVERSION_ID="20231201"\nPRETTY_NAME="openSUSE Tumbleweed"\nCPE_NAME="cpe:/o:opensuse:tumbleweed:20231201"\n',
"arch":'NAME="Arch Linux"\nPRETTY_NAME="Arch Linux"\nID=arch\nBUILD_ID=rolling\n',
"alpine":'NAME="Alpine Linux"\nID=alpine\nVERSION_ID=3.18.4\nPRETTY_NAME="Alpine Linux v3.18"\n',
"amzn2":'NAME="Amazon Linux"\nVERSION="2"\nID="amzn"\nID_LIKE="centos rhel fedora"\nVERSION_ID="2"\nPRETTY_NAME="Amazon Linux 2"\nCPE_NAME="cpe:2.3:o:amazon:amazon_linux:2"\n',
"amzn2023":'NAME="Amazon Linux"\nVERSION="2023"\nID="amzn"\nID_LIKE="fedora"\nVERSION_ID="2023"\nPRETTY_NAME="Amazon Linux 2023"\nCPE_NAME="cpe:2.3:o:amazon:amazon_linux:2023"\n',
"ol":'NAME="Oracle Linux Server"\nVERSION="8.9"\nID="ol"\nID_LIKE="fedora"\nVERSION_ID="8.9"\nPRETTY_NAME="Oracle Linux Server 8.9"\nCPE_NAME="cpe:/o:oracle:linux:8:9:server"\n',
"centos8s":'NAME="CentOS Stream"\nVERSION="8"\nID="centos"\nID_LIKE="rhel fedora"\nVERSION_ID="8"\nPRETTY_NAME="CentOS Stream 8"\nCPE_NAME="cpe:/o:centos:centos:8"\n',
"debian":'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nNAME="Debian GNU/Linux"\nVERSION_ID="12"\nVERSION="12 (bookworm)"\nVERSION_CODENAME=bookworm\nID=debian\n',
"raspbian":'PRETTY_NAME="Raspbian GNU/Linux 11 (bullseye)"\nNAME="Raspbian GNU/Linux"\nVERSION_ID="11"\nVERSION="11 (bullseye)"\nVERSION_CODENAME=bullseye\nID=raspbian\nID_LIKE=debian\n',
"ubuntu":'PRETTY_NAME="Ubuntu 22.04.3 LTS"\nNAME="Ubuntu"\nVERSION_ID="22.04"\nVERSION="22.04.3 LTS (Jammy Jellyfish)"\nVERSION_CODENAME=jammy\nID=ubuntu\nID_LIKE=debian\n',
"mint":'NAME="Linux Mint"\nVERSION="21.2 (Victoria)"\nID=linuxmint\nID_LIKE="ubuntu debian"\nPRETTY_NAME="Linux Mint 21.2"\nVERSION_ID="21.2"\nVERSION_CODENAME=victoria\n',
"gentoo":'NAME=Gentoo\nID=gentoo\nPRETTY_NAME="Gentoo Linux"\nVERSION_ID="2.14"\n',
"photon":'NAME="VMware Photon OS"\nVERSION="4.0"\nID=photon\nVERSION_ID=4.0\nPRETTY_NAME="VMware Photon OS/Linux"\n',
"kali":'PRETTY_NAME="Kali GNU/Linux Rolling"\nNAME="Kali GNU/Linux"\nVERSION_ID="2023.3"\nVERSION="2023.3"\nVERSION_CODENAME=kali-rolling\nID=kali\nID_LIKE=debian\n',
"nixos":'NAME=NixOS\nID=nixos\nVERSION="23.11 (Tapir)"\nVERSION_CODENAME=tapir\nVERSION_ID="23.11"\nPRETTY_NAME="NixOS 23.11 (Tapir)"\n',
"void":'NAME="Void"\nID="void"\nPRETTY_NAME="Void Linux"\n',
"openeuler":'NAME="openEuler"\nVERSION="22.03 LTS"\nID="openEuler"\nVERSION_ID="22.03"\nPRETTY_NAME="openEuler 22.03 LTS"\n',
"pop":'NAME="Pop!_OS"\nVERSION="22.04 LTS"\nID=pop\nID_LIKE="ubuntu debian"\nPRETTY_NAME="Pop!_OS 22.04 LTS"\nVERSION_ID="22.04"\nVERSION_CODENAME=jammy\n',
"astra_ce":'PRETTY_NAME="Astra Linux (Orel 2.12.46)"\nNAME="Astra Linux (Orel)"\nID=astra\nID_LIKE=debian\nVERSION_ID="2.12.46"\n',
"astra_se":'PRETTY_NAME="Astra Linux (Smolensk 1.6)"\nNAME="Astra Linux (Smolensk)"\nID=astra\nID_LIKE=debian\nVERSION_ID="1.6"\n',
"astra_17":'PRETTY_NAME="Astra Linux"\nNAME="Astra Linux"\nID=astra\nID_LIKE=debian\nVERSION_ID="1.7_x86-64"\nVERSION_CODENAME="1.7_x86-64"\n',
}

out = {}
for name, text in S.items():
    release = {"ID": "linux", "NAME": "Linux", "PRETTY_NAME": "Linux"}
    for line in text.splitlines():
        key, value = line.split("=", 1)
        release[key] = "".join(shlex.split(value))
    with tempfile.NamedTemporaryFile("w") as fp:
        fp.write(text)
        fp.flush()
        host = distro.LinuxDistribution(
            include_lsb=False, os_release_file=fp.name, distro_release_file=os.devnull, include_uname=False
        )
        known = (host.name(), host.version(best=True), host.codename())
    with patch.object(core, "_freedesktop_os_release", lambda: release), patch.object(
        core, "_parse_lsb_release", dict
    ), patch.object(core, "_linux_distribution", lambda: known), patch("os.path.isfile", lambda path: False):
        grains = core._linux_distribution_data()
        if grains.get("osrelease"):
            grains.update(core._osrelease_data(grains["os"], grains["osfullname"], grains["osrelease"]))
    out[name] = {"os_release": text, "grains": grains}
print("{\n" + ",\n".join(f" {json.dumps(n)}: {json.dumps(v)}" for n, v in out.items()) + "\n}")
