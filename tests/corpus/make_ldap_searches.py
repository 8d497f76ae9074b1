#!/usr/bin/env python3
"""Writes ldap_searches.json: the searches of Salt's `auth/ldap.py`, and the groups that it finds, for the options `auth.ldap.*`. Run it as
make_values.py. A directory in this script replaces python-ldap: it has the entries below and records the searches."""
import json
import logging
import pathlib
import re
import sys
import types

PEOPLE, GROUPS, BASE = "ou=People,dc=example,dc=com", "ou=Groups,dc=example,dc=com", "dc=example,dc=com"
FRED, ANNA = f"cn=Fred (ops),{PEOPLE}", f"uid=anna,{PEOPLE}"
ENTRIES = [
    {"dn": f"cn=search,{BASE}", "password": "searching", "attributes": {"cn": ["search"]}},
    {"dn": "cn=fred,dc=local", "password": "horse", "attributes": {"cn": ["fred"]}},
    {"dn": FRED, "password": "horse", "attributes": {"cn": ["Fred (ops)"], "sAMAccountName": ["fred"], "uid": ["fred"], "objectClass": ["person", "user"]}},
    {"dn": ANNA, "password": "horse", "attributes": {"cn": ["Anna"], "uid": ["anna"], "objectClass": ["person"], "memberOf": [f"cn=dba,{GROUPS}", f"cn=web,{GROUPS}"]}},
    {"dn": f"cn=ops,{GROUPS}", "attributes": {"cn": ["ops"], "objectClass": ["group"], "member": [FRED, ANNA], "sAMAccountName": ["ops"]}},
    {"dn": f"cn=all,{GROUPS}", "attributes": {"cn": ["all"], "objectClass": ["group"], "member": [FRED]}},
    {"dn": f"cn=dba,{GROUPS}", "attributes": {"cn": ["dba"], "objectClass": ["posixGroup"], "memberUid": ["fred", "anna"], "memberOf": []}},
    {"dn": f"cn=far,ou=Far,{BASE}", "attributes": {"cn": ["far"], "objectClass": ["posixGroup"], "memberUid": ["fred"], "memberOf": []}},
    {"dn": f"cn=ipa,cn=groups,{BASE}", "attributes": {"cn": ["ipa"], "objectClass": ["ipausergroup"], "member": [ANNA], "memberUid": ["x"], "memberOf": []}},
]
ACCOUNT = {"binddn": f"cn=search,{BASE}", "bindpw": "searching", "basedn": BASE}
DOMAIN = {**ACCOUNT, "activedirectory": True, "filter": "(sAMAccountName={{ username }})", "accountattributename": "sAMAccountName", "groupclass": "group"}
CASES = [
    ("fred", DOMAIN),
    ("fred", {**DOMAIN, "persontype": "user"}),
    ("fred", {**DOMAIN, "persontype": "computer"}),
    ("fred", {**DOMAIN, "groupclass": "posixGroup"}),
    ("fred", {**DOMAIN, "groupou": "Far"}),
    ("fred", {**DOMAIN, "filter": "(&(sAMAccountName={{username}})(objectClass=person))"}),
    ("fred", {"binddn": "cn={{ username }},dc=local", "basedn": BASE, "activedirectory": True, "accountattributename": "sAMAccountName", "groupclass": "group"}),
    ("fred", {**ACCOUNT, "filter": "(uid={{ username }})"}),
    ("fred", {**ACCOUNT, "filter": "(uid={{ username }})", "groupou": ""}),
    ("fred", {**ACCOUNT, "filter": "(uid={{ username }})", "groupou": "Far"}),
    ("anna", {**ACCOUNT, "filter": "(uid={{ username }})", "groupou": "", "accountattributename": "uid", "groupclass": "person"}),
    ("anna", {**ACCOUNT, "filter": "(uid={{ username }})", "freeipa": True, "group_basedn": f"cn=groups,{BASE}", "group_filter": "(&(member=uid={{ username }},ou=People,dc=example,dc=com)(objectClass=ipausergroup))", "accountattributename": "member"}),
]
searches, opts = [], {}


class Connection:
    """A connection in place of python-ldap's. Nothing is encrypted, and each bind succeeds: only the searches matter."""

    def set_option(self, *_):
        pass

    def simple_bind_s(self, *_):
        pass

    def search_s(self, base, scope, text, attributes=None):
        searches.append([base, scope, text])
        wanted = [(name, re.sub(r"\\(..)", lambda found: chr(int(found[1], 16)), value)) for name, value in re.findall(r"\((\w+)=([^()]*)\)", text)]
        found = [one for one in ENTRIES if one["dn"].endswith(base) and all(value in one["attributes"].get(name, []) for name, value in wanted)]
        return [(one["dn"], {name: [value.encode() for value in values] for name, values in one["attributes"].items()}) for one in found]


def escape(text):
    """python-ldap's `escape_filter_chars`."""
    return "".join(f"\\{ord(char):02x}" if char in "\\*()\0" else char for char in text)


def module(name, **members):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(members)
    return sys.modules[name]


chars, changes = module("ldap.filter", escape_filter_chars=escape), module("ldap.modlist")
module("ldap", filter=chars, modlist=changes, SCOPE_SUBTREE=2, OPT_REFERRALS=8, initialize=lambda _: Connection())
import salt.auth.ldap

logging.disable(logging.CRITICAL)
salt.auth.ldap.__opts__ = opts
done = []
for username, options in CASES:
    opts.clear()
    opts.update({f"auth.ldap.{key}": value for key, value in options.items()})
    searches.clear()
    assert salt.auth.ldap.auth(username, "horse"), options
    groups = salt.auth.ldap.groups(username, password="horse")
    done.append({"username": username, "options": dict(opts), "searches": list(searches), "groups": groups})
path = pathlib.Path(__file__).with_name("ldap_searches.json")
rows = lambda many: ",\n".join(json.dumps(one) for one in many)
path.write_text(f'{{"entries": [\n{rows(ENTRIES)}\n],\n"cases": [\n{rows(done)}\n]}}\n', encoding="utf-8")
