"""What Salt's module x509 says of names, extensions and documents that are odd or wrong.

    PYTHON make_x509_refusals.py > x509_refusals.json

PYTHON is one with Salt 3008.3. The keys and the certificate are those of x509.json, which stands beside this script. A certificate
that is made all the same is kept as what is read from it.
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
GIVEN = {"{key}": KEY, "{public}": PUBLIC, "{cert}": CERT, "{ec key}": KNOWN["keys"]["ec256"]["private"]}


# What is kept of a document.
SHOWN = ("version", "serial_number", "subject", "not_before", "not_after", "extensions", "revoked_certificates")


def answer(fun, args):
    """What a function returns or says."""
    try:
        value = MODS[f"x509.{fun}"](**json.loads(json.dumps(args)))
        return {"value": value.decode() if isinstance(value, bytes) else value}
    except (salt.exceptions.CommandExecutionError, salt.exceptions.SaltInvocationError) as err:
        return {"error": str(err)}
    except Exception:  # pylint: disable=broad-except
        return None  # a mistake of Salt's own: its text is Python's


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
    for case in out:
        case["args"] = {name: next((short for short, text in GIVEN.items() if text == value), value) for name, value in case["args"].items()}
    lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in out)
    sys.stdout.write(f"[\n{lines}\n]\n")


main()
