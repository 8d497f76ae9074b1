#!/usr/bin/env python3
"""Writes cp_calls.json: what the functions of Salt 3008.3's execution module cp return without a master (file_client: local), one call after
the other on one tree, and the files in the cache and beside it afterwards. Run it with the Python of an environment that has Salt:
`python make_cp_calls.py > cp_calls.json`.

{ROOT} stands for the directory. An error is recorded by its class and text, without the text if it is not Salt's own."""
import json
import logging
import os
import shutil
import tempfile

import salt.config
import salt.exceptions
import salt.loader

logging.disable(logging.CRITICAL)
os.umask(0o022)
base = os.path.realpath(tempfile.mkdtemp())
TREE = {
    "srv/top.sls": "base: {}\n",
    "srv/web/init.sls": "web\n",
    "srv/web/conf.sls": "conf\n",
    "srv/web/files/a.conf": "a\n",
    "srv/web/files/b.txt": "b\n",
    "srv/webby.sls": "webby\n",
    "srv/empty": "",
    "srv/q?x.txt": "question\n",
    "srv/t/a.j": "id={{ grains.id }} {{ x|default('none') }} {{ salt['test.echo']('hi') }} {{ saltenv }}\n{% from 't/m.j' import a %}{{ a }}\n",
    "srv/t/m.j": "{% set a = 5 %}\n",
    "srv/ü b.txt": "unicode\n",
    "dev/d.txt": "dev\n",
    "dev/top.sls": "dev: {}\n",
    "local/hosts": "localhost\n",
    "out/there.txt": "old\n",
}
DIRS = ["srv/web/none"]
LINKS = {"srv/link": "top.sls", "srv/dlink": "web"}
for path, text in TREE.items():
    os.makedirs(os.path.dirname(f"{base}/{path}"), exist_ok=True)
    with open(f"{base}/{path}", "w", encoding="utf-8") as fp:
        fp.write(text)
for path in DIRS:
    os.makedirs(f"{base}/{path}")
for path, target in LINKS.items():
    os.symlink(target, f"{base}/{path}")
os.chmod(f"{base}/srv/web/files/b.txt", 0o750)

os.makedirs(f"{base}/etc/salt")
with open(f"{base}/etc/salt/minion", "w") as fp:
    fp.write(
        f"root_dir: {base}\nid: web1\nfile_client: local\ncachedir: {base}/cache\n"
        f"file_roots:\n  base: [{base}/srv]\n  dev: [{base}/dev]\n"
    )
opts = salt.config.minion_config(f"{base}/etc/salt/minion")
opts["grains"] = {"id": "web1", "kernel": "Linux", "os_family": "Debian", "os": "Debian"}
opts["pillar"] = {}
mods = salt.loader.minion_mods(opts, utils=salt.loader.utils(opts))
STEPS = []


def c(fun, *args, **kwargs):
    given = [list(args), kwargs]
    filled = json.loads(json.dumps(given).replace("{ROOT}", base))
    step = {"fun": f"cp.{fun}", "args": given[0], "kwargs": kwargs}
    try:
        result = mods[f"cp.{fun}"](*filled[0], **filled[1])
        # The environments come in the order of a set.
        result = sorted(result) if fun == "envs" else result
        step["result"] = json.loads(json.dumps(result).replace(base, "{ROOT}"))
    except salt.exceptions.SaltException as error:
        step["error"] = str(error).replace(base, "{ROOT}")
    except Exception:
        step["error"] = ""
    STEPS.append(step)


R = "{ROOT}"
c("envs")
for fun in ["list_master", "list_master_dirs", "list_states", "list_master_symlinks"]:
    c(fun), c(fun, "dev"), c(fun, "nope")
for prefix in ["web", "web/", "webb", "/web", "nope"]:
    c("list_master", prefix=prefix), c("list_master_dirs", prefix=prefix)
URLS = [
    "salt://top.sls", "salt://web/init.sls", "salt://web", "salt://nope", "salt://", "salt://empty", "salt://d.txt",
    "salt://d.txt?saltenv=dev", "salt://top.sls?saltenv=dev", "salt:///top.sls", "salt://q?x.txt", "salt://|q?x.txt", "salt://ü b.txt",
    "salt://link", "salt://dlink/init.sls", "salt://../etc/salt/minion", "salt://web/../top.sls", f"{R}/local/hosts", f"file://{R}/local/hosts",
    f"{R}/local/nope", "relative",
]
for url in URLS:
    c("is_cached", url)
    c("hash_file", url)
    c("stat_file", url)
    c("cache_file", url)
    c("is_cached", url)
    c("cache_dest", url)
    c("get_file_str", url)
c("stat_file", "salt://web/files/b.txt"), c("stat_file", "salt://web/files/b.txt", octal=False)
c("cache_files", ["salt://top.sls", "salt://nope", "salt://d.txt?saltenv=dev"]), c("cache_files", "salt://top.sls,salt://empty")
c("cache_file", "salt://d.txt", "dev"), c("cache_file", "salt://d.txt", saltenv="dev"), c("cache_file", "salt://top.sls", saltenv="nope")
for kw in [
    {}, {"include_empty": True}, {"include_pat": "*.conf"}, {"exclude_pat": "*.conf"}, {"include_pat": "E@\\.(conf|txt)$", "exclude_pat": "web/files/b*"},
    {"include_pat": ["*.sls", "*b.txt"]}, {"saltenv": "nope"},
]:
    c("cache_dir", "salt://web", **kw)
c("cache_dir", "salt://web/"), c("cache_dir", "salt://webb"), c("cache_dir", "web")
c("cache_master", "dev"), c("cache_master")
c("cache_local_file", f"{R}/local/hosts"), c("cache_local_file", f"{R}/local/hosts"), c("cache_local_file", f"{R}/local/nope")
c("is_cached", f"{R}/local/hosts")
c("list_minion", "dev")
for dest, kw in [
    ("out/new.txt", {}), ("out/there.txt", {}), ("out", {}), ("out/", {}), ("no/dir/x", {}), ("made/dir/x", {"makedirs": True}), ("made/slash/", {"makedirs": True}),
    ("out/zip", {"gzip": 5}),
]:
    c("get_file", "salt://web/conf.sls", f"{R}/{dest}", **kw)
    c("get_url", "salt://web/conf.sls", f"{R}/{dest}", **{k: v for k, v in kw.items() if k != "gzip"})
c("get_file", "salt://nope", f"{R}/out/nope"), c("get_file", "salt://d.txt?saltenv=dev", f"{R}/out/d"), c("get_file", "salt://d.txt", f"{R}/out/d2", saltenv="dev")
c("get_dir", "salt://web", f"{R}/dir1"), c("get_dir", "salt://web/", f"{R}/dir2"), c("get_dir", "salt://web/files", f"{R}/dir3"), c("get_dir", "salt://nope", f"{R}/dir4")
c("get_dir", "salt://webb", f"{R}/dir5")
c("get_url", "salt://top.sls"), c("get_url", "salt://top.sls", None), c("get_url", "salt://nope"), c("get_url", f"{R}/local/hosts"), c("get_url", f"{R}/local/hosts", None)
c("get_url", f"file://{R}/local/hosts", f"{R}/out/copied"), c("get_url", "relative")
c("get_template", "salt://t/a.j", f"{R}/out/t1"), c("get_template", "salt://t/a.j", f"{R}/out/t2", x=7), c("get_template", "salt://t/a.j", f"{R}/out/t3", context={"x": 8}, x=7)
c("get_template", "salt://t/a.j", ""), c("get_template", "salt://t/nope", f"{R}/out/t4"), c("get_template", "salt://t/a.j", f"{R}/none/t5")
c("get_template", "salt://t/a.j", f"{R}/none/t6", makedirs=True), c("get_template", "salt://t/a.j", f"{R}/out/t7", template="nope")
c("get_file", "salt://t/{{ 'a' }}.j", f"{R}/out/{{{{ saltenv }}}}.x", template="jinja"), c("get_file", "salt://t/a.j", f"{R}/out/t8", template="nope")
c("get_dir", "salt://{{ 'web' }}", f"{R}/dir{{{{ 2 + 2 }}}}", template="jinja")
for url in [
    "http://u:p@h:80/a/b?x=1&y=2#f", "https://127.0.0.1:1/x", "http://h", "http://h/", "http://h/../../../x", "http://h/" + "a" * 300, "ftp://h:21/a;b",
    "http://[::1]:80/x", "http://h:x/y", "HTTP://H/x", "s3://bucket/key",
]:
    c("cache_dest", url), c("cache_dest", url, "dev"), c("is_cached", url)

AFTER = {}
for top in ["cache/files", "cache/localfiles", "cache/extrn_files", "out", "no", "none", "made", "dir1", "dir2", "dir3", "dir4", "dir5"]:
    for directory, dirs, files in os.walk(f"{base}/{top}"):
        for name in files:
            with open(f"{directory}/{name}", encoding="utf-8") as fp:
                AFTER[os.path.relpath(f"{directory}/{name}", base).replace(base, "{ROOT}")] = fp.read()
shutil.rmtree(base)
out = {"tree": TREE, "dirs": DIRS, "links": LINKS, "modes": {"srv/web/files/b.txt": 0o750}}
print("{")
for key, value in out.items():
    print(f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)},")
print('"steps": [')
print(",\n".join(json.dumps(step, ensure_ascii=False) for step in STEPS))
print("],")
print(f'"after": {json.dumps(dict(sorted(AFTER.items())), ensure_ascii=False, indent=0)}')
print("}")
