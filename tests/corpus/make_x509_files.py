"""Writes the results of Salt's module x509 with files, signing policies, other minions and rare signatures.

    PYTHON make_x509_files.py > x509_files.json

PYTHON is a Python with Salt 3008.3. Keys and the authority come from x509.json: `@rsa2048.private` is a key of it, `@ca` the first
certificate; `{dir}` is the folder of the calls. Bytes are `{"!bytes": digits}`. Each situation has a new folder; `files` are its files at the end,
without names that end in `.any`, whose bytes differ in each run.
"""

import base64
import datetime
import json
import os
import shutil
import sys
import tempfile

import salt.config
import salt.loader
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding

HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, "x509.json"), encoding="utf-8") as fp:
    MADE = json.load(fp)
CA_PEM = MADE["certificates"][0]["made"]["value"]
BASE = {"serial_number": "0A:0B:0C:0D", "not_before": "2026-01-01 00:00:00", "not_after": "2036-01-01 00:00:00"}
SIGNED = {**BASE, "signing_private_key": "@rsa2048.private", "signing_cert": "@ca", "public_key": "@ec256.public"}
SIGNER = {"signing_private_key": "@rsa2048.private", "signing_cert": "@ca"}
ASKED = {**BASE, "public_key": "@ec256.public"}
POLICIES = {
    "www": {"minions": "web*", **SIGNER, "O": "Example", "keyUsage": "critical, digitalSignature", "CN": "forced"},
    "open": {**SIGNER, "extendedKeyUsage": "serverAuth"},
    "listed": [{"signing_private_key": "@rsa2048.private"}, {"signing_cert": "@ca"}, {"subject": ["C=US", "O=Policy"]}],
    "mapped": {**SIGNER, "subject": {"O": "Policy", "CN": "of the policy"}},
    "old names": {**SIGNER, "organizationName": "Old", "X509v3 Basic Constraints": "critical, CA:FALSE"},
    "broken": {"signing_private_key": "@rsa2048.private", "signing_cert": "/nonexistent/ca.crt"},
    "others": {"minions": "db*", **SIGNER},
}


def policy_calls():
    """Certificates by policies, signed here and by another minion."""
    create, sign, get = "x509.create_certificate", "x509.sign_remote_certificate", "x509.get_signing_policy"
    yield create, {**ASKED, "signing_policy": "www", "CN": "mine", "ST": "kept", **SIGNER}
    yield create, {**ASKED, **SIGNER, "signing_policy": "www", "subject": "CN=gone"}
    yield create, {**ASKED, **SIGNER, "signing_policy": "open", "commonName": "long", "X509v3 Key Usage": "cRLSign"}
    yield create, {**ASKED, **SIGNER, "signing_policy": "listed", "subject": ["CN=list"]}
    yield create, {**ASKED, **SIGNER, "signing_policy": "listed", "subject": "CN=text"}
    yield create, {**ASKED, **SIGNER, "signing_policy": "mapped", "subject": {"CN": "mine", "C": "US"}}
    yield create, {**ASKED, **SIGNER, "signing_policy": "mapped", "subject": ["CN=list"]}
    yield create, {**ASKED, **SIGNER, "signing_policy": "unknown", "CN": "x"}
    for name in ("www", "old names", "unknown"):
        yield get, {"signing_policy": name}
    for name in ("www", "others", "open", "broken", "unknown"):
        asked = {"signing_policy": name, "kwargs": {**ASKED, "CN": "asked", "ca_server": "ca"}}
        yield sign, {**asked, "__pub_id": "web2"}
        yield sign, {**asked, "__pub_id": "web2", "get_signing_policy_only": True}
    yield sign, {"signing_policy": "www", "kwargs": ASKED}
    yield sign, {"signing_policy": "open", "kwargs": BASE, "__pub_id": "web2"}
    for name in ("www", "others", "open", "broken", "unknown"):
        yield create, {**ASKED, "ca_server": "ca", "signing_policy": name, "CN": "remote"}
        yield get, {"ca_server": "ca", "signing_policy": name}
    key = {**BASE, "private_key": "@ed25519.encrypted", "private_key_passphrase": "secret"}
    yield create, {**key, "ca_server": "ca", "signing_policy": "open", "CN": "of a key"}
    yield create, {**BASE, "csr": "@csr", "ca_server": "ca", "signing_policy": "open", "CN": "of a request"}
    yield create, {**ASKED, "ca_server": "ca"}
    yield create, {**ASKED, "ca_server": "nobody", "signing_policy": "open"}
    yield create, {**ASKED, "ca_server": "strange", "signing_policy": "open"}


def file_calls():
    """Certificates in files and with others behind them."""
    create = "x509.create_certificate"
    yield create, {**SIGNED, "CN": "one", "path": "{dir}/one.crt"}
    yield create, {**SIGNED, "CN": "two", "path": "{dir}/one.crt", "overwrite": False}
    yield create, {**SIGNED, "CN": "two", "path": "{dir}/two.crt", "overwrite": False}
    for encoding in ("der", "pkcs7_der", "pkcs7_pem"):
        yield create, {**SIGNED, "CN": encoding, "path": "{dir}/" + encoding, "encoding": encoding}
        yield "x509.read_certificate", {"certificate": "{dir}/" + encoding}
        yield create, {**SIGNED, "CN": "raw", "encoding": encoding, "raw": True, "append_certs": ["@ca"]}
    yield create, {**SIGNED, "CN": "chain", "append_certs": ["@ca", "{dir}/one.crt"]}
    yield create, {**SIGNED, "CN": "chain", "append_certs": "@ca", "path": "{dir}/chain.pem"}
    yield "x509.encode_certificate", {"certificate": "{dir}/one.crt", "append_certs": "{dir}/two.crt"}
    yield "x509.encode_certificate", {"certificate": "{dir}/one.crt", "append_certs": ["@ca"], "encoding": "pkcs7_pem"}
    yield "x509.encode_certificate", {"certificate": "{dir}/one.crt", "encoding": "der", "append_certs": ["@ca"]}
    yield "x509.encode_certificate", {"certificate": "{dir}/one.crt", "private_key": "@rsa2048.private"}
    yield "x509.encode_certificate", {"certificate": "{dir}/one.crt", "raw": True}
    yield "x509.encode_certificate", {"certificate": "{dir}/one.crt", "encoding": "nonsense"}
    yield create, {**SIGNED, "CN": "copied", "copypath": "{dir}"}
    yield create, {**SIGNED, "CN": "copied", "copypath": "{dir}", "prepend_cn": True}
    yield create, {**SIGNED, "O": "nameless", "serial_number": "0102", "copypath": "{dir}", "prepend_cn": True}
    yield "x509.read_certificates", {"glob_path": "{dir}/*.crt"}
    yield "x509.get_pem_entries", {"glob_path": "{dir}/*.crt"}
    yield "x509.read_certificates", {"glob_path": "{dir}/none*"}
    yield "x509.get_pem_entries", {"glob_path": "{dir}/der"}
    yield "x509.expired", {"certificate": "{dir}/one.crt"}
    yield "x509.will_expire", {"certificate": "{dir}/one.crt", "days": 36500}
    yield "x509.create_csr", {"private_key": "@rsa2048.private", "CN": "request", "path": "{dir}/pem.csr"}
    yield "x509.create_csr", {"private_key": "@rsa2048.private", "CN": "r", "path": "{dir}/der.csr", "encoding": "der"}
    for name in ("pem", "der"):
        yield "x509.read_csr", {"csr": "{dir}/" + name + ".csr"}
        yield "x509.encode_csr", {"csr": "{dir}/" + name + ".csr", "encoding": "der"}
    for name in ("pem", "der"):
        path = "{dir}/" + name + ".any"
        yield "x509.create_crl", {**SIGNER, "revoked": [{"serial_number": "01"}], "path": path, "encoding": name}
        yield "x509.verify_crl", {"crl": path, "cert": "@ca"}
    yield "x509.verify_signature", {"certificate": "{dir}/one.crt", "signing_pub_key": "@ca"}
    yield "x509.verify_signature", {"certificate": "{dir}/one.crt"}
    yield "x509.verify_private_key", {"private_key": "@rsa2048.private", "public_key": "{dir}/pem.csr"}


def pem_calls():
    """Blocks of PEM in files."""
    text = "-----BEGIN DH PARAMETERS-----\nMAYCAQUCAQI=\n-----END DH PARAMETERS-----\n"
    write = "x509.write_pem"
    yield write, {"text": text, "path": "{dir}/dh.pem"}
    yield write, {"text": "@rsa2048.private", "path": "{dir}/key.pem"}
    yield write, {"text": "@ca", "path": "{dir}/key.pem", "overwrite": False, "pem_type": "CERTIFICATE"}
    yield write, {"text": "@ca", "path": "{dir}/dh.pem", "overwrite": False, "pem_type": "CERTIFICATE"}
    yield write, {"text": "{dir}/key.pem", "path": "{dir}/copy.pem", "pem_type": "PRIVATE KEY"}
    yield write, {"text": "@ca", "path": "{dir}/key2.pem", "pem_type": "PRIVATE KEY"}
    yield write, {"text": "@ca", "path": "{dir}/copy.pem", "overwrite": False}
    yield "x509.get_pem_entry", {"text": "{dir}/key.pem", "pem_type": "CERTIFICATE"}
    yield "x509.get_pem_entry", {"text": "/nonexistent/x.pem"}
    yield "x509.get_pem_entry", {"text": "words around\n" + text + "and after"}


def rare_calls():
    """Signatures that are rare: RSA-PSS, SHA-1, a digest shorter than the curve."""
    key = serialization.load_pem_private_key(MADE["keys"]["rsa2048"]["private"].encode(), None)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "pss")])
    day = datetime.datetime(2026, 1, 1)
    for digest in (hashes.SHA256(), hashes.SHA512()):
        builder = x509.CertificateBuilder(name, name, key.public_key(), 5, day, day.replace(year=2036))
        mask = padding.PSS(padding.MGF1(digest), digest.digest_size)
        pem = builder.sign(key, digest, rsa_padding=mask).public_bytes(serialization.Encoding.PEM).decode()
        yield "x509.read_certificate", {"certificate": pem}
        yield "x509.verify_signature", {"certificate": pem}
        yield "x509.verify_signature", {"certificate": pem, "signing_pub_key": "@ed25519.public"}
    for digest in ("sha1", "sha224", "sha384", "sha512_256", "sha3_512"):
        yield "x509.create_certificate", {**SIGNED, "CN": "d", "digest": digest}
    for curve in ("ec256", "ec384", "ec521"):
        for digest in ("sha1", "sha224", "sha256", "sha512", "sha3_256"):
            if curve == "ec521" and digest in ("sha224", "sha3_256"):
                continue  # Node does not have them: docs/differences.md
            args = {**BASE, "CN": "d", "signing_private_key": f"@{curve}.private", "digest": digest}
            try:
                pem = MODS["x509.create_certificate"](**resolved(args, None))
            except Exception:  # pylint: disable=broad-except
                yield "x509.create_certificate", args
                continue
            yield "x509.create_certificate", {**args, "path": "{dir}/" + f"{curve}_{digest}.any"}
            yield "x509.read_certificate", {"certificate": pem}
            yield "x509.verify_signature", {"certificate": pem}


PUBLISH = '''
import salt.payload

def publish(tgt, fun, arg=None, timeout=5, **kwargs):
    if tgt == "nobody":
        return {}
    if tgt == "strange":
        return {"strange": "no such function"}
    sent = salt.payload.loads(salt.payload.dumps(arg))
    answer = __salt__[fun](*sent, __pub_id="web2")
    return salt.payload.loads(salt.payload.dumps({tgt: answer}))
'''


def resolved(given, folder):
    """The values of `@…` and `{dir}`."""
    if isinstance(given, dict):
        return {name: resolved(value, folder) for name, value in given.items()}
    if isinstance(given, list):
        return [resolved(value, folder) for value in given]
    if not isinstance(given, str):
        return given
    if given == "@ca":
        return CA_PEM
    if given == "@csr":
        return MADE["requests"][0]["made"]["value"]
    if given.startswith("@"):
        name, part = given[1:].split(".")
        return MADE["keys"][name][part]
    return given.replace("{dir}", folder) if folder else given


def plain(given, folder):
    """A result as JSON."""
    if isinstance(given, dict):
        return {plain(name, folder): plain(value, folder) for name, value in given.items()}
    if isinstance(given, (list, tuple)):
        return [plain(value, folder) for value in given]
    if isinstance(given, bytes):
        return {"!bytes": given.hex()}
    return given.replace(folder, "{dir}") if isinstance(given, str) else given


ROOT = tempfile.mkdtemp(prefix="x509_")
os.makedirs(os.path.join(ROOT, "modules"))
with open(os.path.join(ROOT, "modules", "publish.py"), "w", encoding="utf-8") as fp:
    fp.write(PUBLISH)
OPTS = salt.config.minion_config(None)
OPTS.update({"id": "web1", "root_dir": ROOT, "cachedir": ROOT, "extension_modules": ROOT, "file_client": "local", "grains": {}})
MODS = salt.loader.minion_mods(OPTS, context={})


def job():
    """The functions with a pillar of their own, as in each job: signing by a policy removes values from it."""
    OPTS["pillar"] = {"x509_signing_policies": resolved(POLICIES, None)}
    return salt.loader.minion_mods(OPTS, context={})


def answer(fun, args, folder):
    """The result of a function, or its error."""
    try:
        return {"value": plain((job() if "policy" in str(args) else MODS)[fun](**resolved(args, folder)), folder)}
    except Exception as err:  # pylint: disable=broad-except
        return {"error": plain(str(err), folder)}


def main():
    """Prints all situations."""
    out = {"policies": POLICIES, "situations": []}
    for name, calls in (("policies", policy_calls), ("files", file_calls), ("pem", pem_calls), ("rare", rare_calls)):
        folder = os.path.join(ROOT, name)
        os.makedirs(folder)
        done = [{"fun": fun, "args": args, **answer(fun, args, folder)} for fun, args in calls()]
        files = {}
        for file in sorted(os.listdir(folder)):
            if not file.endswith(".any"):
                with open(os.path.join(folder, file), "rb") as fp:
                    files[file] = base64.b64encode(fp.read()).decode()
        out["situations"].append({"name": name, "calls": done, "files": files})
    json.dump(out, sys.stdout, indent=1, ensure_ascii=False)
    sys.stdout.write("\n")
    shutil.rmtree(ROOT)


main()
