#!/usr/bin/env python3
"""Writes packages.json: the order of Debian versions, and the result of `pkg.list_repos` for files of sources, both by Salt's aptpkg. Run it as
make_argspec.py, on a host that has dpkg."""
import itertools
import json
import logging
import os
import subprocess
import tempfile
import warnings

warnings.simplefilter("ignore")
import salt.modules.aptpkg as aptpkg
import salt.utils.pkg.deb as deb

logging.disable(logging.CRITICAL)

VERSIONS = (
    "1.0 1.0-1 1.0-1.1 1.0~rc1 1.0~rc1-1 1.0~~ 1.0~~a 1.00 1:0.9 0:1.0 2 10 1.a 1.+ 1.a1 1.a10 1.0+b1 1.0-1+deb12u1 "
    "1.0-1~bpo12+1 1.0-1ubuntu1 2.0.0 2.0.0-0 1.2.3-4-5 7.4.052-1 1.0a 1.0-a 0 0.0 1.0.0.0.0.1 3.0.0~alpha20250101-1"
).split()

SOURCES = {
    "sources.list": "# deb-src http://deb.debian.org/debian trixie main\ndeb http://deb.debian.org/debian/ trixie main contrib # ours\n\n"
    "deb [arch=amd64,i386 signed-by=/etc/apt/keyrings/x.gpg] https://example.com/debian stable main\n"
    "# a comment\ndeb [ trusted=yes ] file:/srv/repo ./\nrpm http://x y z\ndeb http://short\n"
    "deb [arch=amd64 lang=de] http://a.example/x sid main\n#deb http://off.example/ sid main non-free\n",
    "one.list": "deb cdrom:[Debian GNU/Linux 12]/ bookworm main\ndeb-src [trusted=no] http://b.example sid main\n",
    "two.sources": "Types: deb deb-src\nURIs: http://deb.debian.org/debian\nSuites: trixie trixie-updates\nComponents: main contrib\n"
    "Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg\n\n# off\nEnabled: no\nTypes: deb\nURIs: http://c.example\nSuites: sid\n"
    "Components: main\nArchitectures: amd64\n",
}


def order(a, b):
    for oper, sign in (("lt", -1), ("eq", 0), ("gt", 1)):
        if subprocess.run(["dpkg", "--compare-versions", a, oper, b], check=False).returncode == 0:
            return sign


def repos():
    root = tempfile.mkdtemp()
    os.makedirs(f"{root}/etc/apt/sources.list.d")
    for name, text in SOURCES.items():
        place = "etc/apt" if name == "sources.list" else "etc/apt/sources.list.d"
        with open(f"{root}/{place}/{name}", "w") as file:
            file.write(text)
    deb._APT_SOURCES_LIST = f"{root}/etc/apt/sources.list"
    deb._APT_SOURCES_PARTSDIR = f"{root}/etc/apt/sources.list.d/"
    found = aptpkg.list_repos()
    for entries in found.values():
        for entry in entries:
            # Salt writes the text None for an entry without a key.
            entry["line"] = entry["line"].replace(" signed-by=None", "")
            entry["file"] = entry["file"].replace(root, "").replace("//", "/")
    return found


versions = [[a, b, order(a, b)] for a, b in itertools.product(VERSIONS, VERSIONS)]
print("{")
print(' "versions": [\n' + ",\n".join("  " + json.dumps(one) for one in versions) + "\n ],")
print(f' "sources": {json.dumps(SOURCES)},')
print(f' "repos": {json.dumps(repos(), default=str)}')
print("}")
