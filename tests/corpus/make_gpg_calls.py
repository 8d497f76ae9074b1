#!/usr/bin/env python3
"""Writes gpg_calls.json: results of the functions of Salt's execution module and state module `gpg`, call by call, in temporary home directories. Run
it as make_argspec.py, on a host with gpg; the keys are made anew each time."""
import json
import logging
import os
import pathlib
import shutil
import subprocess
import tempfile
import warnings

warnings.simplefilter("ignore")
import salt.config
import salt.loader

logging.disable(logging.CRITICAL)
os.environ["TZ"] = "UTC"

KEYS = {
    # name: (time of creation in seconds since 1970, lifetime)
    "alice": (1700000000, "0"),
    "bob": (1700100000, "0"),
    "late": (1600000000, "30d"),
}


def gpg(home, *words, **more):
    return subprocess.run(["gpg", "--homedir", home, "--batch", "--quiet", *words], check=True, capture_output=True, **more).stdout


def made_keys():
    home = tempfile.mkdtemp()
    keys = {}
    for name, (made, lives) in KEYS.items():
        words = f"Key-Type: RSA\nKey-Length: 1024\nSubkey-Type: RSA\nSubkey-Length: 1024\nName-Real: {name}\nName-Comment: of: the tests\n" \
            f"Name-Email: {name}@example.com\nExpire-Date: {lives}\n%no-protection\n%commit\n"
        gpg(home, "--faked-system-time", f"{made}!", "--gen-key", input=words.encode())
        listed = gpg(home, "--with-colons", "--list-keys", name).decode()
        fingerprint = next(line.split(":")[9] for line in listed.splitlines() if line.startswith("fpr"))
        keys[name] = {
            "fingerprint": fingerprint,
            "public": gpg(home, "--armor", "--export", name).decode(),
            "secret": gpg(home, "--armor", "--export-secret-keys", name).decode(),
        }
    keys["alice"]["signature"] = gpg(home, "--armor", "--local-user", "alice", "--detach-sign", input=b"a text\n").decode()
    keys["bob"]["signature"] = gpg(home, "--armor", "--local-user", "bob", "--detach-sign", input=b"a text\n").decode()
    keys["alice"]["clear"] = gpg(home, "--local-user", "alice", "--clearsign", input=b"a text\n").decode()
    subprocess.run(["gpgconf", "--homedir", home, "--kill", "all"], check=True)
    shutil.rmtree(home, ignore_errors=True)
    return keys


HOME = {"gnupghome": "{home}"}


def call(fun, save=None, **kwargs):
    """A call. A saved result is different in each run; later calls refer to it as `{save}`."""
    return {"fun": fun, "kwargs": {**kwargs, **HOME}, **({"save": save} if save else {})}


def have(*names, secret=False):
    return [call("gpg.import_key", text="{%s.%s}" % (name, "secret" if secret else "public")) for name in names]


A, B, L = "{alice.fingerprint}", "{bob.fingerprint}", "{late.fingerprint}"
a, b, l = "{alice.id}", "{bob.id}", "{late.id}"
SCENES = {
    "keys are imported, listed and deleted": [
        call("gpg.list_keys"),
        *have("alice", "late"),
        *have("alice"),
        call("gpg.import_key", text="nonsense"),
        call("gpg.import_key"),
        call("gpg.import_key", text="x", filename="y"),
        call("gpg.import_key", filename="{dir}/missing"),
        call("gpg.list_keys"),
        call("gpg.list_secret_keys"),
        call("gpg.get_key", keyid=a),
        call("gpg.get_key", keyid="{alice.short}"),
        call("gpg.get_key", fingerprint=L),
        call("gpg.get_key", keyid="ABCDABCDABCDABCD"),
        call("gpg.get_secret_key", keyid=a),
        call("gpg.delete_key"),
        call("gpg.delete_key", keyid=a, fingerprint=A),
        call("gpg.delete_key", keyid="ABCDABCDABCDABCD"),
        call("gpg.delete_key", keyid=a),
        call("gpg.list_keys"),
    ],
    "chosen keys of a file": [
        call("gpg.import_key", filename="{dir}/both", select=b),
        call("gpg.import_key", filename="{dir}/both", select=["carol@example.com"]),
        call("gpg.list_keys"),
        call("gpg.read_key", path="{dir}/both"),
        call("gpg.read_key", path="{dir}/both", keyid=a),
        call("gpg.read_key", text="{late.public}"),
        call("gpg.read_key", path="{dir}/missing"),
        call("gpg.read_key"),
        call("gpg.read_key", path="x", text="y"),
    ],
    "a keyring of its own": [
        call("gpg.import_key", text="{alice.public}", keyring="{dir}/ring"),
        call("gpg.list_keys"),
        call("gpg.list_keys", keyring="{dir}/ring"),
        call("gpg.list_keys", keyring=["{dir}/ring"]),
        call("gpg.export_key", keyids=a, keyring="{dir}/ring"),
        call("gpg.export_key", keyids=a, bare=True),
        call("gpg.export_key", keyids=[a], output="{dir}/out", keyring="{dir}/ring"),
        call("gpg.export_key", keyids=b),
    ],
    "secret keys": [
        *have("alice", secret=True),
        call("gpg.list_secret_keys"),
        call("gpg.get_secret_key", fingerprint=A),
        call("gpg.delete_key", keyid=a),
        call("gpg.delete_key", keyid=a, delete_secret=True),
        call("gpg.delete_key", keyid=a, delete_secret=True, use_passphrase=False),
        call("gpg.list_secret_keys"),
    ],
    "trust": [
        *have("alice"),
        call("gpg.trust_key", keyid=a, trust_level="marginally"),
        call("gpg.trust_key", fingerprint=A, trust_level="ultimately"),
        call("gpg.get_key", keyid=a),
        call("gpg.trust_key", keyid=a, trust_level="much"),
        call("gpg.trust_key", trust_level="fully"),
        call("gpg.trust_key", keyid=b, trust_level="fully"),
        call("gpg.verify", filename="{dir}/text", signature="{dir}/alice.asc"),
        call("gpg.trust_key", keyid=a, trust_level="not_trusted"),
        call("gpg.verify", filename="{dir}/text", signature="{dir}/alice.asc"),
    ],
    "signatures are verified": [
        *have("alice", "bob"),
        call("gpg.verify", text="{alice.clear}"),
        call("gpg.verify", text="no signature"),
        call("gpg.verify"),
        call("gpg.verify", filename="{dir}/missing"),
        call("gpg.verify", filename="{dir}/clear"),
        call("gpg.verify", filename="{dir}/text"),
        call("gpg.verify", filename="{dir}/text", signature="{dir}/alice.asc", trustmodel="always"),
        call("gpg.verify", filename="{dir}/text", signature="{dir}/alice.asc", trustmodel="mine"),
        call("gpg.verify", filename="{dir}/other", signature="{dir}/alice.asc"),
        call("gpg.verify", filename="{dir}/text", signature="{dir}/both.asc", signed_by_any=[B]),
        call("gpg.verify", filename="{dir}/text", signature="{dir}/both.asc", signed_by_all=[A, B]),
        call("gpg.verify", filename="{dir}/text", signature="{dir}/alice.asc", signed_by_all=[A, B]),
        call("gpg.verify", filename="{dir}/text", signature="{dir}/alice.asc", signed_by_any=B),
        call("gpg.verify", filename="{dir}/other", signature="{dir}/alice.asc", signed_by_any=A),
    ],
    "a signature without its key": [
        call("gpg.verify", filename="{dir}/text", signature="{dir}/alice.asc"),
        call("gpg.verify", filename="{dir}/text", signature="{dir}/alice.asc", signed_by_any=A),
    ],
    "signing and encrypting": [
        *have("alice", "bob", secret=True),
        call("gpg.sign", save="signed", text="hello\n", keyid=b),
        call("gpg.verify", text="{signed}", signed_by_all=B),
        call("gpg.sign", save="signed", filename="{dir}/text"),
        call("gpg.verify", text="{signed}"),
        call("gpg.sign"),
        call("gpg.sign", text="x", use_passphrase=True),
        call("gpg.encrypt", text="secret\n", recipients=a),
        call("gpg.encrypt", save="secret", text="secret\n", recipients=[a, b], always_trust=True, bare=True),
        call("gpg.decrypt", text="{secret}"),
        call("gpg.decrypt", text="{secret}", bare=True),
        call("gpg.encrypt", filename="{dir}/text", recipients=a, always_trust=True, sign=True, output="{dir}/sealed"),
        call("gpg.decrypt", filename="{dir}/sealed"),
        call("gpg.decrypt", filename="{dir}/sealed", output="{dir}/opened"),
        call("gpg.encrypt", text="x", recipients="carol@example.com", always_trust=True),
        call("gpg.encrypt", text="x", recipients="carol@example.com", bare=True),
        call("gpg.encrypt", text="x"),
        call("gpg.decrypt", text="nonsense"),
        call("gpg.decrypt", text="nonsense", bare=True),
        call("gpg.decrypt"),
    ],
    "a message for someone else": [
        call("gpg.decrypt", text="{sealed}"),
    ],
    "the state: keys are there": [
        call("state:gpg.present", name=a, skip_keyserver=True),
        call("state:gpg.present", name=a, text="{alice.public}", trust="blindly"),
        call("state:gpg.present", name=a, text="{alice.public}", test=True),
        call("state:gpg.present", name=a, text="{alice.public}", trust="fully", test=True),
        call("state:gpg.present", name=a, text="{alice.public}"),
        call("state:gpg.present", name=a, text="{alice.public}"),
        call("state:gpg.present", name=a, text="{alice.public}", trust="ultimately"),
        call("state:gpg.present", name=a, text="{alice.public}", trust="fully"),
        call("state:gpg.present", name="both", keys=[a, b], skip_keyserver=True, source=["{dir}/missing", "{dir}/both"]),
        call("state:gpg.present", name=b, text="{alice.public}"),
        call("state:gpg.present", name=l, skip_keyserver=True, source="{dir}/both"),
        call("state:gpg.present", name=l, text="{late.public}"),
        call("state:gpg.present", name=l, text="{late.public}", test=True),
        call("state:gpg.present", name=l, text="{late.public}"),
        call("state:gpg.present", name=l, skip_keyserver=True, source="{dir}/late"),
        call("gpg.list_keys"),
    ],
    "the state: keys are not there": [
        *have("alice", "bob"),
        call("state:gpg.absent", name=a, test=True),
        call("state:gpg.absent", name=a),
        call("state:gpg.absent", name=a),
        call("state:gpg.absent", name="both", keys=[a, b]),
        call("gpg.import_key", text="{bob.public}", keyring="{dir}/ring"),
        call("state:gpg.absent", name=b, keyring="{dir}/ring", keyring_absent_if_empty=True),
    ],
    "the state: a key with a secret one stays": [
        *have("bob", secret=True),
        call("state:gpg.absent", name=b),
    ],
}

keys = made_keys()
for key in keys.values():
    key["id"], key["short"] = key["fingerprint"][-16:], key["fingerprint"][-8:]
texts = {f"{name}.{part}": text for name, key in keys.items() for part, text in key.items()}
sealing = tempfile.mkdtemp()
gpg(sealing, "--import", input=keys["bob"]["public"].encode())
texts["sealed"] = gpg(sealing, "--armor", "--trust-model", "always", "-r", "bob", "--encrypt", input=b"x").decode()
shutil.rmtree(sealing, ignore_errors=True)
FILES = {
    "text": "a text\n", "other": "another text\n", "alice.asc": texts["alice.signature"], "clear": texts["alice.clear"],
    "both.asc": texts["alice.signature"] + texts["bob.signature"],
    "both": texts["alice.public"] + texts["bob.public"], "late": texts["late.public"],
}

work = pathlib.Path(tempfile.mkdtemp())
opts = salt.config.minion_config(None)
opts.update({"root_dir": str(work), "cachedir": str(work / "cache"), "extension_modules": f"{work}/ext", "file_client": "local", "id": "m1",
             "user": "root"})
opts["grains"] = salt.loader.grains(opts)


def filled(value, known):
    if isinstance(value, str):
        for name, text in known.items():
            value = value.replace("{%s}" % name, text)
        return value
    if isinstance(value, list):
        return [filled(one, known) for one in value]
    return value


def emptied(value, known):
    """The result as JSON, with placeholders for values that differ from run to run."""
    if isinstance(value, bytes):
        value = {"bytes": value.decode()}
    if isinstance(value, dict):
        return {key if isinstance(key, str) else str(key): emptied(one, known) for key, one in value.items()}
    if isinstance(value, list):
        return [emptied(one, known) for one in value]
    if isinstance(value, str):
        for name in ("home", "dir"):
            value = value.replace(known[name], "{%s}" % name)
    return value


scenes = []
for name, calls in SCENES.items():
    directory = pathlib.Path(tempfile.mkdtemp())
    home = directory / "home"
    for file, text in FILES.items():
        (directory / file).write_text(text)
    known = {**texts, "home": str(home), "dir": str(directory)}
    done = []
    for step in calls:
        kwargs = {key: filled(value, known) for key, value in step["kwargs"].items()}
        test = kwargs.pop("test", False)
        family, fun = ("state", step["fun"][6:]) if step["fun"].startswith("state:") else ("module", step["fun"])
        utils = salt.loader.utils({**opts, "test": test})
        modules = salt.loader.minion_mods({**opts, "test": test}, utils=utils)
        try:
            if family == "state":
                serializers = salt.loader.serializers(opts)
                value = salt.loader.states({**opts, "test": test}, modules, utils, serializers)[fun](**kwargs)
            else:
                value = modules[fun](**kwargs)
        except Exception as exc:
            value = f"ERROR: {exc}"
        if "save" in step:
            known[step["save"]] = value.decode() if isinstance(value, bytes) else value
            done.append(step)
        else:
            done.append({**step, "answer": emptied(value, known)})
    scenes.append({"scene": name, "calls": done})
    subprocess.run(["gpgconf", "--homedir", str(home), "--kill", "all"], check=False, capture_output=True)
    shutil.rmtree(directory, ignore_errors=True)
shutil.rmtree(work, ignore_errors=True)
here = pathlib.Path(__file__).parent
lines = ["{", f'"texts": {json.dumps(texts)},', f'"files": {json.dumps(FILES)},', '"scenes": [']
lines.append(",\n".join(
    json.dumps({"scene": s["scene"]})[:-1] + ', "calls": [\n' + ",\n".join(json.dumps(one) for one in s["calls"]) + "\n]}" for s in scenes
))
(here / "gpg_calls.json").write_text("\n".join(lines) + "\n]}\n")
