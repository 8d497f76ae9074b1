"""Signatures by the minion's key, with the program `openssl`. The rest of Salt's module has no stand-in."""

import subprocess
import tempfile

import salt.exceptions

PKCS1v15_SHA1 = "PKCS1v15-SHA1"
PKCS1v15_SHA224 = "PKCS1v15-SHA224"
_DIGESTS = {PKCS1v15_SHA1: "-sha1", PKCS1v15_SHA224: "-sha224"}


def _run(words, data):
    try:
        done = subprocess.run(["openssl"] + words, input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    except FileNotFoundError:
        raise salt.exceptions.CommandNotFoundError("The 'openssl' binary was not found in $PATH.") from None
    return done


def _bytes(message):
    return message.encode() if isinstance(message, str) else message


def _digest(algorithm):
    if algorithm not in _DIGESTS:
        raise salt.exceptions.UnsupportedAlgorithm("Invalid signing algorithm: %s" % algorithm)
    return _DIGESTS[algorithm]


def sign_message(privkey_path, message, passphrase=None, algorithm=PKCS1v15_SHA1):
    """The signature of a message by a private key."""
    words = ["dgst", _digest(algorithm), "-sign", privkey_path]
    if passphrase:
        raise salt.exceptions.UnsupportedAlgorithm("salt.crypt.sign_message: a key with a passphrase is not supported")
    done = _run(words, _bytes(message))
    if done.returncode != 0:
        raise salt.exceptions.InvalidKeyError(done.stderr.decode("utf-8", "replace").strip())
    return done.stdout


def verify_signature(pubkey_path, message, signature, algorithm=PKCS1v15_SHA1):
    """Whether a public key's owner has signed the message."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(signature)
        file.flush()
        done = _run(["dgst", _digest(algorithm), "-verify", pubkey_path, "-signature", file.name], _bytes(message))
    return done.returncode == 0


def __getattr__(name):
    raise AttributeError("salt.crypt.%s is not part of the bridge" % name)
