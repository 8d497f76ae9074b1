#!/usr/bin/env python3
"""Writes asymmetric.json: keys of each type, and the signatures that Salt's `asymmetric.sign` makes with them. Run it as make_argspec.py; the keys
are made anew each time."""
import json
import logging
import pathlib
import warnings

warnings.simplefilter("ignore")
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, NoEncryption, PrivateFormat
from salt.modules import asymmetric
from salt.utils import x509

logging.disable(logging.CRITICAL)
KINDS = {
    "rsa": x509.generate_rsa_privkey, "ec256": x509.generate_ec_privkey, "ec384": lambda: x509.generate_ec_privkey(384),
    "ec521": lambda: x509.generate_ec_privkey(521), "ed25519": x509.generate_ed25519_privkey, "ed448": x509.generate_ed448_privkey,
}
TEXT = "I like you, für immer\n"
entries = []
for kind, make in KINDS.items():
    key = make()
    private = lambda cipher: key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, cipher).decode()
    entry = {
        "kind": kind, "public": x509.to_pem(key.public_key()).decode(), "private": private(NoEncryption()),
        "encrypted": private(BestAvailableEncryption(b"hunter2")), "der": x509.to_der(key.public_key()).hex(), "signatures": {},
    }
    for digest in ["sha256", "sha384", "sha512", "sha3_512"]:
        entry["signatures"][digest] = asymmetric.sign(key, text=TEXT, digest=digest)
    entries.append(entry)
lines = ",\n".join(json.dumps(entry) for entry in entries)
path = pathlib.Path(__file__).parent / "asymmetric.json"
path.write_text('{"text": %s, "passphrase": "hunter2", "keys": [\n%s\n]}\n' % (json.dumps(TEXT), lines))
