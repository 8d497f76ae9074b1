"""Passwords."""

import re
import secrets
import string

HAS_RANDOM = True
methods = {"sha512": "6", "sha256": "5", "blowfish": "2b", "md5": "1", "crypt": ""}


def secure_password(length=20, use_random=True, chars=None, lowercase=True, uppercase=True, digits=True,
                    punctuation=True, whitespace=False, printable=False):
    letters = chars or "".join((
        string.ascii_lowercase if lowercase else "",
        string.ascii_uppercase if uppercase else "",
        string.digits if digits else "",
        string.punctuation if punctuation else "",
        string.whitespace if whitespace else "",
        string.printable if printable else "",
    ))
    return "".join(secrets.choice(letters) for _ in range(int(length)))


def gen_hash(crypt_salt=None, password=None, algorithm=None):
    """The hash of a password, as shadow files have it; by the minion."""
    import salt_bridge

    if password is None:
        password = secure_password()
    given = {"algorithm": algorithm or "sha512"}
    if crypt_salt is not None:
        given["crypt_salt"] = re.sub(r"[^a-zA-Z0-9./]", "", str(crypt_salt))
    return salt_bridge.JOB.dunder("__salt__")["shadow.gen_password"](password, **given)
