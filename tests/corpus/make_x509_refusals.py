"""Writes the results of Salt's module x509 for unusual or invalid names, extensions and documents.

    PYTHON make_x509_refusals.py > x509_refusals.json

PYTHON is a Python with Salt 3008.3. The keys and the certificate are those of x509.json beside this script. If a certificate is made, its read fields
are recorded.
"""

import datetime
import json
import os
import sys
import tempfile

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import dsa
from cryptography.x509.name import _ASN1Type
import salt.config
import salt.loader

ROOT = tempfile.mkdtemp(prefix="x509_")
OPTS = salt.config.minion_config(None)
OPTS.update({"id": "web1", "root_dir": ROOT, "cachedir": ROOT, "file_client": "local", "grains": {}, "pillar": {}})
MODS = salt.loader.minion_mods(OPTS, context={})
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "x509.json"), encoding="utf8") as file:
    KNOWN = json.load(file)
KEY, CERT, PUBLIC = KNOWN["keys"]["rsa2048"]["private"], KNOWN["certificates"][0]["made"]["value"], KNOWN["keys"]["ec256"]["public"]
BASE = {"serial_number": "0A:0B", "not_before": "2026-01-01 00:00:00", "not_after": "2036-01-01 00:00:00", "CN": "x"}

CERTIFICATES = [
    *({"subject": one} for one in ["", "nonsense", "CN", "CN=", "=x", "CN=a,", "CN=a,,O=b", "CN=#0c0161", "CN=#zz", "CN=a\\", "1.2.3=a", "CN=a+", "FOO=a", "CN=\"a\"", 5, ["CN=a,O=b"], ["nonsense"], [5], {"CN": 5}, {"FOO": "a"}]),
    *({"subjectAltName": one} for one in [
        "nonsense", "dns", "foo:x", "dns:", "dns:.", "dns:a..b", "dns:*.*.x", "dns:a.*.b", "dns:*.", "dns:*..x", "dns:.*.x", "dns:-a.b", "dns:a_b.c", "dns:a b", "dns:" + "a" * 64 + ".b", "dns:müller.de", "dns:ß.de", "dns:a.",
        "email:x", "email:@x", "email:a@", "email:a@b@c", "email:ä@b.c", "email:A <a@b.c>", "email:a@müller.de", "uri:", "uri:nonsense", "uri:http://müller.de/ä", "uri:http://", "uri:http://a b", "uri:mailto:a@b",
        "ip:x", "ip:1.2.3", "ip:1.2.3.4/24", "ip:1.2.3.4/99", "ip:::1/64", "rid:x", "rid:1", "rid:3.1.2", "rid:1.2.x", "dirname:x", "dirname:CN=a", "othername:x", ["dns:a", 5], {"dns": "a"}, {"dns": ["a", "b"]}, [{"dns": 5}], 5, [],
    ]),
    *({"basicConstraints": one} for one in ["x", "CA:x", "CA:TRUE, pathlen:x", "CA:FALSE, pathlen:1", {"ca": "x"}, {"ca": True, "pathlen": -1}, {"ca": True, "pathlen": "2"}, {"critical": True}]),
    *({"keyUsage": one} for one in ["nonsense", "encipherOnly", "critical", [], ["digitalSignature", 5], {"digitalSignature": True}, 5]),
    *({"extendedKeyUsage": one} for one in ["nonsense", "1.2.3", "1.2.x", "critical", 5, ["serverAuth", "x"]]),
    *({"subjectKeyIdentifier": one} for one in ["critical, hash", "0A0B", "0A:0B", "xyz", 5, ""]),
    *({"authorityKeyIdentifier": one} for one in ["critical, keyid", "keyid", "issuer", "issuer:always", "keyid:always, issuer:always", "nonsense", 5, {"keyid": True}, {"issuer": "always"}]),
    *({"issuerAltName": one} for one in ["dns:a", "nonsense"]),
    *({"authorityInfoAccess": one} for one in ["OCSP;URI:http://a", "caIssuers;URI:http://a", "1.2.3;URI:http://a", "nonsense", "foo;URI:http://a", "OCSP;foo:x", {"OCSP": "uri:http://a"}, [{"OCSP": "uri:http://a"}, {"caIssuers": "uri:http://b"}], 5]),
    *({"crlDistributionPoints": one} for one in [
        "URI:http://a", "nonsense", {"fullname": "URI:http://a", "relativename": "CN=a"}, [{"relativename": "CN=a"}], [{"relativename": "CN=a,O=b"}], [{"relativename": 5}], [{}], [5], [{"fullname": "URI:http://a", "reasons": ["unspecified"]}],
        [{"fullname": "URI:http://a", "reasons": ["removeFromCRL"]}], [{"fullname": "URI:http://a", "reasons": ["foo"]}], [{"fullname": "URI:http://a", "reasons": ["keyCompromise", "cACompromise"]}], [{"crlissuer": "dirname:CN=a"}], 5, [],
    ]),
    *({"certificatePolicies": one} for one in ["1.2.3", "1.2.3, 1.2.4", "x", "critical, 1.2.3", {"1.2.3": []}, {"1.2.3": ["http://a"]}, {"1.2.3": [{"organization": "o", "noticenumbers": [1, 2], "text": "t"}]}, {"1.2.3": [{"text": "t"}]}, {"1.2.3": [5]}, {"x": []}, 5]),
    *({"policyConstraints": one} for one in ["requireExplicitPolicy:3", "inhibitPolicyMapping:1", "x", "requireExplicitPolicy:-1", "requireExplicitPolicy:x", {"requireExplicitPolicy": 1, "critical": True}, {}, {"critical": True}, 5]),
    *({"inhibitAnyPolicy": one} for one in [2, "2", "critical, 2", "x", -1, {"value": 3}, {"critical": True}, {"critical": True, "value": 3}]),
    *({"nameConstraints": one} for one in [
        "critical, permitted;IP:192.168.0.0/255.255.0.0", "permitted;dns:.a.b, excluded;email:x.y", "permitted;dns:a.b", "nonsense", "permitted;ip:1.2.3.4", {"permitted": ["dns:.a"]}, {"excluded": ["uri:a.b"]}, {"permitted": "dns:a"}, {}, {"permitted": []}, 5,
    ]),
    *({"noCheck": one} for one in [True, False, "critical", "x"]),
    *({"tlsfeature": one} for one in ["status_request", "status_request_v2", ["status_request", "x"], "x", 5, []]),
    {"nsComment": "x"}, {"nonsense": "x"},
    *({key: value} for key, value in [("serial_number", 5), ("serial_number", "zz"), ("serial_number", -1), ("not_before", "x"), ("not_after", "2026-02-30 00:00:00"), ("not_after", "2026-01-01"), ("not_after", "2000-01-01 00:00:00"), ("days_valid", "x"), ("digest", "x"), ("encoding", "x"), ("version", 5), ("version", 1)]),
    *({key: "nonsense"} for key in ["signing_private_key", "signing_cert", "public_key", "csr"]),
]
REQUESTS = [
    {"subjectAltName": "dns:a"}, {"subject": "nonsense"}, {"basicConstraints": "x"}, {"digest": "x"}, {"encoding": "x"}, {"private_key": "nonsense"}, {"authorityKeyIdentifier": "keyid"}, {"issuerAltName": "issuer:copy"}, {"subjectKeyIdentifier": "hash"},
]
LISTS = [
    *({"revoked": [{"serial_number": "01", "revocation_date": "2026-02-03 04:05:06", **one}]} for one in [
        {"extensions": {"CRLReason": "foo"}}, {"extensions": {"CRLReason": 5}}, {"extensions": {"invalidityDate": "x"}}, {"extensions": {"invalidityDate": 5}}, {"extensions": {"foo": 1}}, {"extensions": {"certificateIssuer": "dirname:CN=a"}}, {"extensions": {"certificateIssuer": "x"}}, {"revocation_date": "x"}, {"serial_number": "zz"}, {"reason": "foo"}, {"not_after": "x"},
    ]),
    {"revoked": [{}]}, {"revoked": ["x"]}, {"revoked": [{"certificate": "nonsense"}]},
    *({"revoked": [], "extensions": one} for one in [
        {"cRLNumber": "x"}, {"cRLNumber": -1}, {"cRLNumber": "critical, 5"}, {"deltaCRLIndicator": "1, 2"}, {"deltaCRLIndicator": "x"}, {"authorityKeyIdentifier": "nonsense"}, {"freshestCRL": "x"}, {"foo": 1},
        {"issuingDistributionPoint": "x"}, {"issuingDistributionPoint": {}}, {"issuingDistributionPoint": {"onlyuser": True, "onlyCA": True}}, {"issuingDistributionPoint": {"fullname": "x"}}, {"issuingDistributionPoint": {"fullname": "URI:http://a", "relativename": "CN=a"}}, {"issuingDistributionPoint": {"onlysomereasons": ["foo"]}}, {"issuingDistributionPoint": {"onlysomereasons": ["unspecified"]}},
    ]),
    {"revoked": [], "digest": "x"}, {"revoked": [], "encoding": "x"}, {"revoked": [], "signing_cert": "nonsense"}, {"revoked": [], "signing_private_key": KNOWN["keys"]["ec256"]["private"]},
]
READS = [(fun, {name: text}) for fun, name in [("read_certificate", "certificate"), ("read_csr", "csr"), ("read_crl", "crl"), ("get_public_key", "key"), ("get_private_key_size", "private_key"), ("encode_certificate", "certificate")]
    for text in ["nonsense", "", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "-----BEGIN PKCS7-----\nAAAA\n-----END PKCS7-----\n", "-----BEGIN FOO-----\nAAAA\n-----END FOO-----\n", "MAA=", "AAAA", "3000", KEY, PUBLIC, CERT]]
EC_KEY = KNOWN["keys"]["ec256"]["private"]
PLAIN = next(one["made"]["value"] for one in KNOWN["certificates"] if one["name"] == "plain")
GIVEN = {"{key}": KEY, "{public}": PUBLIC, "{cert}": CERT, "{ec key}": EC_KEY, "{plain cert}": PLAIN}
# Of these the text counts, whatever the class of the error.
NO_SIGNER = {"signing_cert": None}
BY_PLAIN = {"signing_cert": PLAIN, "signing_private_key": EC_KEY}
WITH_SERIAL = {"serial_number": "01", "revocation_date": "2026-02-03 04:05:06"}
FAILURES = [
    *(("create_certificate", one) for one in [
        {"not_after": "2000-01-01 00:00:00"}, {"serial_number": -1}, {"serial_number": 0}, {"serial_number": "FF" * 20}, {"subjectKeyIdentifier": ["hash"]},
        {"issuerAltName": "issuer:copy", **NO_SIGNER}, {"issuerAltName": "issuer:copy", **BY_PLAIN},
        {"authorityKeyIdentifier": {"issuer": "always"}, **NO_SIGNER}, {"authorityKeyIdentifier": "keyid:always, issuer", **NO_SIGNER},
        {"crlDistributionPoints": [{"fullname": "URI:http://a", "relativename": "CN=a"}]},
        *({"subjectAltName": one} for one in ["email:a@.b", "email:a@*.b", "dns:\u3002", "dns:ab--c.d", "dns:é%.de", "dns:éA.de", "dns:a\u3002b", "dirname:"]),
    ]),
    ("create_crl", {"revoked": [], **NO_SIGNER}),
    ("create_crl", {"revoked": [], "extensions": {"authorityKeyIdentifier": "keyid"}, **NO_SIGNER}),
    ("create_crl", {"revoked": [{**WITH_SERIAL, "extensions": {"certificateIssuer": "issuer:copy"}}]}),
    ("read_certificate", {"certificate": "-----BEGIN CERTIFICATE-----\nA\n-----END CERTIFICATE-----\n"}),
]


def issued(name, key=None, *extensions):
    """A certificate of these that the RSA key has signed."""
    signer = serialization.load_pem_private_key(KEY.encode(), None)
    day = datetime.datetime(2026, 1, 1)
    builder = x509.CertificateBuilder(name, name, key or signer.public_key(), 5, day, day.replace(year=2036))
    for extension in extensions:
        builder = builder.add_extension(extension, False)
    return builder.sign(signer, hashes.SHA256())


def pem(certificate):
    return certificate.public_bytes(serialization.Encoding.PEM).decode()


def documents():
    """Certificates with what other programs write."""
    kinds = [("BMPString", "Ünï 1"), ("UniversalString", "Ünï 2"), ("T61String", "plain"), ("PrintableString", "p"), ("IA5String", "i@b.c"), ("VisibleString", "v")]
    yield from (pem(issued(x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text, _ASN1Type[kind])]))) for kind, text in kinds)
    plain = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "x")])
    unique = x509.Name([x509.NameAttribute(x509.NameOID.X500_UNIQUE_IDENTIFIER, b"\x00\x01\xff", _ASN1Type.BitString)])
    yield pem(issued(unique))
    other = x509.OtherName(x509.ObjectIdentifier("1.3.6.1.4.1.311.20.2.3"), b"\x0c\x05a@b.c")
    yield pem(issued(plain, None, x509.SubjectAlternativeName([other, x509.DNSName("a.b")])))
    yield pem(issued(plain, dsa.generate_private_key(2048).public_key()))


# The recorded fields of a document.
SHOWN = ("version", "serial_number", "subject", "not_before", "not_after", "extensions", "revoked_certificates")


def answer(fun, args, always=False):
    """The result of a function, or its error."""
    try:
        value = MODS[f"x509.{fun}"](**json.loads(json.dumps(args)))
        return {"value": value.decode() if isinstance(value, bytes) else value}
    except (salt.exceptions.CommandExecutionError, salt.exceptions.SaltInvocationError) as err:
        return {"error": str(err)}
    except Exception as err:  # pylint: disable=broad-except
        return {"error": str(err)} if always else None  # an error caused by a fault of Salt: its text is Python's


def main():
    """Prints all cases; those that Salt itself fails at are left out."""
    signing = {"signing_private_key": KEY, "signing_cert": CERT}
    out = []
    for fun, defaults, kind, cases in [
        ("create_certificate", {**BASE, **signing, "public_key": PUBLIC}, "certificate", CERTIFICATES),
        ("create_csr", {"private_key": KEY, "CN": "x"}, "csr", REQUESTS),
        ("create_crl", {**signing, "days_valid": 36500}, "crl", LISTS),
    ]:
        for case in cases:
            made = answer(fun, {**defaults, **case})
            if made is None:
                continue
            if "error" in made:
                shown = made
            else:
                document = answer(f"read_{kind}", {kind: made["value"]})["value"]
                shown = {"read": {name: document[name] for name in SHOWN if name in document}}
            out.append({"fun": fun, "args": case, **shown})
    for fun, case in READS:
        made = answer(fun, case)
        if made is not None and "error" in made:
            out.append({"fun": fun, "args": case, **made})
    defaults = {
        "create_certificate": ({**BASE, **signing, "public_key": PUBLIC}, "certificate"),
        "create_crl": ({**signing, "days_valid": 36500}, "crl"),
        "read_certificate": ({}, None),
    }
    for fun, case in FAILURES:
        given, kind = defaults[fun]
        made = answer(fun, {**given, **case}, always=True)
        if "value" in made:
            document = answer(f"read_{kind}", {kind: made["value"]})["value"]
            made = {"read": {name: document[name] for name in SHOWN if name in document}}
        out.append({"fun": fun, "args": case, **made})
    for document in documents():
        read = answer("read_certificate", {"certificate": document}, always=True)
        shown = {"read": {name: read["value"][name] for name in SHOWN if name in read["value"]}} if "value" in read else read
        out.append({"fun": "read_certificate", "args": {"certificate": document}, **shown})
    for case in out:
        case["args"] = {name: next((short for short, text in GIVEN.items() if text == value), value) for name, value in case["args"].items()}
    lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in out)
    sys.stdout.write(f"[\n{lines}\n]\n")


main()
