"""What python-gnupg, which Salt has, reads in gpg's status lines, among them those that no gpg at hand prints.

    PYTHON make_gpg_status.py > gpg_status.json

PYTHON is one with Salt 3008.3.
"""

import json
import sys

import gnupg

from salt.modules.gpg import VERIFY_TRUST_LEVELS


class Program:
    """What the readers of status lines ask the program's object for."""

    encoding = "utf-8"
    error_map = None


SIGNED = ["SIG_ID abc 2026-01-01 1767225600", "GOODSIG 1234567890ABCDEF Alice (x) <a@b.c>", "VALIDSIG AAAA 2026-01-01 1767225600 0 4 0 1 8 00 BBBB"]
SIGNATURES = [
    [],
    SIGNED,
    [*SIGNED, "TRUST_ULTIMATE 0 pgp"],
    *([*SIGNED, f"TRUST_{level} 0 pgp"] for level in ("EXPIRED", "UNDEFINED", "NEVER", "MARGINAL", "FULLY")),
    [SIGNED[0], "EXPKEYSIG 1234567890ABCDEF Alice", SIGNED[2]],
    [SIGNED[0], "REVKEYSIG 1234567890ABCDEF Alice B", SIGNED[2], "TRUST_NEVER"],
    ["NEWSIG", "EXPKEYSIG 1234 Alice"],
    ["NEWSIG", "REVKEYSIG 1234 Alice"],
    ["NEWSIG", "BADSIG 1234 Alice <a@b.c>"],
    ["NEWSIG", "EXPSIG 1234 Alice"],
    ["NEWSIG", "ERRSIG 1234 1 8 00 1767225600 9 CCCC", "NO_PUBKEY 1234"],
    [*SIGNED, "TRUST_FULLY", "NEWSIG", "ERRSIG 1234 1 8 00 1767225600 9 CCCC"],
    [*SIGNED, "NEWSIG", "BADSIG 1234 Bob", "TRUST_FULLY"],
    [*SIGNED, "ERRSIG 1234 1 8 00 1767225600 9 CCCC"],
    ["UNEXPECTED 0"],
    ["NODATA 4"],
    ["NO_SECKEY 1234"],
    *([f"FAILURE {what}"] for what in ("decrypt 11", "gpg-exit 33554433", "sign 83886179", "open 32769", "open 16810017", "open 32803", "open 32849", "open 32865", "verify 99", "sign later", "sign x 11")),
    ["NODATA 3", "FAILURE verify 9"],
    ["PLAINTEXT 62 0 x", "KEY_CONSIDERED AAAA 0", "FOO bar"],
]
MESSAGES = [
    [],
    ["NODATA 1"],
    ["BEGIN_ENCRYPTION 2 9"],
    ["BEGIN_ENCRYPTION 2 9", "END_ENCRYPTION"],
    ["ENC_TO 1234 1 0", "BEGIN_DECRYPTION", "DECRYPTION_OKAY", "END_DECRYPTION"],
    ["BEGIN_DECRYPTION"],
    ["BEGIN_DECRYPTION", "DECRYPTION_FAILED", "NODATA 1"],
    ["NO_SECKEY 1234", "BEGIN_DECRYPTION", "DECRYPTION_FAILED", "END_DECRYPTION"],
    ["INV_RECP 0 x"],
    ["KEYEXPIRED 1767225600", "INV_RECP 0 x"],
    ["FAILURE encrypt 53"],
    ["SIGEXPIRED"],
    ["SIG_CREATED D 1 8 00 1767225600 AAAA"],
    *([one] for one in ("NEED_PASSPHRASE 1 2 1 0", "BAD_PASSPHRASE 1", "GOOD_PASSPHRASE", "MISSING_PASSPHRASE", "KEY_NOT_CREATED", "NEED_PASSPHRASE_PIN x", "NEED_PASSPHRASE_SYM 9 3 2")),
    [*SIGNED, "TRUST_FULLY 0 pgp", "DECRYPTION_OKAY"],
    ["UNEXPECTED 0"],
]
IMPORTS = [
    [],
    ["IMPORT_OK 1 AAAA", "IMPORT_RES 1 0 1 0 0 0 0 0 0 0 0 0 0 0 0"],
    ["IMPORT_OK 0 AAAA", "IMPORT_OK 17 BBBB", "IMPORT_RES 2 0 1 1 1 0 0 0 0 1 1 0 0 0"],
    *([f"IMPORT_PROBLEM {reason} AAAA", "IMPORT_RES 1 0 0 0 0 0 0 0 0 0 0 0 0 1"] for reason in range(5)),
    ["IMPORT_PROBLEM 3"],
    ["NODATA 1"],
    ["KEYEXPIRED 1"],
    ["SIGEXPIRED"],
    ["FAILURE recv-keys 167772346"],
]
DELETIONS = [[], *([f"DELETE_PROBLEM {n}"] for n in (1, 2, 3, 4))]


def read(reader, lines):
    """The reader after these lines."""
    for line in lines:
        key, _, value = line.partition(" ")
        reader.handle_status(key, value)
    return reader


def trust(level):
    return None if level is None else VERIFY_TRUST_LEVELS[str(level)]


def signature(lines):
    """What Salt takes of a verification."""
    found = read(gnupg.Verify(Program()), lines)
    return {
        "username": found.username,
        "keyId": found.key_id,
        "trustLevel": trust(found.trust_level),
        "status": found.status,
        "signatures": [
            {
                "username": one.get("username"),
                "keyid": one.get("keyid", ""),
                "fingerprint": one.get("pubkey_fingerprint"),
                "trustLevel": trust(one.get("trust_level")),
                "status": one.get("status", ""),
            }
            for one in found.sig_info.values()
        ],
    }


def message(lines):
    found = read(gnupg.Crypt(Program()), lines)
    return {"ok": found.ok, "status": found.status}


def keys(lines):
    found = read(gnupg.ImportResult(Program()), lines)
    return {
        "keys": [{"fingerprint": one["fingerprint"], **({"ok": one["ok"]} if "ok" in one else {"problem": one["text"]})} for one in found.results],
        "fingerprints": found.fingerprints,
        "count": int(found.count or 0),
        "imported": int(found.imported or 0) + int(found.imported_rsa or 0),
        "unchanged": int(found.unchanged or 0),
        "notImported": int(found.not_imported or 0),
    }


def deletion(lines):
    found = read(gnupg.DeleteResult(Program()), lines)
    return None if found.status == "ok" else found.status


KINDS = {"verification": (signature, SIGNATURES), "crypted": (message, MESSAGES), "imported": (keys, IMPORTS), "deletion": (deletion, DELETIONS)}
OUT = [{"kind": kind, "lines": lines, "read": reader(lines)} for kind, (reader, cases) in KINDS.items() for lines in cases]
ROWS = ",\n".join(json.dumps(row) for row in OUT)
sys.stdout.write(f"[\n{ROWS}\n]\n")
