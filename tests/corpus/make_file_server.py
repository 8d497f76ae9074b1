"""Writes file_server.json and file_server_options.json (with the argument `options` only the latter): trees, options of
a master, loads of minions one after the other, and the answers of Salt's file server. See README.md."""

import gzip
import json
import logging
import os
import pathlib
import subprocess
import sys
import tempfile
import types

import salt.config
import salt.exceptions
import salt.fileserver
import salt.fileserver.gitfs
import salt.loader
import salt.master
import salt.payload
import salt.utils.gitfs

from file_server_option_cases import OPTION_WORLDS, REFUSED, REMOTE
from typed import typed

logging.disable(logging.CRITICAL)
HERE = pathlib.Path(__file__).parent
TIME = 1_700_000_000

# A file's content, a list for a link, None for a directory.
SALT = {
    "top.sls": "base:\n  '*':\n    - web\n", "f.txt": "hello\n", "sub/deep/x.txt": "deep\n", "empty": None, "sub/none": None, "big.bin": "0123456789" * 300,
    "link": ["f.txt"], "dlink": ["sub"], "sub/up": ["../f.txt"], "out": ["{root}/outside/o.txt"], "outdir": ["{root}/outside"], "broken": ["nowhere"],
    "q?x.txt": "question\n", "a b/ü.txt": "unicode\n", ".hidden": "h\n", "x.bak": "old\n", ".git/config": "git\n", "sub/.git/config": "git\n", "elink": ["empty"],
    "|pipe": "pipe\n", "a..b/f": "dots\n", "zero": "",
}
SECOND = {"f.txt": "second\n", "only2.txt": "2\n", "sub/two.txt": "2\n", "empty": None}
DEV = {"d.txt": "dev\n", "f.txt": "dev's\n"}
SHARED = {"qa/s.txt": "qa\n", "prod/s.txt": "prod\n", "secret.txt": "no environment\n"}
OUTSIDE = {"o.txt": "outside\n"}
PUSHED = {
    "m1/files/etc/fstab": "fs\n", "m1/files/top.sls": "base\n", "m1/files/a/b.txt": "b\n", "m2/files/x.bak": "x\n", "m2/files/y": "y\n",
    "m3/data.p": "no files", "m1/files/l": ["{root}/outside/o.txt"],
}
TREES = {"salt": SALT, "salt2": SECOND, "dev": DEV, "shared": SHARED, "outside": OUTSIDE, "cache/minions": PUSHED}

# A repository, as `git fast-import` takes it. Branches may be named like paths.
GIT_FILES = {
    "f.txt": "git\n", "sub/deep/x.txt": "deep\n", "salt/top.sls": "base: {}\n", "salt/web/init.sls": "web\n", "link": ["f.txt"], "sub/up": ["../f.txt"], "out": ["/etc/passwd"],
    "up": ["../../../etc/passwd"], "dlink": ["sub"], "loop": ["loop"], "bin/run": "#!/bin/sh\n", "a b/ü.txt": "unicode\n", "salt/l": ["../f.txt"], "q?x.txt": "q\n",
}
GIT_DEV = {"f.txt": "dev's\n", "d.txt": "dev\n"}
GIT_PASSWD = {"p.txt": "a branch named like a path\n"}
BRANCHES = [("refs/heads/master", GIT_FILES), ("refs/heads/dev", GIT_DEV), ("refs/heads/etc/passwd", GIT_PASSWD), ("refs/heads/feature/x", {"x.txt": "x\n"}), ("refs/tags/v1", {"v.txt": "1\n"})]


def import_stream():
    parts = []
    for ref, tree in BRANCHES:
        parts.append(f"commit {ref}\ncommitter T <t@example.com> {TIME} +0000\ndata 2\nm\n")
        for path, content in tree.items():
            text = content[0] if isinstance(content, list) else content
            mode = "120000" if isinstance(content, list) else "100755" if path.startswith("bin/") else "100644"
            parts.append(f'M {mode} inline "{path}"\ndata {len(text.encode())}\n{text}\n')
    return "".join(parts)


GIT_PATHS = [
    "f.txt", "sub/deep/x.txt", "link", "sub/up", "out", "up", "dlink", "dlink/deep/x.txt", "loop", "bin/run", "a b/ü.txt", "|q?x.txt", "sub", "nope", "../f.txt", "/f.txt", "d.txt?saltenv=dev",
    "d.txt", "p.txt", "x.txt", "v.txt", "salt/l", "l", "top.sls", "web/init.sls", "mnt/f.txt", "mnt/top.sls", "g/d.txt",
]
GIT_ENVS = ["base", "dev", "etc/passwd", "feature/x", "v1", "nope", "master", "prod", "refs/heads/dev", "origin/dev", "HEAD", ""]


def git_loads(envs=("base",), whole=False):
    yield {"cmd": "_file_envs"}
    for env in envs:
        yield from asked(GIT_PATHS, env) if whole and env == "base" else ({"cmd": "_file_find", "path": path, "saltenv": env} for path in GIT_PATHS)
        yield from listed([env])


def git_world(name, remotes, envs=("base", "dev"), **opts):
    return {"name": f"gitfs, {name}", "opts": {"fileserver_backend": ["gitfs"], "gitfs_remotes": remotes, **opts}, "loads": [*git_loads(envs)]}


PATHS = [
    "f.txt", "sub/deep/x.txt", "sub//deep/./x.txt", "./f.txt", "f.txt/", "link", "dlink/deep/x.txt", "sub/up", "out", "outdir/o.txt", "broken", "sub", "empty", "nope",
    "", "..", "../outside/o.txt", "sub/../../outside/o.txt", "sub/../f.txt", "sub/..", "/etc/hostname", "//etc/hostname", "{root}/salt/f.txt", "q?x.txt", "|q?x.txt", "||f.txt", "|pipe",
    "d.txt?saltenv=dev", "f.txt?saltenv=dev", "f.txt?saltenv=nope", "f.txt?env=dev", "f.txt?x", "f.txt?index=0", "f.txt?index=1", "f.txt?index=2", "f.txt?index=-1", "f.txt?index=x",
    "f.txt?index=0&saltenv=dev", "f.txt?", "a b/ü.txt", ".hidden", "x.bak", ".git/config", "a..b/f", "a../f.txt", "only2.txt", "zero", "s.txt", "secret.txt",
]
# Not "-roots": with it Salt permanently removes the backend from its options.
LISTS = ["_file_list", "_dir_list", "_file_list_emptydirs", "_symlink_list"]
METHODS = {
    "_file_envs": "file_envs", "_file_find": "_find_file", "_file_hash": "file_hash", "_file_hash_and_stat": "file_hash_and_stat", "_file_list": "file_list",
    "_file_list_emptydirs": "file_list_emptydirs", "_dir_list": "dir_list", "_symlink_list": "symlink_list", "_serve_file": "serve_file",
}


def asked(paths, env="base"):
    for path in paths:
        yield {"cmd": "_file_find", "path": path, "saltenv": env}
        yield {"cmd": "_file_hash", "path": path, "saltenv": env}
        yield {"cmd": "_serve_file", "path": path, "saltenv": env, "loc": 0}


def listed(envs):
    for cmd in LISTS:
        for env in envs:
            yield {"cmd": cmd, "saltenv": env}


def pieces():
    at = {"cmd": "_serve_file", "path": "big.bin", "saltenv": "base"}
    for loc in [0, 1024, 2048, 2999, 3000, 3001, 10**6, 2**40, 2**63, -1, -(2**70), 2**70, True, False, None, "0", 1.5, [], {}]:
        yield {**at, "loc": loc}
    for level in [1, 5, 9, 0, None, False, True, -1, 10, 99, "5", [1]]:
        yield {**at, "loc": 0, "gzip": level}
    yield {**at, "loc": 3000, "gzip": 5}
    yield at
    yield {"cmd": "_serve_file", "loc": 0, "saltenv": "base"}
    yield {"cmd": "_serve_file", "loc": 0, "path": "f.txt"}
    yield {"cmd": "_serve_file", "loc": 0, "path": "f.txt", "env": "base"}
    yield {"cmd": "_serve_file", "loc": 0, "path": "zero", "saltenv": "base", "gzip": 5}


def odd():
    for cmd in METHODS:
        yield {"cmd": cmd}
        yield {"cmd": cmd, "path": "f.txt"}
        yield {"cmd": cmd, "path": "f.txt", "env": "base"}
        for path in [5, ["f.txt"], {}, True]:
            yield {"cmd": cmd, "path": path, "saltenv": "base", "loc": 0}
        for env in [5, True, ["base"], {}, "..", "../dev", "/", "", "base/", "./base", "__env__"]:
            yield {"cmd": cmd, "path": "f.txt", "saltenv": env, "loc": 0}
    for cmd in LISTS:
        for prefix in ["sub", "/sub/", "s", "f.txt", "nope", "..", "/", "sub/deep"]:
            yield {"cmd": cmd, "saltenv": "base", "prefix": prefix}
        for back in ["roots", "nope", "roots,nope", ["roots"], [], ["nope"], 5]:
            yield {"cmd": cmd, "saltenv": "dev", "fsbackend": back}
    for back in ["roots", "minionfs", "roots,minionfs", "", "nope"]:
        yield {"cmd": "_file_envs", "back": back}
        yield {"cmd": "_file_envs", "back": back, "sources": True}
    for path in ["f.txt", "nope", ""]:
        yield {"cmd": "_file_hash_and_stat", "path": path, "saltenv": "base"}


ROOTS = {"base": ["{root}/salt", "{root}/salt2", "{root}/missing"], "dev": ["{root}/dev"]}
WORLDS = [
    {"name": "roots", "opts": {}, "loads": [*asked(PATHS), *asked(["d.txt", "f.txt?saltenv=base"], "dev"), *listed(["base", "dev", "nope", ""]), *pieces(), *odd()]},
    {"name": "links are not followed", "opts": {"fileserver_followsymlinks": False}, "loads": [*asked(PATHS), *listed(["base"])]},
    {"name": "links are left out", "opts": {"fileserver_ignoresymlinks": True}, "loads": [*asked(["link", "dlink/deep/x.txt"]), *listed(["base"])]},
    {"name": "neither", "opts": {"fileserver_ignoresymlinks": True, "fileserver_followsymlinks": False}, "loads": [*listed(["base"])]},
    {"name": "ignored", "opts": {"file_ignore_regex": [r"/\.git($|/)", "(", r"^sub/deep"], "file_ignore_glob": ["*.bak", "*/deep*", "empty"]}, "loads": [*asked(PATHS), *listed(["base"])]},
    {
        "name": "any environment", "opts": {"file_roots": {"base": ["{root}/salt2"], "__env__": ["{root}/shared/__env__", "{root}/dev"]}},
        "loads": [{"cmd": "_file_envs"}, *asked(["s.txt", "d.txt"], "qa"), *asked(["s.txt", "f.txt"], "prod"), *asked(["s.txt", "f.txt"], "base"), *listed(["qa", "prod", "base", "other"])],
    },
    {
        "name": "minionfs", "opts": {"fileserver_backend": ["roots", "minionfs"], "file_recv": True},
        "loads": [{"cmd": "_file_envs", "sources": True}, *asked(["m1/etc/fstab", "m1/top.sls", "m1/a/b.txt", "m2/y", "m3/data.p", "m1", "m1/../m2/y", "nope/x", "f.txt"]), *listed(["base", "dev"])],
    },
    {
        "name": "minionfs elsewhere",
        "opts": {
            "fileserver_backend": ["minion"], "file_recv": True, "minionfs_mountpoint": "salt://pushed", "minionfs_env": "up", "minionfs_whitelist": ["m*"], "minionfs_blacklist": ["m2"],
            "file_ignore_glob": ["*.bak"],
        },
        "loads": [{"cmd": "_file_envs"}, *asked(["pushed/m1/etc/fstab", "m1/etc/fstab", "pushed/m2/y", "pushed/m1/top.sls"], "up"), *asked(["pushed/m1/etc/fstab"]), *listed(["up", "base"])],
    },
    {"name": "minionfs without file_recv", "opts": {"fileserver_backend": ["minionfs", "roots"]}, "loads": [{"cmd": "_file_envs"}, *asked(["m1/etc/fstab"])]},
]

WORLDS += [
    {"name": "gitfs, branches and tags", "opts": {"fileserver_backend": ["gitfs"], "gitfs_remotes": [REMOTE]}, "loads": [*git_loads(GIT_ENVS, whole=True)]},
    git_world("a directory of it", [{REMOTE: [{"root": "salt"}]}]),
    git_world("a mount point", [{REMOTE: [{"mountpoint": "salt://mnt"}]}]),
    git_world("a directory at a mount point", [REMOTE], gitfs_root="salt/", gitfs_mountpoint="salt://mnt/"),
    git_world("another base", [{REMOTE: [{"base": "dev"}]}], ("base", "dev", "master")),
    git_world("a tag as base", [REMOTE], ("base", "v1"), gitfs_base="v1"),
    git_world("white and black list", [REMOTE], ("base", "dev", "v1"), gitfs_saltenv_whitelist=["base", "v*"], gitfs_saltenv_blacklist=["v1"]),
    git_world("branches alone", [REMOTE], ("base", "v1"), gitfs_ref_types=["branch"]),
    git_world("tags alone", [REMOTE], ("base", "dev", "v1"), gitfs_ref_types=["tag"]),
    git_world("mapped environments", [{REMOTE: [{"saltenv": [{"prod": [{"ref": "dev"}, {"mountpoint": "salt://g"}]}]}]}], ("base", "dev", "prod")),
    git_world("mapped environments alone", [REMOTE], ("base", "dev", "prod"), gitfs_disable_saltenv_mapping=True, gitfs_saltenv=[{"prod": [{"ref": "dev"}]}]),
    git_world("all environments from one branch", [{REMOTE: [{"all_saltenvs": "dev"}]}], ("base", "v1")),
    git_world("two remotes", [{REMOTE: [{"root": "salt"}, {"name": "one"}]}, {REMOTE: [{"base": "dev"}, {"name": "two"}]}]),
    {"name": "gitfs behind roots", "opts": {"fileserver_backend": ["roots", "git"], "gitfs_remotes": [REMOTE]}, "loads": [*git_loads(["dev"])]},
]

RECEIVED = [
    {"path": ["etc", "hosts"], "loc": 0, "data": b"one", "size": 6}, {"path": ["etc", "hosts"], "loc": 3, "data": b"two", "size": 6}, {"path": ["etc", "hosts"], "loc": 0, "data": b"x", "size": 1},
    {"path": ["..", "x"], "loc": 0, "data": b"x"}, {"path": ["a/../../x"], "loc": 0, "data": b"x"}, {"path": ["/etc/x"], "loc": 0, "data": b"x"}, {"path": ["", "etc", "x"], "loc": 0, "data": b"x"},
    {"path": "etc/x", "loc": 0, "data": b"x"}, {"path": ["n"], "data": b"x"}, {"loc": 0, "data": b"x"}, {"path": ["n"], "loc": -1, "data": b"x"}, {"path": ["n"], "loc": "0", "data": b"x"},
    {"path": ["n"], "loc": 0}, {"path": [5], "loc": 0, "data": b"x"}, {"path": ["large"], "loc": 0, "data": b"x" * (2 * 1024 * 1024 + 1)}, {"path": ["large"], "loc": 2 * 1024 * 1024, "data": b"x"},
    {"path": ["a", "./b"], "loc": 0, "data": b"x", "size": 1}, {"path": ["no", "size"], "loc": 0, "data": b"x"}, {"path": ["../"], "loc": 0, "data": b"x"}, {"path": [".."], "loc": 0, "data": b"x"},
]
RUNS = [
    ("envs", [], {}), ("envs", ["roots"], {}), ("envs", [], {"sources": True}), ("envs", ["nope"], {}), ("file_list", [], {}), ("file_list", ["dev"], {}),
    ("dir_list", [], {}), ("empty_dir_list", [], {}), ("symlink_list", [], {}), ("symlink_list", ["dev"], {}), ("clear_file_list_cache", ["dev"], {}), ("clear_file_list_cache", [], {}),
    ("clear_file_list_cache", [], {}), ("update", [], {}), ("update", [], {"backend": "roots"}), ("clear_cache", [], {}), ("clear_lock", [], {}), ("lock", [], {}),
]


def make_tree(top, tree, root, at_first):
    # Each file has its own time: Salt identifies digests only by the path in the environment and the time, and confuses two files with the same ones.
    for number, (path, content) in enumerate(tree.items()):
        at = pathlib.Path(top, path)
        at.parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            at.mkdir(exist_ok=True)
        elif isinstance(content, list):
            at.symlink_to(content[0].replace("{root}", root))
        else:
            at.write_text(content)
            os.chmod(at, 0o640)
            os.utime(at, (TIME, at_first + number))


def placed(value, old, new):
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, (list, tuple)):
        return [placed(x, old, new) for x in value]
    if isinstance(value, dict):
        return {placed(k, old, new): placed(v, old, new) for k, v in value.items()}
    return value


def shown(reply, root):
    """The answer as a minion reads it, without values that depend on the host."""
    if isinstance(reply, dict) and "gzip" in reply:
        reply = {**reply, "data": gzip.decompress(reply["data"]), "dest": reply["dest"]}
    reply = placed(salt.payload.loads(salt.payload.dumps(reply, use_bin_type=False)), root, "{root}")
    if isinstance(reply, dict) and reply.get("back") == "gitfs":
        reply["path"] = "in the cache"
    stat = reply.get("stat") if isinstance(reply, dict) else reply[1] if isinstance(reply, list) and len(reply) == 2 else None
    if isinstance(stat, list) and len(stat) == 10:
        stat[:] = [n if i in (0, 6, 8) else 0 for i, n in enumerate(stat)]
    return reply


def answer(run):
    try:
        return run()
    except Exception:  # the answer of Salt's master
        return ""


def world(name, opts, loads):
    with tempfile.TemporaryDirectory() as root:
        root = os.path.realpath(root)
        for number, (top, tree) in enumerate(TREES.items()):
            make_tree(f"{root}/{top}", tree, root, TIME + 100 * number)
        config = pathlib.Path(root, "master")
        config.write_text(f"root_dir: {root}\nid: host_master\n")
        master = salt.config.master_config(str(config))
        repository = f"{root}/repo"
        subprocess.run(["git", "init", "--quiet", "--bare", repository], check=True)
        subprocess.run(["git", "-C", repository, "fast-import", "--quiet"], input=import_stream().encode(), check=True)
        commit = subprocess.run(["git", "-C", repository, "rev-parse", "master"], check=True, capture_output=True, text=True).stdout.strip()
        opts, loads = placed(placed((opts, loads), "{commit}", commit), "{short}", commit[:10])
        salt.utils.gitfs.GitFS.instance_map.clear()
        backends = [{"minion": "minionfs", "git": "gitfs"}.get(b, b) for b in opts.get("fileserver_backend", ["roots"])]
        defaults = {"file_roots": ROOTS, "cachedir": "{root}/cache", "file_buffer_size": 1024, "file_recv_max_size": 2, "gitfs_provider": "gitpython"}
        master.update(placed({**defaults, **opts, "fileserver_backend": backends}, "{root}", root))
        # As Salt does when it loads the option: an invalid expression is left out.
        master["file_ignore_regex"] = [r for r in master["file_ignore_regex"] if r != "("]
        server = salt.fileserver.Fileserver(master)
        if "gitfs" in backends:
            server.update(back=["gitfs"])
        rows = []
        for load in loads:
            sent = placed(load, "{root}", root)
            if load["cmd"] == "_file_recv":
                fake = types.SimpleNamespace(opts=master)
                reply = answer(lambda: salt.master.AESFuncs._sync_file_recv(fake, {**sent, "id": "m1"}))
            else:
                reply = answer(lambda: getattr(server, METHODS[load["cmd"]])(dict(sent)))
            if load["cmd"] == "_file_envs" and isinstance(reply, list):
                reply = sorted(reply)
            if load["cmd"] == "_symlink_list" and reply:
                reply = dict(sorted(reply.items()))
            # minionfs does not sort, so the lists of Salt are sorted here.
            rows.append([typed({k: v for k, v in load.items()}), typed(shown(reply, root))])
        runs = []
        if name == "roots":
            runners = salt.loader.runner(master)
            for fun, args, kwargs in RUNS:
                result = runners[f"fileserver.{fun}"](*args, **kwargs)
                runs.append([fun, args, kwargs, typed(dict(sorted(result.items())) if isinstance(result, dict) else result)])
        return {"name": name, "opts": typed(opts), "loads": rows, "runs": runs}


def refused(remotes):
    """Salt's log before it stops."""
    told = []
    salt.utils.gitfs.log = types.SimpleNamespace(critical=lambda text, *args: told.append(text % args if args else text), **dict.fromkeys(["debug", "warning", "error", "trace", "info"], lambda *_: None))
    with tempfile.TemporaryDirectory() as root:
        config = pathlib.Path(root, "master")
        config.write_text(f"root_dir: {root}\nid: host_master\n")
        master = {**salt.config.master_config(str(config)), "cachedir": f"{root}/cache", "fileserver_backend": ["gitfs"], "gitfs_remotes": placed(remotes, "{root}", root)}
        salt.utils.gitfs.GitFS.instance_map.clear()
        try:
            salt.utils.gitfs.GitFS(master, master["gitfs_remotes"], per_remote_overrides=salt.fileserver.gitfs.PER_REMOTE_OVERRIDES, per_remote_only=salt.fileserver.gitfs.PER_REMOTE_ONLY)
        except salt.exceptions.FileserverConfigError:
            return [typed(remotes), placed(told, root, "{root}")]
        return [typed(remotes), None]


def lines(rows):
    return ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)


def written(worlds):
    return ",\n".join(f'{{"name": {json.dumps(w["name"])}, "opts": {json.dumps(w["opts"])},\n"loads": [\n{lines(w["loads"])}\n],\n"runs": [\n{lines(w["runs"])}\n]}}' for w in worlds)


def make_all():
    worlds = [world(**w) for w in WORLDS]
    received = world("pushed", {"file_recv": True}, [{"cmd": "_file_recv", **load} for load in RECEIVED if len(load.get("data", "")) < 10**5])
    received["loads"] += [[typed({"cmd": "_file_recv", "path": ["large"], "loc": 2 * 1024 * 1024, "data": b"x"}), "b:false"]]
    worlds.append(received)
    HERE.joinpath("file_server.json").write_text(
        '{"repository": ' + json.dumps(import_stream(), ensure_ascii=False) + ',\n"trees": ' + json.dumps(TREES, ensure_ascii=False) + ',\n"roots": ' + json.dumps(ROOTS) + ',\n"worlds": [\n' + written(worlds) + "\n]}\n"
    )


def make_options():
    worlds = []
    for case in OPTION_WORLDS:
        try:
            worlds.append(world(**case))
        except (TypeError, IndexError, StopIteration, salt.exceptions.FileserverConfigError) as error:
            raise SystemExit(f"{case['name']}: Salt's file server does not start: {error!r}") from error
    rows = lines([refused(remotes) for remotes in REFUSED])
    HERE.joinpath("file_server_options.json").write_text('{"refused": [\n' + rows + '\n],\n"worlds": [\n' + written(worlds) + "\n]}\n")


if "options" not in sys.argv[1:]:
    make_all()
make_options()
