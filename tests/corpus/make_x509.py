"""Writes the results of Salt's module x509: keys, certificates, signing requests and revocation lists.

    PYTHON make_x509.py > x509.json

PYTHON is a Python with Salt 3008.3. With RSA and Ed25519, everything except the revocation lists (which contain the time) is deterministic, since
serial numbers and times are given.
"""

import json
import os
import sys
import tempfile

import salt.config
import salt.loader

ROOT = tempfile.mkdtemp(prefix="x509_")
OPTS = salt.config.minion_config(None)
OPTS.update({"id": "web1", "root_dir": ROOT, "cachedir": ROOT, "file_client": "local", "grains": {}, "pillar": {}})
MODS = salt.loader.minion_mods(OPTS, context={})

BASE = {"serial_number": "0A:0B:0C:0D", "not_before": "2026-01-01 00:00:00", "not_after": "2036-01-01 00:00:00"}
CA = {
    "basicConstraints": "critical, CA:TRUE, pathlen:1",
    "keyUsage": "critical, cRLSign, keyCertSign",
    "subjectKeyIdentifier": "hash",
    "authorityKeyIdentifier": "keyid:always",
    "subjectAltName": ["dns:ca.example.org", "email:ca@example.org"],
    "C": "DE",
    "ST": "Hessen",
    "L": "Kassel",
    "STREET": "Weg 1",
    "O": "Example, \"Ltd\"",
    "OU": "#Ops",
    "CN": " Müller+CA ",
    "MAIL": "ca@example.org",
    "SN": "Sur",
    "GN": "Given",
    "UID": "u1",
    "SERIALNUMBER": "12 34",
}
LEAVES = {
    "plain": {"CN": "www.example.org"},
    "subject text": {"subject": "CN=a\\,b+OU=x,O=Ex\\C3\\A4mple,C=US"},
    "subject list": {"subject": ["C=US", "O=Example", "CN=list"]},
    "subject map": {"subject": {"CN": "map", "C": "US"}},
    "no name": {},
    "long life": {"CN": "far", "not_after": "2055-01-01 00:00:00"},
    "names": {
        "CN": "names",
        "subjectAltName": [
            "dns:*.example.org",
            "dns:.example.com",
            "email:me@example.org",
            "uri:https://www.example.org/a?b=c#d",
            "ip:192.0.2.1",
            "ip:2001:db8::1",
            "rid:1.2.3.4",
            {"dirname": "CN=dir,C=US"},
            "critical",
        ],
    },
    "names text": {"CN": "n", "subjectAltName": "critical, DNS:a.example.org, IP:10.0.0.0/8"},
    "usages": {
        "CN": "usages",
        "keyUsage": ["critical", "digitalSignature", "nonRepudiation", "keyAgreement", "decipherOnly"],
        "extendedKeyUsage": ["serverAuth", "clientAuth", "codeSigning", "ipsecIKE", "msCodeInd", "1.2.3.4.5"],
    },
    "usages text": {"CN": "u", "extendedKeyUsage": "critical, serverAuth, OCSPSigning", "keyUsage": "keyEncipherment"},
    "issuer": {
        "CN": "issuer",
        "authorityKeyIdentifier": "keyid, issuer:always",
        "issuerAltName": "dns:ca.example.org, URI:http://ca.example.org",
        "subjectKeyIdentifier": "AB:CD:EF",
        "basicConstraints": {"ca": False},
    },
    "access": {
        "CN": "access",
        "authorityInfoAccess": "OCSP;URI:http://ocsp.example.org/,caIssuers;URI:http://example.org/ca.crt",
        "crlDistributionPoints": [
            {"fullname": ["URI:http://example.org/my.crl"], "reasons": ["keyCompromise", "aACompromise"]},
            {"relativename": "CN=rel", "crlissuer": "dirName:CN=crl"},
            "URI:http://example.org/2.crl",
        ],
    },
    "access map": {"CN": "a", "authorityInfoAccess": {"caRepository": "URI:http://r.example.org/", "1.2.3": "dns:x"}},
    "policies": {
        "CN": "policies",
        "certificatePolicies": {
            "critical": True,
            "1.2.4.5": ["https://example.org/cps", {"organization": "Org", "noticeNumbers": [1, 128], "text": "Nöte"}],
            "1.2.4.6": [],
        },
        "policyConstraints": "requireExplicitPolicy:3,inhibitPolicyMapping:1",
        "inhibitAnyPolicy": 2,
        "noCheck": True,
        "tlsfeature": "status_request, status_request_v2",
    },
    "policies text": {"CN": "p", "certificatePolicies": "critical, 1.2.4.5, 1.1.3.4", "inhibitAnyPolicy": "critical, 4"},
    "constraints": {
        "CN": "constraints",
        "nameConstraints": {
            "critical": True,
            "permitted": ["ip:192.168.0.0/16", "email:.example.org", "dns:example.org"],
            "excluded": ["ip:2001:db8::/32"],
        },
    },
    "constraints text": {"CN": "c", "nameConstraints": "critical, permitted;dns:a.b, excluded;dns:c.a.b"},
    "sha512": {"CN": "d", "digest": "sha512"},
    "sha3": {"CN": "d", "digest": "sha3_256"},
    "refused: usage": {"CN": "x", "keyUsage": "encipherOnly"},
    "refused: pathlen": {"CN": "x", "basicConstraints": {"ca": False, "pathlen": 1}},
    "refused: no ca": {"CN": "x", "basicConstraints": {"critical": True}},
    "refused: oid": {"CN": "x", "extendedKeyUsage": "nonsense"},
    "refused: country": {"C": "DEU"},
    "refused: name kind": {"CN": "x", "subjectAltName": "nonsense:x"},
    "refused: address": {"CN": "x", "subjectAltName": "ip:300.1.1.1"},
    "refused: comment": {"CN": "x", "nsComment": "x"},
    "refused: subject": {"subject": "nonsense"},
    "refused: digest": {"CN": "x", "digest": "md5"},
    "refused: serial": {"CN": "x", "serial_number": "nonsense"},
    "refused: identifier": {"CN": "x", "subjectKeyIdentifier": "nonsense"},
}
REVOKED = {
    "empty": {"revoked": []},
    "entries": {
        "revoked": [
            {"serial_number": "01:02", "revocation_date": "2026-02-03 04:05:06"},
            {
                "serial_number": "0C",
                "revocation_date": "2026-02-03 04:05:06",
                "extensions": {"CRLReason": "keyCompromise", "invalidityDate": "critical 2026-01-01 00:00:00"},
            },
            {"serial_number": "0D", "revocation_date": "2026-02-03 04:05:06", "reason": "superseded"},
            {"serial_number": "0E", "not_after": "2001-01-01 00:00:00"},
        ],
        "extensions": {
            "cRLNumber": 300,
            "deltaCRLIndicator": "critical, 7",
            "authorityKeyIdentifier": "keyid",
            "freshestCRL": [{"fullname": "URI:http://example.org/fresh.crl"}],
            "issuingDistributionPoint": {
                "critical": True,
                "fullname": "URI:http://example.org/my.crl",
                "onlysomereasons": ["keyCompromise"],
                "onlyuser": True,
            },
        },
    },
}


def answer(fun, **kwargs):
    """The result of a function, or its error."""
    try:
        value = MODS[fun](**kwargs)
        return {"value": value.decode() if isinstance(value, bytes) else value}
    except Exception as err:  # pylint: disable=broad-except
        return {"error": str(err)}


def main():
    """Prints all cases."""
    out = {"keys": {}, "certificates": [], "requests": [], "lists": []}
    for kind, size in (("rsa", 2048), ("ec", 256), ("ec", 384), ("ec", 521), ("ed25519", None), ("ed448", None)):
        name = f"{kind}{size or ''}"
        key = MODS["x509.create_private_key"](algo=kind, keysize=size)
        encrypted = MODS["x509.encode_private_key"](key, passphrase="secret")
        public = MODS["x509.get_public_key"](key)
        out["keys"][name] = {
            "private": key,
            "encrypted": encrypted,
            "der": MODS["x509.encode_private_key"](key, encoding="der"),
            "public": public,
            "size": MODS["x509.get_private_key_size"](key),
        }
    rsa = out["keys"]["rsa2048"]
    for signer, key in out["keys"].items():
        args = {**BASE, **CA, "signing_private_key": key["private"]}
        made = answer("x509.create_certificate", **args)
        case = {"name": f"CA of {signer}", "args": args, "made": made}
        case["read"] = answer("x509.read_certificate", certificate=made["value"])
        for encoding in ("der", "pkcs7_der", "pkcs7_pem"):
            case[encoding] = answer("x509.encode_certificate", certificate=made["value"], encoding=encoding)
        out["certificates"].append(case)
    ca_rsa = out["certificates"][0]["made"]["value"]
    for name, leaf in LEAVES.items():
        args = {
            **BASE,
            **leaf,
            "signing_private_key": rsa["private"],
            "signing_cert": ca_rsa,
            "public_key": out["keys"]["ec256"]["public"],
        }
        made = answer("x509.create_certificate", **args)
        case = {"name": name, "args": args, "made": made}
        if "value" in made:
            case["read"] = answer("x509.read_certificate", certificate=made["value"])
        out["certificates"].append(case)
        if "refused" in name and "value" in made:
            sys.stderr.write(f"{name} was not refused\n")
    for name, leaf in LEAVES.items():
        if name in ("issuer", "access", "access map", "long life", "refused: serial"):
            continue
        args = {**leaf, "private_key": rsa["private"]}
        made = answer("x509.create_csr", **args)
        case = {"name": name, "args": args, "made": made}
        if "value" in made:
            case["read"] = answer("x509.read_csr", csr=made["value"])
            made_of = {**BASE, "CN": "of", "csr": made["value"], "signing_private_key": rsa["private"], "signing_cert": ca_rsa}
            case["certificate"] = {"args": made_of, "made": answer("x509.create_certificate", **made_of)}
        out["requests"].append(case)
    for name, given in REVOKED.items():
        args = {**given, "signing_private_key": rsa["private"], "signing_cert": ca_rsa, "days_valid": 36500}
        recorded = json.loads(json.dumps(args))
        made = answer("x509.create_crl", **args)
        out["lists"].append(
            {
                "name": name,
                "args": recorded,
                "made": made,
                "read": answer("x509.read_crl", crl=made["value"]),
                "verified": answer("x509.verify_crl", crl=made["value"], cert=ca_rsa),
            }
        )
    json.dump(out, sys.stdout, indent=1, ensure_ascii=False)
    sys.stdout.write("\n")
    os.rmdir(ROOT) if not os.listdir(ROOT) else None


main()
