"""Situations of the state module x509: the family `x509` of state_situation_cases.py.

Keys and the authority are those of x509.json, in `pki`. New keys, ECDSA signatures and revocation lists have other bytes in each run: these files are
in `new`, which is not compared.
"""

import base64
import json
import pathlib
import textwrap

CASES = []
MADE = json.loads((pathlib.Path(__file__).parent / "x509.json").read_text(encoding="utf-8"))
PKI = {
    "pki/ca.crt": MADE["certificates"][0]["made"]["value"],
    **{f"pki/{kind}.key": MADE["keys"][kind]["private"] for kind in ("rsa2048", "ec256", "ed25519")},
    **{f"pki/{kind}.pub": MADE["keys"][kind]["public"] for kind in ("ec256", "ed25519")},
    "pki/locked.key": MADE["keys"]["ed25519"]["encrypted"],
    "new": None,
}
# The arguments that make a certificate deterministic.
FIXED = {"serial_number": "0A:0B", "not_before": "2026-01-01 00:00:00", "not_after": "2099-01-01 00:00:00"}
OWN = {**FIXED, "signing_private_key": "@@/pki/ed25519.key", "CN": "own.example.org"}
SIGNED = {
    **FIXED, "signing_private_key": "@@/pki/rsa2048.key", "signing_cert": "@@/pki/ca.crt", "public_key": "@@/pki/ed25519.pub",
    "CN": "www.example.org",
}
CRL = {"signing_private_key": "@@/pki/rsa2048.key", "signing_cert": "@@/pki/ca.crt", "name": "@@/new/ca.crl"}


def x509(name, states, before=None, unseen=("pki", "new"), **more):
    """Adds a situation. @param states Its states in order: (function, arguments)."""
    sls = {f"{n} {fun}": {fun if "." in fun else f"x509.{fun}": [{k: v} for k, v in args.items()]} for n, (fun, args) in enumerate(states)}
    case = {"before": {**PKI, **(before or {})}, "unseen": list(unseen), **more}
    CASES.append((f"x509.{name}", "#!yaml\n" + json.dumps(sls, indent=1, ensure_ascii=False) + "\n", case))


def changed(base, *changes):
    """States of the same file, one after the other, each with additional or changed arguments."""
    return [("certificate_managed", {"name": "@@/www.crt", **base, **change}) for change in ({}, *changes)]


# --- certificates ----------------------------------------------------------------------------------------------------------

x509("certificates that sign themselves, and one of an authority", [
    ("certificate_managed", {"name": "@@/own.crt", **OWN, "mode": "0600"}),
    ("certificate_managed", {"name": "@@/own.crt", **OWN, "mode": "0640"}),
    ("certificate_managed", {"name": "@@/a/b/www.crt", **SIGNED, "makedirs": True, "dir_mode": "0750", "user": "root", "group": "root"}),
    ("certificate_managed", {"name": "@@/a/b/www.crt", **SIGNED}),
])
x509("a certificate changes: subject, extensions, number, key", changed(
    SIGNED,
    {"CN": "web.example.org", "O": "Example"},
    {"keyUsage": "critical, digitalSignature", "subjectAltName": ["dns:www.example.org"]},
    {"keyUsage": "digitalSignature", "basicConstraints": "critical, CA:FALSE", "subjectAltName": ["dns:www.example.org"]},
    {"crlDistributionPoints": ["uri:http://example.org/ca.crl"], "noCheck": True, "tlsfeature": "status_request"},
    {"serial_number": "0C"},
    {"serial_number": 12},
    {"public_key": "@@/pki/rsa2048.key", "private_key": "@@/pki/rsa2048.key"},
))
x509("a certificate of another authority", [
    ("certificate_managed", {"name": "@@/other.crt", **OWN, "basicConstraints": "critical, CA:TRUE"}),
    *changed(SIGNED, {"signing_cert": "@@/other.crt", "signing_private_key": "@@/pki/ed25519.key"}, {"signing_cert": None}),
])
x509("digests", [
    *changed(SIGNED, {"digest": "sha512"}, {"digest": "SHA512"}, {"digest": "sha3_256"}, {"algorithm": "sha384"}, {"digest": "nonsense"}),
    ("certificate_managed", {"name": "@@/own.crt", **OWN}),
    ("certificate_managed", {"name": "@@/own.crt", **OWN, "digest": "sha512"}),
])
x509("encodings of a certificate", changed(
    SIGNED, {"encoding": "der"}, {"encoding": "der"}, {"encoding": "pkcs7_pem"}, {"encoding": "pkcs7_der"}, {"encoding": "pkcs7_der", "CN": "other"},
    {"encoding": "nonsense"}, {"encoding": "pem"},
))
x509("certificates that follow", changed(
    SIGNED,
    {"append_certs": ["@@/pki/ca.crt"]},
    {"append_certs": "@@/pki/ca.crt"},
    {"append_certs": ["@@/pki/ca.crt"], "encoding": "pkcs7_pem"},
    {"append_certs": ["@@/pki/ca.crt"], "encoding": "der"},
    {"append_certs": ["@@/pki/ca.crt"], "encoding": "pkcs7_der"},
    {"append_certs": []},
    {"append_certs": ["@@/pki/none.crt"]},
))
x509("a certificate that ends soon", [
    *changed(OWN, {"not_after": "2026-01-02 00:00:00"}, {"not_after": "2026-01-02 00:00:00", "days_remaining": 0}, {"days_remaining": 36500}),
    ("certificate_managed", {"name": "@@/new/days.crt", "signing_private_key": "@@/pki/ed25519.key", "CN": "x", "days_valid": 80}),
    ("certificate_managed", {"name": "@@/new/year.crt", "signing_private_key": "@@/pki/ed25519.key", "CN": "x"}),
    ("certificate_managed", {"name": "@@/new/year.crt", "signing_private_key": "@@/pki/ed25519.key", "CN": "x"}),
])
x509("names of arguments as they were, and copies", [
    ("certificate_managed", {"name": "@@/old.crt", **FIXED, "signing_private_key": "@@/pki/ed25519.key", "commonName": "old", "X509v3 Basic Constraints": "critical CA:true"}),
    ("certificate_managed", {"name": "@@/old.crt", **FIXED, "signing_private_key": "@@/pki/ed25519.key", "CN": "old", "basicConstraints": "critical, CA:TRUE", "unknown": 1, "text": True}),
    ("certificate_managed", {"name": "@@/copied.crt", **OWN, "copypath": "@@/copies"}),
    ("certificate_managed", {"name": "@@/named.crt", **OWN, "copypath": "@@/copies", "prepend_cn": True, "CN": "n"}),
    ("certificate_managed", {"name": "@@/subject.crt", **OWN, "subject": "CN=text,O=Example"}),
    ("certificate_managed", {"name": "@@/subject.crt", **OWN, "subject": {"CN": "text", "O": "Other"}}),
], before={"copies": None})
x509("signing policies", [
    *changed({**FIXED, "public_key": "@@/pki/ed25519.pub", "signing_policy": "www", "signing_private_key": "@@/pki/rsa2048.key"},
             {"CN": "mine"}, {"signing_policy": "strict"}, {"signing_policy": "strict", "digest": "sha384"}, {"signing_policy": "unknown", "signing_cert": "@@/pki/ca.crt"}),
    ("certificate_managed", {"name": "@@/keyless.crt", **FIXED, "public_key": "@@/pki/ed25519.pub", "signing_policy": "www"}),
], pillar={"x509_signing_policies": {
    "www": {"signing_private_key": "@@/pki/rsa2048.key", "signing_cert": "@@/pki/ca.crt", "O": "Policy", "keyUsage": "critical, digitalSignature"},
    "strict": {"signing_private_key": "@@/pki/rsa2048.key", "signing_cert": "@@/pki/ca.crt", "CN": "forced", "digest": "sha512"},
}})
x509("a certificate of a request, or of a locked key", [
    ("csr_managed", {"name": "@@/www.csr", "private_key": "@@/pki/ed25519.key", "CN": "asked", "subjectAltName": "dns:asked.example.org", "keyUsage": "digitalSignature"}),
    ("certificate_managed", {**{k: v for k, v in SIGNED.items() if k != "public_key"}, "name": "@@/asked.crt", "csr": "@@/www.csr"}),
    ("certificate_managed", {**{k: v for k, v in SIGNED.items() if k != "public_key"}, "name": "@@/asked.crt", "csr": "@@/www.csr", "keyUsage": "keyEncipherment"}),
    ("certificate_managed", {**SIGNED, "name": "@@/locked.crt", "private_key": "@@/pki/locked.key", "private_key_passphrase": "secret"}),
    ("certificate_managed", {**SIGNED, "name": "@@/wrong.crt", "private_key": "@@/pki/locked.key", "private_key_passphrase": "wrong"}),
    ("certificate_managed", {**SIGNED, "name": "@@/missing.crt", "private_key": "@@/pki/locked.key"}),
    ("certificate_managed", {**OWN, "name": "@@/own.crt", "signing_private_key": "@@/pki/locked.key", "signing_private_key_passphrase": "secret"}),
])
x509("what is there is something else, or cannot be made", [
    ("certificate_managed", {"name": "@@/text", **OWN}),
    ("certificate_managed", {"name": "@@/key", **OWN}),
    ("certificate_managed", {"name": "@@/empty", **OWN, "encoding": "der"}),
    ("certificate_managed", {"name": "@@/broken", **OWN}),
    ("certificate_managed", {"name": "@@/folder", **OWN}),
    ("certificate_managed", {"name": "@@/no/folder", **OWN}),
    ("certificate_managed", {"name": "@@/no/folder", **OWN, "encoding": "der"}),
    ("certificate_managed", {"name": "@@/not made", **OWN, "create": False}),
    ("certificate_managed", {"name": "relative", **OWN}),
    ("certificate_managed", {"name": "@@/checked", **OWN, "check_cmd": "grep BEGIN"}),
    ("certificate_managed", {"name": "@@/refused", **OWN, "check_cmd": "grep nothing"}),
], before={"text": "not a certificate\n", "key": PKI["pki/ed25519.key"], "empty": "", "folder": None,
           "broken": "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"})
x509("links to certificates", [
    ("certificate_managed", {"name": "@@/link.crt", **OWN}),
    ("certificate_managed", {"name": "@@/link.crt", **OWN, "encoding": "der", "mode": "0600"}),
    ("private_key_managed", {"name": "@@/link.key", "algo": "ed25519"}),
], before={"link.crt": {"link": "real.crt"}, "real.crt": "x", "link.key": {"link": "pki/ed25519.key"}})
x509("wrong arguments of certificates", [
    ("certificate_managed", {"name": "@@/1", **FIXED, "CN": "x"}),
    ("certificate_managed", {"name": "@@/2", **OWN, "signing_private_key": "@@/none.key"}),
    ("certificate_managed", {"name": "@@/3", **SIGNED, "signing_private_key": "@@/pki/ed25519.key"}),
    ("certificate_managed", {"name": "@@/4", **{k: v for k, v in SIGNED.items() if k != "public_key"}}),
    ("certificate_managed", {"name": "@@/7", **OWN, "serial_number": "zz"}),
    ("certificate_managed", {"name": "@@/8", **OWN, "ca_server": "ca"}),
    ("certificate_managed", {"name": "@@/there", **OWN, "signing_private_key": "@@/none.key"}),
    ("certificate_managed", {"name": "@@/there", **SIGNED, "signing_private_key": "@@/pki/ed25519.key"}),
], before={"there": PKI["pki/ca.crt"]})
x509("what waits for a certificate", [
    ("certificate_managed", {"name": "@@/own.crt", **OWN}),
    ("cmd.run", {"name": "echo reloaded >> @@/log", "onchanges": [{"x509": "0 certificate_managed"}]}),
    ("certificate_managed", {"name": "@@/late.crt", **OWN, "require": [{"cmd": "1 cmd.run"}], "watch": [{"x509": "0 certificate_managed"}]}),
    ("cmd.run", {"name": "echo prepared >> @@/log", "prereq": [{"x509": "4 certificate_managed"}]}),
    ("certificate_managed", {"name": "@@/after.crt", **OWN}),
])

# --- requests --------------------------------------------------------------------------------------------------------------

ASKED = {"name": "@@/www.csr", "private_key": "@@/pki/rsa2048.key", "CN": "www.example.org"}
x509("requests", [
    ("csr_managed", args) for args in (
        {**ASKED, "mode": "0600"},
        {**ASKED, "CN": "web"},
        {**ASKED, "CN": "web", "subjectAltName": ["dns:web.example.org"], "basicConstraints": "CA:FALSE"},
        {**ASKED, "CN": "web", "subjectAltName": ["dns:www.example.org"]},
        {**ASKED, "CN": "web", "subjectAltName": ["dns:www.example.org"], "digest": "sha512"},
        {**ASKED, "CN": "web", "subjectAltName": ["dns:www.example.org"], "algorithm": "sha512", "encoding": "der"},
        {**ASKED, "private_key": "@@/pki/ed25519.key", "subject": ["O=Example", "CN=list"]},
        {**ASKED, "private_key": "@@/pki/locked.key", "private_key_passphrase": "secret", "subject": ["O=Example", "CN=list"]},
        {**ASKED, "private_key": "@@/pki/locked.key"},
        {**ASKED, "private_key": "@@/none.key"},
        {**ASKED, "encoding": "pkcs7_pem"},
    )
])


def of_no_version():
    """A request with an invalid version, as M2Crypto wrote them."""
    lines = MADE["requests"][0]["made"]["value"].strip().split("\n")
    der = base64.b64decode("".join(lines[1:-1]))
    der = der.replace(b"\x02\x01\x00", b"\x02\x01\x02", 1)
    return "\n".join([lines[0], *textwrap.wrap(base64.b64encode(der).decode(), 64), lines[-1], ""])


x509("requests where something else is", [
    ("csr_managed", {**ASKED, "name": "@@/text"}),
    ("csr_managed", {**ASKED, "name": "@@/certificate", "encoding": "der"}),
    ("csr_managed", {**ASKED, "name": "@@/not made", "create": False}),
    ("csr_managed", {**ASKED, "name": "@@/no/folder"}),
    ("csr_managed", {"name": "@@/keyless", "CN": "x"}),
    ("csr_managed", {**ASKED, "name": "@@/version.csr"}),
], before={"text": "text", "certificate": PKI["pki/ca.crt"], "version.csr": of_no_version()})

# --- revocation lists ------------------------------------------------------------------------------------------------------


def crl(*changes):
    """States of the same list, one after the other."""
    return [("crl_managed", {**CRL, "revoked": [{"serial_number": "01"}], **change}) for change in changes]


NUMBER = {"cRLNumber": "auto"}
SHOWN = "__slot__:salt:x509.read_crl(@@/new/ca.crl).extensions.cRLNumber.value"


def number():
    """A state that shows the number of the list."""
    return ("test.configurable_test_state", {"name": "number", "changes": False, "comment": SHOWN})


DATED = {"revocation_date": "2026-02-01 00:00:00"}
x509("revocation lists", crl(
    {"mode": "0600"},
    {},
    {"revoked": [{"serial_number": "01"}, {"serial_number": "A1:B2:C3", **DATED, "extensions": {"CRLReason": "keyCompromise", "invalidityDate": "2026-01-02 00:00:00"}}]},
    {"revoked": [{"serial_number": "A1:B2:C3", "extensions": {"CRLReason": "superseded", "invalidityDate": "2026-01-01 00:00:00"}}]},
    {"revoked": [{"serial_number": "A1:B2:C3", "extensions": {"CRLReason": "superseded", "invalidityDate": "2026-01-01 00:00:00"}}], "digest": "sha512"},
    {"revoked": [{"A1:B2:C3": [{"serial_number": "A1:B2:C3"}, {"reason": "superseded"}]}], "digest": "sha512", "text": True},
    {"revoked": [{"certificate": "@@/pki/ca.crt"}], "encoding": "der"},
    {"revoked": [{"certificate": "@@/pki/ca.crt"}], "encoding": "pem"},
    {"revoked": [{"serial_number": "02", "not_after": "2026-01-02 00:00:00"}]},
    {"revoked": [{"serial_number": "02", "not_after": "2026-01-02 00:00:00"}], "include_expired": True},
    {"revoked": []},
    {"revoked": [], "extensions": {"authorityKeyIdentifier": "keyid:always", "cRLNumber": 5}},
    {"revoked": [], "extensions": {"cRLNumber": 6}},
))
x509("numbers of lists, and their ends", [
    *crl({"extensions": NUMBER}), number(),
    *crl({"extensions": NUMBER}), number(),
    *crl({"extensions": NUMBER, "revoked": []}), number(),
    *crl({"extensions": NUMBER, "revoked": [], "encoding": "der"}), number(),
    *crl({"extensions": NUMBER, "revoked": [], "days_remaining": 200}), number(),
    *crl({"extensions": NUMBER, "revoked": [], "days_valid": 10, "days_remaining": 0}), number(),
    *crl({"extensions": NUMBER, "revoked": [], "days_remaining": 99, "days_valid": 10}), number(),
    *crl({"extensions": NUMBER, "revoked": [], "days_remaining": 0}), number(),
])
x509("revocation lists that cannot be", [
    ("crl_managed", {**CRL, "name": "@@/text", "revoked": []}),
    *crl({"name": "@@/1", "signing_private_key": "@@/pki/ed25519.key"}, {"name": "@@/2", "revoked": [{}]}, {"name": "@@/3", "encoding": "pkcs7_pem"},
         {"name": "@@/4", "digest": "nonsense"}, {"name": "@@/5", "unknown": 1, "more": 2}, {"name": "@@/6", "revoked": [{"serial_number": "zz"}]},
         {"name": "@@/not made", "create": False}, {"name": "@@/no/folder"}),
    ("crl_managed", {"name": "@@/7", "signing_private_key": "@@/pki/rsa2048.key"}),
], before={"text": "text"}, unseen=("pki", "new", "text"))

# --- keys and other blocks -------------------------------------------------------------------------------------------------

KEY = {"name": "@@/new/a.key"}
x509("keys that are made", [("private_key_managed", args) for args in (
    {**KEY, "algo": "ed25519"},
    {**KEY, "algo": "ed25519", "mode": "0440"},
    {**KEY, "algo": "ed448"},
    {**KEY, "algo": "ec"},
    {**KEY, "algo": "ec", "keysize": 384},
    {**KEY, "algo": "ec", "keysize": 384, "encoding": "der"},
    {**KEY, "algo": "ec", "keysize": 384, "encoding": "der", "passphrase": "secret"},
    {**KEY, "algo": "ec", "keysize": 384, "passphrase": "secret"},
    {**KEY, "algo": "ec", "keysize": 384},
    {**KEY, "algo": "ec", "keysize": 384, "passphrase": "other"},
    {**KEY, "algo": "ec", "keysize": 384, "overwrite": True},
    {**KEY, "algo": "ec", "bits": 384, "cipher": "x", "verbose": True, "text": True},
    {**KEY, "algo": "ec", "keysize": 384, "new": True},
    {**KEY, "algo": "rsa", "keysize": 2048},
    {**KEY},
    {**KEY, "algo": "ed25519", "passphrase": "secret", "makedirs": True},
    {**KEY, "algo": "ed25519", "passphrase": "other", "overwrite": True},
)])
LOCKED = {"name": "@@/locked.key", "algo": "ed25519"}
x509("keys that are there", [("private_key_managed", args) for args in (
    {"name": "@@/plain.key", "algo": "ed25519"},
    {"name": "@@/plain.key", "algo": "ed25519", "encoding": "der"},
    {"name": "@@/plain.key", "algo": "ed25519", "encoding": "pem", "mode": "0640"},
    {"name": "@@/rsa.key"},
    {"name": "@@/rsa.key", "keysize": 2048, "encoding": "der"},
    {**LOCKED, "passphrase": "secret"},
    LOCKED,
    {**LOCKED, "passphrase": "wrong"},
    {"name": "@@/text.key", "algo": "ed25519"},
    {"name": "@@/certificate.key", "algo": "ed25519"},
    {"name": "@@/new/text.key", "algo": "ed25519", "overwrite": True},
    {"name": "@@/new/text.key", "algo": "ed25519", "overwrite": True},
    {"name": "@@/folder", "algo": "ed25519"},
    {"name": "@@/not made", "create": False},
)], before={"plain.key": PKI["pki/ed25519.key"], "rsa.key": PKI["pki/rsa2048.key"], "locked.key": PKI["pki/locked.key"],
            "text.key": "text", "certificate.key": PKI["pki/ca.crt"], "new/text.key": "text", "folder": None})
x509("keys that cannot be", [("private_key_managed", {"name": f"@@/{n}", **args}) for n, args in enumerate((
    {"algo": "ed25519", "keysize": 256},
    {"algo": "ed448", "keysize": 256},
    {"algo": "dsa"},
    {"keysize": 1024},
    {"algo": "ec", "keysize": 512},
    {"encoding": "nonsense"},
    {"unknown": 1},
))])
BLOCK = "-----BEGIN DH PARAMETERS-----\nMAYCAQUCAQI=\n-----END DH PARAMETERS-----\n"
x509("blocks of PEM", [
    ("pem_managed", {"name": "@@/dh.pem", "text": "words\n" + BLOCK + "and more", "mode": "0600"}),
    ("pem_managed", {"name": "@@/dh.pem", "text": BLOCK}),
    ("pem_managed", {"name": "@@/dh.pem", "text": "@@/pki/ca.crt", "backup": "minion"}),
    ("pem_managed", {"name": "@@/none.pem", "text": "abc"}),
    ("pem_managed", {"name": "@@/none.pem", "text": BLOCK, "unknown": 1}),
    ("pem_managed", {"name": "@@/none.pem"}),
    ("pem_managed", {"name": "@@/no/folder", "text": BLOCK}),
])
DONE = {"result": True, "comment": "The wrapper said this", "changes": {"created": "x"}}
x509("what salt-ssh ends with", [
    ("certificate_managed_ssh", {"name": "@@/www.crt", **DONE, "encoding": "pem", "contents": PKI["pki/ca.crt"], "mode": "0640"}),
    ("certificate_managed_ssh", {"name": "@@/bytes", **DONE, "encoding": "der", "contents": "YWJj"}),
    ("certificate_managed_ssh", {"name": "@@/bytes", **{**DONE, "changes": {}}, "mode": "0600"}),
    ("certificate_managed_ssh", {"name": "@@/bytes", **DONE, "result": False}),
    ("certificate_managed_ssh", {"name": "@@/bytes", **DONE, "result": None}),
    ("certificate_managed_ssh", {"name": "@@/no/folder", **DONE, "encoding": "pem", "contents": "x"}),
    ("private_key_managed_ssh", {"name": "@@/a.key", **DONE, "tempfile": "@@/made", "mode": "0400"}),
    ("private_key_managed_ssh", {"name": "@@/a.key", **{**DONE, "changes": {}}}),
    ("private_key_managed_ssh", {"name": "@@/a.key", **DONE, "result": False, "tempfile": "@@/made"}),
], before={"made": "the key", "bytes": "old"})
