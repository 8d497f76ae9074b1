"""Writes wheel.json: results of Salt 3008.3's wheel modules for keys and file roots made here, the event tags that its expressions match, and the
output of state.event. See README.md. Run with the Python of an environment that has Salt."""
import contextlib
import io
import json
import logging
import os
import pathlib
import shutil
import sys
import tempfile

import salt.config
import salt.loader
import salt.modules.state
import salt.utils.event
import salt.utils.stringutils

logging.disable(logging.CRITICAL)
HERE = pathlib.Path(__file__).parent
root = pathlib.Path(tempfile.mkdtemp())

with open(HERE / "crypto.json") as fp:
    CRYPTO = json.load(fp)


def a_pem(obj):
    """A public key of the corpus, so that the result is not random."""
    for value in obj.values() if isinstance(obj, dict) else obj if isinstance(obj, list) else []:
        if isinstance(value, str) and value.startswith("-----BEGIN PUBLIC KEY-----"):
            return value
        found = a_pem(value)
        if found:
            return found
    return None


PEM = a_pem(CRYPTO).strip()
KEYS = {"minions": ["web1", "Web2", "db1"], "minions_pre": ["new1", "new2"], "minions_rejected": ["bad1"], "minions_denied": ["web1"]}
FILES = {"base": {"top.sls": "base: {}\n", "web/init.sls": "ä €\n", "web/logo.png": "\0\1binary", "empty": ""}, "dev": {"top.sls": "dev: {}\n"}}


def fresh():
    """A pki directory and file roots; the tests make the same."""
    shutil.rmtree(root)
    for state, ids in KEYS.items():
        (root / "pki" / state).mkdir(parents=True)
        for id_ in ids:
            (root / "pki" / state / id_).write_text(PEM)
    (root / "pki/master.pub").write_text(PEM + "\n")
    for env, files in FILES.items():
        for name, text in files.items():
            path = root / env / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    (root / "outside").write_text("secret")
    (root / "base/link").symlink_to(root / "outside")
    (root / "etc").mkdir()
    (root / "cache").mkdir()
    (root / "etc/master").write_text(
        f"pki_dir: {root}/pki\ncachedir: {root}/cache\nsock_dir: {root}/sock\nid: host_master\n"
        f"file_roots:\n  base: [{root}/base, {root}/none]\n  dev: [{root}/dev]\n"
        f"pillar_roots:\n  base: [{root}/dev]\nrotate_aes_key: false\n")
    opts = salt.config.master_config(str(root / "etc/master"))
    return salt.loader.wheels(opts)


CALLS = [
    ("key.list", ["accepted"], {}), ("key.list", ["pre"], {}), ("key.list", ["un"], {}), ("key.list", ["rej"], {}), ("key.list", ["den"], {}), ("key.list", ["nonsense"], {}),
    ("key.glob_match", ["web*"], {}), ("key.glob_match", ["*"], {}), ("key.glob_match", ["new1,bad1"], {}), ("key.glob_match", [["new1", "db?"]], {}), ("key.glob_match", ["nobody"], {}),
    ("key.accept", ["new*"], {}), ("key.accept", ["*"], {"include_rejected": True}), ("key.accept", ["bad1"], {}), ("key.accept_dict", [{"minions_pre": ["new1"]}], {}), ("key.accept_dict", [{"minions_rejected": ["bad1"]}], {}),
    ("key.accept_dict", [{"minions_rejected": ["bad1"]}], {"include_rejected": True}),
    ("key.reject", ["new1"], {}), ("key.reject", ["*"], {}), ("key.reject", ["db1"], {"include_accepted": True}), ("key.reject_dict", [{"minions_pre": ["new2"]}], {}),
    ("key.delete", ["new*"], {}), ("key.delete", ["web1"], {}), ("key.delete", ["nobody"], {}), ("key.delete_dict", [{"minions": ["db1"], "minions_pre": ["new1"]}], {}),
    # Left out: delete_dict of a key listed under another state, which Salt 3008.3 deletes, although its documentation says that it is skipped.
    ("key.print", ["web*"], {}), ("key.print", ["nobody"], {}),
    ("file_roots.find", ["top.sls"], {}), ("file_roots.find", ["web/logo.png"], {}), ("file_roots.find", ["top.sls"], {"saltenv": "dev"}), ("file_roots.find", ["top.sls"], {"saltenv": "nope"}), ("file_roots.find", ["web"], {}),
    ("file_roots.find", ["../outside"], {}), ("file_roots.find", ["link"], {}), ("file_roots.find", ["web/../top.sls"], {}), ("file_roots.find", ["{root}/outside"], {}), ("file_roots.find", ["empty"], {}),
    ("file_roots.read", ["web/init.sls"], {}), ("file_roots.read", ["web/logo.png"], {}), ("file_roots.read", ["../outside"], {}), ("file_roots.read", ["top.sls", "dev"], {}),
    ("file_roots.list_env", [], {}), ("file_roots.list_env", ["dev"], {}), ("file_roots.list_env", ["nope"], {}), ("file_roots.list_roots", [], {}),
    ("file_roots.write", ["x: 1\n", "new/deep/file.sls"], {}), ("file_roots.write", ["x", "../outside"], {}), ("file_roots.write", ["x", "link"], {}), ("file_roots.write", ["x", "/etc/passwd"], {}),
    ("file_roots.write", ["x", "a", "nope"], {}), ("file_roots.write", ["x", "a", "base", 7], {}), ("file_roots.write", ["x", "a", "base", 1], {}),
    ("pillar_roots.find", ["top.sls"], {}), ("pillar_roots.read", ["top.sls"], {}), ("pillar_roots.list_env", [], {}), ("pillar_roots.list_roots", [], {}), ("pillar_roots.write", ["x", "a/b"], {}),
    ("error.error", [], {}),
]


def plain(value):
    """Removes paths of this machine, and sorts maps whose order depends on the file system."""
    if isinstance(value, str):
        return value.replace(str(root), "{root}")
    if isinstance(value, dict):
        return {plain(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return value


def rooted(value):
    return value.replace("{root}", str(root)) if isinstance(value, str) else value


def wheel_rows():
    for fun, args, kwargs in CALLS:
        modules = fresh()
        with contextlib.redirect_stderr(io.StringIO()):
            result = modules[fun](*[rooted(arg) for arg in args], **kwargs)
        yield [fun, args, kwargs, plain(result)]


TAGS = ["salt/job/20240102030405000001/ret/web1", "salt/job/20240102030405000001/new", "salt/job", "salt/jobs", "salt/minion/web1/start", "salt/auth", "minion_start", "a.b", "axb", "a+b", "aab", ""]
EXPRESSIONS = ["*", "salt/job/*", "salt/job/*/ret/*", "salt/job/*/ret/web[12]", "salt/minion/*/start", "salt/auth", "salt/job/[0-9]+/new", "salt/(auth|job)", "salt/auth|minion_start", "a.b", "a+b", "a?b", "sal?", ".*start", "[!s]*", "salt/jobs?", "salt/job/{0,1}.*", "(", "\\d*", "salt/auth$", "^salt/auth", ""]


def expression_rows():
    for expression in EXPRESSIONS:
        yield [expression, [tag for tag in TAGS if salt.utils.stringutils.expr_match(tag, expression)]]


EVENTS = [
    ["salt/auth", {"result": True, "act": "accept", "id": "web1", "pub": "-----BEGIN\nx"}],
    ["a/b", {"z": 1, "a": [1, 2.5, None, {"k": "ä €"}], "_stamp": "2024-01-02T03:04:05.000006+00:00"}],
    ["empty", {}],
    ["nested", {"list": [], "map": {}, "deep": {"b": {"y": 1, "x": [True, False]}, "a": "tab\there \"quoted\" back\\slash"}}],
]


class Bus:
    """Replaces the event bus: returns the events of one row."""
    def __init__(self, events):
        self.events = list(events)

    def __enter__(self):
        return self

    def __exit__(self, *args):
        pass

    def get_event(self, **kwargs):
        tag, data = self.events.pop(0)
        return {"tag": tag, "data": data}


def event_rows():
    salt.modules.state.__opts__ = {"sock_dir": str(root)}
    for tag, data in EVENTS:
        for pretty in (False, True):
            salt.utils.event.get_event = lambda *a, **k: Bus([[tag, data]])
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                salt.modules.state.event(count=1, pretty=pretty)
            yield [tag, data, pretty, out.getvalue()]


def lines(rows):
    return ",\n".join("  " + json.dumps(row, ensure_ascii=False) for row in rows)


text = "{\n" + ",\n".join(
    f" {json.dumps(name)}: [\n{lines(rows)}\n ]"
    for name, rows in (("wheel", wheel_rows()), ("expressions", expression_rows()), ("events", event_rows()))
) + f',\n "files": {json.dumps(FILES, ensure_ascii=False)},\n "keys": {json.dumps(KEYS)},\n "pem": {json.dumps(PEM)}\n}}\n'
(HERE / "wheel.json").write_text(text)
shutil.rmtree(root)
sys.exit(0)
