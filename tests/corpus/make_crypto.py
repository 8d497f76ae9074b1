"""Makes crypto.json: run it with the Python of a Salt 3008 installation, naming the file to write.

Needs the openssl command too. Keys and signatures are different in every run, but prove the same.
"""
import json, base64, os, subprocess, sys
import salt.crypt as C, salt.utils.crypt as U, salt.utils.jid as J
b = lambda x: base64.b64encode(x).decode()
out = {"about": "Made by make_crypto.py. Keys and vectors made with salt.crypt, salt.utils.crypt and salt.utils.jid of Salt 3008.3 (cryptography's and libcrypto's RSA); PEM texts by OpenSSL where Salt makes none. Bytes are base64."}
def key(bits, e=65537):
    priv, pub = C.gen_keys(bits, e=e)
    return priv, pub
keys = {}
for name, bits, e in [("rsa2048", 2048, 65537), ("other2048", 2048, 65537), ("rsa1024", 1024, 65537), ("rsa2048e3", 2048, 3), ("rsa4096", 4096, 65537)]:
    priv, pub = key(bits, e)
    keys[name] = {"bits": bits, "private": priv, "public": pub}
def ossl(args, inp=None): return subprocess.run(["openssl", *args], input=inp, capture_output=True, check=True).stdout
while True: # a modulus below 6b.. in 256 bytes cannot sign with X9.31
    odd = ossl(["genrsa", "-traditional", "2047"]).decode()
    modulus = ossl(["rsa", "-noout", "-modulus"], odd.encode()).decode().strip().split("=")[1]
    if modulus >= "6D": break
keys["rsa2047"] = {"bits": 2047, "private": odd, "public": ossl(["rsa", "-pubout"], odd.encode()).decode()}
out["keys"] = keys
out["otherForms"] = {
  "pkcs8Private": ossl(["pkcs8", "-topk8", "-nocrypt"], keys["rsa2048"]["private"].encode()).decode(),
  "pkcs1Public": ossl(["rsa", "-RSAPublicKey_out"], keys["rsa2048"]["private"].encode()).decode(),
}
ec = ossl(["genpkey", "-algorithm", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"])
small = ossl(["genrsa", "-traditional", "512"])
out["unsignable"] = ossl(["genrsa", "-traditional", "2045"]).decode()
try: C.PrivateKey.from_str(out["unsignable"]).encrypt(b"salt")
except ValueError: pass
else: raise AssertionError("Salt signs with it")
out["refused"] = {
  "ecPrivate": ec.decode(), "ecPublic": ossl(["pkey", "-pubout"], ec).decode(),
  "encryptedPrivate": ossl(["rsa", "-traditional", "-aes128", "-passout", "pass:x"], keys["rsa1024"]["private"].encode()).decode(),
  "rsa512Private": small.decode(), "rsa512Public": ossl(["rsa", "-pubout"], small).decode(),
  "rsa8192Public": ossl(["rsa", "-pubout"], ossl(["genrsa", "-traditional", "8192"])).decode(),
}
aes = C.Crypticle.generate_key_string()
import hashlib
digest = hashlib.sha256(aes.encode()).hexdigest().encode()
x = []
for name in keys:
    pk = C.PrivateKey.from_str(keys[name]["private"]); pb = C.PublicKey.from_str(keys[name]["public"])
    k = (keys[name]["bits"] + 7) // 8
    texts = [b"salt", digest, b"", b"\x00", b"\xff" * 20] + ([os.urandom(i) for i in range(8)] if name == "rsa2048" else []) + [b"x" * (k - 2), b"\xba\xcc" * ((k - 4) // 2)]
    if name == "rsa4096": texts = texts[:2]
    for t in texts:
        s = pk.encrypt(t)
        try: back = pb.decrypt(s)
        except ValueError: continue
        assert back == t, (name, t, back)
        x.append({"key": name, "data": b(t), "signature": b(s)})
out["x931"] = x
sg, oa = [], []
for name in keys:
    pk = C.PrivateKey.from_str(keys[name]["private"]); pb = C.PublicKey.from_str(keys[name]["public"])
    for t in [b"", b"salt", os.urandom(300)]:
        for a in C.VALID_SIGNING_ALGORITHMS: sg.append({"key": name, "algorithm": a, "data": b(t), "signature": b(pk.sign(t, a))})
    for t in [b"", b"x", aes.encode() if name != "rsa1024" else b"y" * 50]:
        for a in C.VALID_ENCRYPTION_ALGORITHMS: oa.append({"key": name, "algorithm": a, "data": b(t), "ciphertext": b(pb.encrypt(t, a))})
out["pkcs1v15"] = sg; out["oaep"] = oa
cr = C.Crypticle({}, aes)
nonce = "0123456789abcdef0123456789abcdef"
import salt.payload
msgs = []
for v in [None, True, 5, "", "pong", {"cmd": "_return", "id": "m1", "retcode": 0, "return": ["ü", {"a": 1.5}], "x": b"\xff\x00"}, "z" * 1000]:
    for n in (None, nonce):
        msgs.append({"nonce": n, "packed": b(salt.payload.dumps(v)), "message": b(cr.dumps(v, nonce=n) if n else cr.dumps(v))})
raw = [{"data": b(t), "message": b(cr.encrypt(t))} for t in [b"", b"a", b"b" * 15, b"c" * 16, b"d" * 17, os.urandom(500), b"no prefix"]]
out["crypticle"] = {"key": aes, "nonce": nonce, "messages": msgs, "raw": raw}
fp = []
import tempfile
for name in ("rsa2048", "rsa1024"):
    for form in ("private", "public"):
        for h in ("md5", "sha1", "sha224", "sha256", "sha384", "sha512"):
            with tempfile.NamedTemporaryFile("w") as f:
                f.write(keys[name][form]); f.flush()
                fp.append({"key": name, "form": form, "hashType": h, "fingerprint": U.pem_finger(path=f.name, sum_type=h)})
out["fingerprints"] = fp
jids = ["20140523101112123456", "20251231235959000001_4242", "20250101000000000000"]
out["jids"] = [{"jid": j, "startTime": J.jid_to_time(j), "directories": {h: J.jid_dir(j, hash_type=h) for h in ("md5", "sha1", "sha256", "sha512")}} for j in jids]
open(sys.argv[1], "w").write(json.dumps(out, indent=1, ensure_ascii=False) + "\n")
