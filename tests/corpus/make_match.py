"""Writes match.json: calls of match.* and grains.filter_by with fixed grains and pillar, and Salt's results. See README.md."""

import json
import logging
import os
import pathlib
import tempfile

import salt.config
import salt.loader

logging.disable(logging.CRITICAL)
HERE = pathlib.Path(__file__).parent

GRAINS = {"id": "web1", "os": "Debian", "os_family": "Debian", "roles": ["web", "cache"], "osmajorrelease": 12, "swap": None,
          "ipv4": ["127.0.0.1", "192.0.2.2"], "ipv6": ["2001:db8::2"], "systemd": {"version": "252"}, "clone_url": "https://example.com/x.git"}
PILLAR = {"role": "web", "users": {"ann": {"uid": 1000}}, "clone_url": "https://example.com/x.git", "envs": ["prod"]}
CALLS = []


def call(fun, *args, **kwargs):
    CALLS.append((fun, list(args), kwargs))


for tgt in ("web*", "db*", "G@os:Debian and web1", "not web1", "I@role:web or db1", "N@nope", "web1 and", "L@web1,db1 and *", ["web1", "or", "db1"], "S@192.0.2.0/24"):
    call("match.compound", tgt)
call("match.compound", "db*", minion_id="db1"), call("match.compound", "db* and G@os:Debian", "db1"), call("match.compound", "1", minion_id=1)
for tgt in ("192.0.2.0/24", "192.0.2.2", "2001:db8::/32", "10.0.0.0/8"):
    call("match.ipcidr", tgt)
for fun in ("match.grain", "match.grain_pcre", "match.pillar", "match.pillar_pcre"):
    for tgt in ("os:Debian", "os:D.*", "roles:web", "role:web", "role:w*", "systemd:version:25", "users:ann:uid:1000", "os", "nope:x"):
        call(fun, tgt)
    call(fun, "clone_url|https://example.com/*", delimiter="|"), call(fun, "clone_url|https://.*\\.git", delimiter="|")
TABLE = {"db*": "db", "web*": {"a": 1, "b": {"c": 2}, "l": [1]}, "default": "other"}
call("match.filter_by", TABLE), call("match.filter_by", TABLE, minion_id="db7"), call("match.filter_by", TABLE, minion_id="x"), call("match.filter_by", {"x": 1})
call("match.filter_by", {"x": 1, "y": 2}, default="y"), call("match.filter_by", TABLE, merge={"b": {"d": 3}, "e": 4}), call("match.filter_by", TABLE, merge={"l": [2]})
call("match.filter_by", TABLE, merge={"l": [2, 1]}, merge_lists=True), call("match.filter_by", {"web*": None}, merge={"a": 1}), call("match.filter_by", {"G@os:Debian": 1})
call("match.filter_by", {"os:Debian": 1, "os:RedHat": 2}, tgt_type="grain"), call("match.filter_by", {"w.b1": 1}, tgt_type="pcre"), call("match.filter_by", {"web1": False, "*": 2})
call("match.filter_by", {"192.0.2.0/24": "lan"}, tgt_type="ipcidr"), call("match.filter_by", {"web1,db1": 5}, tgt_type="list_")
call("match.filter_by", {}), call("match.filter_by", TABLE, minion_id="x", merge={"a": 1})
ROLES = {"web": ["web1", "web2"], "db": ["db1", "G@os:Debian"], "none": ["x"], "twice": ["web*", "web1"]}
call("match.search_by", ROLES), call("match.search_by", ROLES, minion_id="db1"), call("match.search_by", {"a": ["x"]}), call("match.search_by", {"a": []})
call("match.search_by", {"deb": ["os:Debian"], "red": ["os:RedHat"]}, tgt_type="grain")
call("match.ifelse", "only"), call("match.ifelse", "web*", 1, "db*", 2, 3), call("match.ifelse", "db*", 1, 2), call("match.ifelse", True, "yes", "no"), call("match.ifelse", False, "yes", "no")
call("match.ifelse", "foo*", "Foo!", "bar*", "Bar!", None, minion_id="bar03"), call("match.ifelse", "os:Debian", {"a": 1}, {}, tgt_type="grain", merge={"b": 2})
FAMILY = {"Debian": "deb", "RedHat": "rpm", "default": "none"}
call("grains.filter_by", FAMILY), call("grains.filter_by", FAMILY, "os"), call("grains.filter_by", FAMILY, "nope"), call("grains.filter_by", {"Deb*": 1}), call("grains.filter_by", {"deb*": 1})
call("grains.filter_by", {"cache": "c", "web": "w"}, "roles"), call("grains.filter_by", {"12": "bookworm"}, "osmajorrelease"), call("grains.filter_by", {"252": "new"}, "systemd:version")
call("grains.filter_by", {"None": "no swap"}, "swap"), call("grains.filter_by", {"Debian": None, "default": 5}), call("grains.filter_by", {"RedHat": 1}, default="RedHat"), call("grains.filter_by", {"x": 1})
call("grains.filter_by", {"A": "B", "C": {"D": {"E": "F", "G": "H"}}}, "xxx", {"D": {"E": "I"}, "J": "K"}, "C")
call("grains.filter_by", {"default": {"A": {"B": "C"}, "D": "E"}, "F": {"A": {"B": "G"}}, "H": {"D": "I"}}, "xxx", {"D": "J"}, "F", "default")
call("grains.filter_by", {"default": {"A": {"B": "C"}, "D": "E"}, "F": {"A": {"B": "G"}}, "H": {"D": "I"}}, "xxx", {"D": "J"}, "H", "default")
call("grains.filter_by", {"Debian": {"a": 1}, "base": {"a": 0, "b": 2}}, base="base"), call("grains.filter_by", {"x": 1, "base": {"b": 2}}, base="base"), call("grains.filter_by", {"Debian": 1, "base": 2}, base="base")
call("grains.filter_by", {"Debian": {"l": [1], "m": 1}}, merge={"l": [2], "m": {"n": 1}}), call("grains.filter_by", {"x": 1}, merge={"a": 1}), call("grains.filter_by", {"Debian": {"a": 1}}, base="nope")

with tempfile.TemporaryDirectory() as root:
    os.makedirs(f"{root}/etc/salt")
    pathlib.Path(root, "etc/salt/minion").write_text(f"root_dir: {root}\nid: web1\nfile_client: local\n")
    opts = salt.config.minion_config(f"{root}/etc/salt/minion")
    os.makedirs(opts["cachedir"])
    opts.update({"id": "web1", "grains": GRAINS, "pillar": PILLAR})
    mods = salt.loader.minion_mods(opts)
    # Merging changes the table, so each call gets its own.
    cases = [{"fun": f, "args": a, "kwargs": k, "return": mods[f](*json.loads(json.dumps(a)), **json.loads(json.dumps(k)))} for f, a, k in CALLS]

lines = ",\n".join("  " + json.dumps(case) for case in cases)
HERE.joinpath("match.json").write_text(
    "{\n" + "".join(f' "{name}": {json.dumps(value)},\n' for name, value in (("grains", GRAINS), ("pillar", PILLAR)))
    + ' "cases": [\n' + lines + "\n ]}\n"
)
print(len(cases), "calls")
