"""Digests."""

import base64
import hashlib
import hmac
import os

from salt.utils.stringutils import to_bytes, to_str


def base64_b64encode(instr):
    return to_str(base64.b64encode(to_bytes(instr)))


def base64_b64decode(instr):
    decoded = base64.b64decode(to_bytes(instr))
    try:
        return decoded.decode("utf-8")
    except UnicodeDecodeError:
        return decoded


def base64_encodestring(instr):
    return to_str(base64.encodebytes(to_bytes(instr)))


base64_decodestring = base64_b64decode


def md5_digest(instr):
    return hashlib.md5(to_bytes(instr)).hexdigest()


def sha1_digest(instr):
    return hashlib.sha1(to_bytes(instr)).hexdigest()


def sha256_digest(instr):
    return hashlib.sha256(to_bytes(instr)).hexdigest()


def sha512_digest(instr):
    return hashlib.sha512(to_bytes(instr)).hexdigest()


def hmac_signature(string, shared_secret, challenge_hmac):
    made = hmac.new(to_bytes(shared_secret), to_bytes(string), hashlib.sha256).digest()
    return base64.b64encode(made) == to_bytes(challenge_hmac)


def hmac_compute(string, shared_secret):
    return hmac.new(to_bytes(shared_secret), to_bytes(string), hashlib.sha256).hexdigest()


def random_hash(size=9999999999, hash_type=None):
    return hashlib.new(hash_type or "md5", os.urandom(32)).hexdigest()


def get_hash(path, form="sha256", chunk_size=65536):
    digest = hashlib.new(form)
    with open(path, "rb") as file:
        for block in iter(lambda: file.read(chunk_size), b""):
            digest.update(block)
    return digest.hexdigest()


class DigestCollector:
    """A digest of parts."""

    def __init__(self, form="sha256", chunk_size=65536):
        self._digest = hashlib.new(form)
        self._size = chunk_size

    def add(self, path):
        with open(path, "rb") as file:
            for block in iter(lambda: file.read(self._size), b""):
                self._digest.update(block)

    def digest(self):
        return self._digest.hexdigest()
