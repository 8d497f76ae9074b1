"""Writes targets.json: targets of every type, and the minions that match them, according to Salt's master and minions. See README.md."""

import json
import logging
import os
import pathlib
import tempfile
import types

import salt.cache
import salt.client
import salt.config
import salt.loader
import salt.utils.minions

from typed import typed

logging.disable(logging.CRITICAL)
HERE = pathlib.Path(__file__).parent

WEB = {"os": "Debian", "os_family": "Debian", "osrelease": "12", "osmajorrelease": 12, "num_cpus": 4, "mem_total": 7953,
       "kernel": "Linux", "roles": ["web", "cache"], "ipv4": ["127.0.0.1", "192.0.2.11", "10.1.0.5"],
       "ipv6": ["::1", "2001:db8::11", "fe80::1"], "systemd": {"version": "252", "features": "+PAM -SELINUX"},
       "selinux": {"enabled": False}, "path": "/usr/bin:/bin", "swap": None, "load": 1.5, "one": 1.0, "empty": "", "none": [],
       "ec2_tags": {"Name": "web", "env": "prod", "team": {"lead": "ann", "size": 3}}, 8080: "http", "a:b": "colon",
       "disks": ["sda", "nvme0n1"], "nested": [{"name": "eth0", "mtu": 1500}, {"name": "lo"}, "plain", 7], "Mixed": "CaSe",
       "virtual": "kvm", "date": "2024-01-02", "umlaut": "Straße", "star": "a*b", "deep": {"a": {"a": {"a": {"b": "c"}}}}}
DB = {**WEB, "os": "RedHat", "os_family": "RedHat", "osrelease": "9.3", "osmajorrelease": 9, "num_cpus": 16, "roles": ["db"],
      "ipv4": ["127.0.0.1", "192.0.2.21"], "ipv6": ["::1", "2001:db8:1::21"], "ec2_tags": {"Name": "db", "env": "prod"},
      "virtual": "physical", "one": True, "star": "a+b"}
#: Minion -> grains, pillar.
MINIONS = {
    "web1": (WEB, {"role": "web", "secret": "s3cret", "users": {"ann": {"uid": 1000}, "bob": {"uid": 1001}}, "envs": ["prod", "eu"]}),
    "web2": ({**WEB, "os": "Ubuntu", "osrelease": "24.04", "ipv4": ["127.0.0.1", "192.0.2.12", "10.2.0.5"], "roles": "web",
              "ipv6": ["::1"], "ec2_tags": {"Name": "web", "env": "stage"}},
             {"role": "web", "secret": "other", "users": {"cy": {"uid": 1002}}, "envs": ["stage"]}),
    "web10": ({"os": "Debian", "roles": [], "id": "web10", "ipv4": "192.0.2.110"}, {}),
    "db1.example.com": (DB, {"role": "db", "users": {"ann": {"uid": 7}}, "a": {"b": {"c": "d"}}, "pg": {"port": 5432}}),
    "db2.example.com": ({**DB, "osrelease": "8.10", "osmajorrelease": 8, "ipv4": ["198.51.100.7"]}, {"role": "db-old", "x:y": "z"}),
    "mon_1": ({"os": "Arch", "roles": ["mon", {"extra": {"k": "v"}}], "ipv6": ["2001:db8:ffff::1"], "ipv4": []}, {"role": None}),
    "bare": ({}, {}),
    # The master has no data of it.
    "new1": (WEB, {"role": "web"}),
}
UNKNOWN = {"new1"}
NODEGROUPS = {
    "web": "web1 or web2", "all_web": "web*", "list": ["web1", "mon_1"], "bare": "web1", "regex": "web[12]",
    "regexes": ["web[1]", "db\\d"], "nested": "N@web and not web2", "twice": "N@nested or N@list", "words": ["web*", "or", "db*"],
    "in_list": ["N@web", "or", "mon_1"], "grains": "G@os:Debian and G@roles:web", "ids": "web1,db1.example.com",
    "loop1": "N@loop2 or web1", "loop2": "N@loop1 or web2", "self": "N@self", "unknown": "N@nowhere or web1", "empty": "",
    "globs": ["web*", "db*"], "not_web": "not N@web",
}
COLON = ":"

ROWS = []


def row(tgt_type, *targets, delimiter=COLON):
    for tgt in targets:
        ROWS.append((tgt_type, tgt, delimiter))


row("glob", "*", "web*", "web?", "web[12]", "web[!1]", "Web1", "web1", "", "db?.example.com", "*.com", "[", "mon_1", "*_*", ["web1"], "web1,web2")
row("pcre", ".*", "web", "web1", "web1$", "web\\d$", "(web|db)[12]", "eb", "(?i)WEB", "^mon", "db1.example", "", "[", "web(?!1)", ".*\\.com$", "a|b|mon")
row("list", "web1", "web1,web2", "web1,nobody", "nobody", "web1,", ",web1", "web1,web1", ["web1", "mon_1"], [], "", "web*", "web1, web2", ["web1", 7])
row("grain", "os:Debian", "os:debian", "OS:Debian", "os:D*", "os:[DR]*", "os:*", "os", "", ":", "os:", "os:Debian:x", "nope:x",
    "nope:*", "osmajorrelease:12", "osmajorrelease:1*", "num_cpus:4", "num_cpus:1?", "roles:web", "roles:WEB", "roles:c*", "roles:*",
    "roles:web:x", "roles:0:web", "roles:1:cache", "roles:-1:*", "roles:9:web", "systemd:version:252", "systemd:version:2*",
    "systemd:version", "systemd:*", "systemd:VERSION", "systemd:ver*", "systemd:nope", "systemd:*:252", "*:252", "*:Debian", "*:debian",
    "*:*", "*:prod", "*:env:prod", "*:version:252", "selinux:enabled:False", "selinux:enabled:false", "selinux:enabled:0", "selinux:enabled",
    "swap:None", "swap:none", "swap:*", "load:1.5", "load:1.*", "one:1.0", "one:1", "one:True", "empty:", "empty:*", "none:*", "none:x",
    "path:/usr/bin:/bin", "path:/usr/bin", "path:*:/bin", "path:*/bin", "ec2_tags:env:prod", "ec2_tags:env:p*", "ec2_tags:Name:web",
    "ec2_tags:name:web", "ec2_tags:*:web", "ec2_tags:*:prod", "ec2_tags:team:lead:ann", "ec2_tags:team:*", "ec2_tags:team:size:3",
    "ec2_tags:*:lead:ann", "ec2_tags:*:*:ann", "ec2_tags:*", "8080:http", "8080:*", "a:b:colon", "a:*", "a:b", "disks:sd?", "disks:nvme*",
    "disks:0:sda", "nested:name:eth0", "nested:name:lo", "nested:mtu:1500", "nested:0:name:eth0", "nested:plain", "nested:7", "nested:name",
    "nested:*eth0*", "nested:3:7", "Mixed:case", "Mixed:CASE", "mixed:case", "umlaut:STRASSE", "umlaut:straße", "umlaut:STRAßE", "star:a*b",
    "star:a[*]b", "star:a?b", "deep:a:a:a:b:c", "deep:a:a:b", "deep:a:*", "deep:*:a:*", "deep:a:a:a:b:*", "deep:*:*:*:b", "id:web10",
    "ipv4:192.0.2.11", "ipv4:192.0.2.*", "ipv4:10.*", "ipv6:2001:db8::11", "ipv6:2001:db8:*", "ipv6:::1", "date:2024-01-02", "roles:extra:k:v",
    "roles:extra", "roles:*k*", "roles:mon", 7)
row("grain", "os|Debian", "ec2_tags|env|prod", "ipv6|2001:db8::11", "ipv6|2001:*", "ec2_tags|team|lead|ann", "path|/usr/bin:/bin", "os:Debian",
    "a:b|colon", "ec2_tags|team", "*|prod", "ec2_tags|*|prod", delimiter="|")
row("grain", "os::Debian", "ec2_tags::env::prod", delimiter="::")
row("grain_pcre", "os:Debian", "os:deb", "os:D.*", "os:(Debian|RedHat)$", "os:ebian", "os:.*ian$", "os:^u", "os:[", "os", "osmajorrelease:\\d$",
    "osmajorrelease:1\\d", "roles:w.b", "roles:(web|db)", "systemd:version:2\\d\\d", "systemd:ver", "systemd:version", "*:25[0-9]", "ec2_tags:env:(prod|stage)",
    "ec2_tags:E", "os:\\D", "os:\\DEBIAN", "kernel:(?i)lin", "nested:name:eth\\d", "path:/usr/bin:/b", "path:/(usr|opt)", "swap:no", "num_cpus:(?!4)",
    "ipv4:192\\.0\\.2\\.1\\d*", "ipv6:2001:db8::", "load:1\\.5", "deep:a:a:a:b:[cd]", "disks:(?:sd|nvme).", "osrelease:\\d+\\.\\d+", "*:*:ann")
row("grain_pcre", "os|D", "ipv6|2001:db8.*", "ec2_tags|env|p", delimiter="|")
row("pillar", "role:web", "role:w*", "role:*", "role:None", "role:db*", "secret:s*", "users:ann", "users:ann:*", "users:ann:uid:1000", "users:*:uid:1000",
    "users:*:uid:*", "users:*", "users:uid", "envs:prod", "envs:p*", "envs:stage", "nope:*", "a:b:c:d", "a:b:c", "a:b:*", "x:y:z", "x:y", "*:web", "pg:port:5432", "role")
row("pillar", "users|ann|uid|1000", "x:y|z", delimiter="|")
row("pillar_pcre", "role:web", "role:(web|db)$", "role:db", "secret:s.*t", "users:a", "users:ann:uid:\\d{4}", "envs:(eu|us)", "pg:port:54..", "role:[", "x:y:[a-z]")
row("pillar_exact", "role:web", "role:w*", "role:*", "role:WEB", "users:ann", "users:ann:uid:1000", "envs:prod", "envs:p*", "a:b:c:d", "x:y:z", "secret:s3cret", "*:web", "pg:port:5432")
row("ipcidr", "192.0.2.11", "192.0.2.0/24", "192.0.2.0/255.255.255.0", "192.0.2.0/0.0.0.255", "192.0.2.5/24", "10.0.0.0/8", "10.1.0.0/16", "0.0.0.0/0",
    "127.0.0.1", "198.51.100.7/32", "198.51.100.4/30", "192.0.2.010", "192.0.2.0/33", "2001:db8::11", "2001:DB8::11", "2001:db8:0:0:0:0:0:11", "2001:db8::/32",
    "2001:db8::/48", "::1", "::/0", "2001:db8::1/64", "fe80::1", "fe80::/10", "nonsense", "", "192.0.2.11/32/1", "192.0.2.110", "2001:db8::/129", "10.1.0.5/32")
row("range", "%web", "web1")
row("compound", "*", "web*", "web1 or db1*", "web* and not web1", "not web*", "not web* and not db*", "not web1 or web1", "web1 and web2", "web1 or web2 and nobody",
    "( web1 or web2 ) and web2", "( web1 or db* ) and G@os:Debian", "G@os:Debian", "G@os:Debian and web*", "G@os:Debian or G@os:RedHat", "not G@os:Debian",
    "not G@os:Debian and not G@os:RedHat", "* and not G@os:Debian", "web* not web1", "web* not G@roles:cache", "E@web\\d$", "E@(web|db)[12] and G@os:D*",
    "L@web1,db1.example.com", "L@web1,nobody", "not L@web1,nobody", "not ( L@web1,nobody )", "L@web1 and L@web2", "P@os:(Debian|Arch)", "P@os:^r and not db2*",
    "I@role:web", "I@role:w* and G@os:Ubuntu", "J@role:(web|db)$", "not I@role:web", "S@192.0.2.0/24", "S@192.0.2.11", "S@2001:db8::/32", "not S@192.0.2.0/24",
    "S@192.0.2.0/24 and G@os:Debian", "G|@os|Debian", "G|@ec2_tags|env|prod", "I|@users|ann|uid|1000", "G@@os@Debian", "P|@ipv6|2001:db8::1+", "J;@users;ann;uid;1.*",
    "G@ec2_tags:env:prod and ( G@roles:web or G@roles:db )", "( ( web1 ) )", "( ( web1 or ( web2 and not ( db* or mon_1 ) ) ) )", "not ( web* or db* )",
    "not ( web1 and G@os:Debian )", "( not web1 )", "web1 or ( not web* )", "web1 or not web*", "web* and ( not web1 )", "web1 and", "and web1", "or", "not", "",
    "( and web1 )", "( web1 or )", "web1 web2", "( web1", "web1 )", "( web1 or web2", "( )", "web1 ( web2 )", "( web1 ) ( web2 )", "not not web1", "not and web1", "web1 and or web2",
    "web1 or ( )", "G@os", "G@", "X@web1", "g@os:Debian", "R@%web", "L@", "E@[", "not E@[", "web1 or E@[", "S@nonsense", "web1 or S@nonsense", "not S@nonsense",
    "P@os:[", "not P@os:[", "G@os or web1", "M@web1", "M@web1 or db1*", "not M@web1", "N@web", "N@web and G@os:Debian", "N@web and web2", "not N@web", "not N@list", "N@list and web*",
    "N@nested", "not N@nested", "N@twice", "N@all_web and not N@list", "N@nowhere", "web1 or N@nowhere", "N@loop1", "N@self", "N@regex", "N@regexes", "N@words", "N@in_list",
    "N@globs", "N@grains", "N@ids", "N@not_web", "N@empty", "  web1   or\tweb2 ", "web1 OR web2", "G@roles:web and G@num_cpus:4 and S@10.0.0.0/8 and not E@.*2$",
    ["web1", "or", "web2"], ["G@os:Debian"], 7)
row("compound_pillar_exact", "I@role:w*", "I@role:web", "J@role:web", "J@role:(web|db)$", "I@role:web or db*", "not I@role:w*", "G@os:D* and I@users:ann", "web*")
row("nodegroup", *NODEGROUPS, "nowhere")
row("no_such_type", "*")

UNREADABLE = "an expression that cannot be read matches nobody"
GROUP = "a node group counts as if in parentheses"
WHOLE = "an address is compared as a whole"
#: Why our answer differs, by target, and our answer on both sides.
DIFFERENT = {
    repr(key): value
    for key, value in {
        ("glob", "web1,web2"): ("no minion matches it", []),
        ("list", "['web1', 7]"): ("what is no text in a list is left out", ["web1"]),
        ("ipcidr", "192.0.2.11"): (WHOLE, ["new1", "web1"]),
        ("compound", "S@192.0.2.11"): (WHOLE, ["new1", "web1"]),
        ("compound", "not ( L@web1,nobody )"): ("who is excluded is not missing", [m for m in sorted(MINIONS) if m != "web1"]),
        ("compound", "( web1"): (UNREADABLE, []),
        ("compound", "( web1 or web2"): (UNREADABLE, []),
        ("compound", "web1 or ( )"): (UNREADABLE, []),
        ("compound", "web1 or S@nonsense"): (UNREADABLE, []),
        ("compound", "not S@nonsense"): (UNREADABLE, []),
        ("compound", "not P@os:["): (UNREADABLE, []),
        ("compound", "G@os or web1"): (UNREADABLE, []),
        ("compound", "not N@web"): (GROUP, [m for m in sorted(MINIONS) if m not in ("web1", "web2")]),
        ("compound", "N@web and web2"): (GROUP, ["web2"]),
        ("glob", "['web1']"): ("no minion matches it", []),
    }.items()
}


def published(tgt_type, tgt, opts):
    """The target as Salt's client sends it."""
    if tgt_type not in ("nodegroup", "compound"):
        return tgt_type, tgt
    client = types.SimpleNamespace(opts=opts, key="", salt_user="root")
    client._resolve_nodegroup = lambda name: salt.client.LocalClient._resolve_nodegroup(client, name)
    sent = salt.client.LocalClient._prep_pub(client, tgt, "test.ping", [], tgt_type, "", "", 5)
    return sent["tgt_type"], sent["tgt"]


def on_minion(matchers, tgt_type, tgt, delimiter):
    function = f"{tgt_type}_match.match"
    if function not in matchers:
        return False
    try:
        if tgt_type in ("grain", "grain_pcre", "pillar", "pillar_pcre", "pillar_exact"):
            return bool(matchers[function](tgt, delimiter=delimiter))
        return bool(matchers[function](tgt))
    except Exception:
        return False


with tempfile.TemporaryDirectory() as root:
    config = pathlib.Path(root, "master")
    config.write_text(f"root_dir: {root}\nid: host_master\n")
    opts = salt.config.master_config(str(config))
    opts["nodegroups"] = NODEGROUPS
    os.makedirs(f"{opts['pki_dir']}/minions")
    cache = salt.cache.factory(opts)
    side_opts = {}
    for minion, (grains, pillar) in MINIONS.items():
        pathlib.Path(opts["pki_dir"], "minions", minion).write_text("PEM")
        if minion not in UNKNOWN:
            cache.store("grains", minion, grains)
            cache.store("pillar", minion, pillar)
        own = pathlib.Path(root, f"minion_{minion}")
        own.write_text(f"root_dir: {root}/{minion}\nid: {minion}\n")
        mopts = salt.config.minion_config(str(own), minion_id=False)
        mopts.update({"id": minion, "grains": grains, "pillar": pillar})
        side_opts[minion] = mopts
    check = salt.utils.minions.CkMinions(opts)
    rows = []
    for tgt_type, tgt, delimiter in ROWS:
        try:
            sent_type, sent = published(tgt_type, tgt, opts)
        except Exception:
            sent_type, sent = None, None
        entry = {"type": tgt_type, "tgt": typed(tgt)}
        if delimiter != COLON:
            entry["delimiter"] = delimiter
        found = {"minions": [], "missing": []} if sent_type is None else check.check_minions(sent, sent_type, delimiter)
        entry["master"] = sorted(set(found["minions"]))
        if found["missing"]:
            entry["missing"] = sorted(set(map(str, found["missing"])))
        entry["minions"] = []
        if repr((tgt_type, str(tgt))) in DIFFERENT:
            entry["differs"], entry["ours"] = DIFFERENT[repr((tgt_type, str(tgt)))]
        rows.append((entry, sent_type, sent, delimiter))
    # All matchers of a process belong to the last loaded minion.
    for minion in sorted(side_opts):
        matchers = salt.loader.matchers(side_opts[minion])
        for entry, sent_type, sent, delimiter in rows:
            if sent_type is not None and on_minion(matchers, sent_type, sent, delimiter):
                entry["minions"].append(minion)
    minions = {
        minion: {"grains": typed(grains), "pillar": typed(pillar), **({"unknown": True} if minion in UNKNOWN else {})}
        for minion, (grains, pillar) in MINIONS.items()
    }

lines = ",\n".join("  " + json.dumps(entry, ensure_ascii=False) for entry, *_ in rows)
HERE.joinpath("targets.json").write_text(
    '{"minions": ' + json.dumps(minions, ensure_ascii=False) + ',\n"nodegroups": ' + json.dumps(typed(NODEGROUPS), ensure_ascii=False)
    + ',\n"rows": [\n' + lines + "\n]}\n"
)
print(len(rows), "targets,", len(rows) * len(MINIONS), "answers of each side")
