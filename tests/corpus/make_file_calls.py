#!/usr/bin/env python3
"""Writes file_calls.json: results of the functions of Salt 3008.3's execution modules that read and change files, and their changes to a directory.
Run it with the Python of an environment that has Salt: `python make_file_calls.py > file_calls.json`.

A case has the function, its arguments, the tree before, the result (or the error with its text, which is empty for errors that are not Salt's own),
and the tree after if it changed. {ROOT} stands for the directory. A tree is a map of names: a text is a file with it; a map is
a directory (`dir`), a link (`link`), or a file with bytes (`hex`) or a mode. `drop` lists the keys of a result that differ from run to run."""
import json
import logging
import os
import shutil
import sys
import tempfile

from directory_tree import build, dropped, place, snapshot
import salt.config
import salt.exceptions
import salt.loader

logging.disable(logging.CRITICAL)
os.umask(0o022)
base = tempfile.mkdtemp()
os.makedirs(f"{base}/etc/salt")
with open(f"{base}/etc/salt/minion", "w") as fp:
    fp.write(f"root_dir: {base}\nid: web1\nfile_client: local\n")
opts = salt.config.minion_config(f"{base}/etc/salt/minion")
opts["grains"] = {"id": "web1", "kernel": "Linux", "os_family": "Debian", "os": "Debian"}
opts["pillar"] = {}
mods = salt.loader.minion_mods(opts, utils=salt.loader.utils(opts))
CASES = []


def c(fun, *args, tree=None, drop=(), sort=False, **kwargs):
    CASES.append((fun, list(args), kwargs, tree or {}, list(drop), sort))


R = "{ROOT}"
T = {"a.txt": "one\ntwo\nthree\n"}
N = {"a.txt": "one\ntwo\nthree"}
HASH = "f6b3d3ae2b0b9f0d0f0c5cf5c9f2c3de8f2b1c7e6b5a4d3c2b1a0f9e8d7c6b5a"

# Paths.
for p in ["/a/b/c", "a//b/../c/", "", "/..", "//x/y", "///x", "./a", "../../a/..", "a/b/", "/", "x"]:
    c("file.normpath", p), c("file.basename", p), c("file.dirname", p)
c("file.join", "/", "usr", "local"), c("file.join", "a", "/b", "c"), c("file.join", "a/", "b"), c("file.join", "a", "")
c("file.pardir")

# line
L = {"f": "alpha\n  beta\ngamma\n"}
for mode in ["insert", "ensure", "delete", "replace", "bogus", None]:
    for content in ["beta", "delta"]:
        c("file.line", f"{R}/f", content=content, mode=mode, tree=L)
for kw in [
    dict(location="start"), dict(location="end"), dict(location="middle"), dict(before="gamma"), dict(after="alpha"), dict(after="beta"),
    dict(before="beta", after="alpha"), dict(before="gamma", after="alpha"), dict(before="nothing"), dict(after="a"), dict(before="^alpha"),
    dict(after="gamma"), dict(before="beta", indent=False),
]:
    c("file.line", f"{R}/f", content="new", mode="insert", tree=L, **kw)
    c("file.line", f"{R}/f", content="new", mode="ensure", tree=L, **kw)
c("file.line", f"{R}/f", content="  beta", mode="ensure", after="alpha", tree=L)
FAR = {"f": "alpha\nx\ny\ngamma\nbeta"}
for content in ["beta", "new", "x"]:
    c("file.line", f"{R}/f", content=content, mode="ensure", before="gamma", after="alpha", tree=FAR)
for content, before in [("beta", "gamma"), ("  beta", "gamma"), ("beta\n", "gamma"), ("gamma", "alpha")]:
    c("file.line", f"{R}/f", content=content, mode="ensure", before=before, tree=L), c("file.line", f"{R}/f", content=content, mode="insert", before=before, tree=L)
for regex in ["(", "[a", "*", "a{2,1}"]:
    c("file.line", f"{R}/f", mode="delete", match=regex, tree=L)
c("file.line", f"{R}/f", content="beta", mode="ensure", before="gamma", after="alpha", tree=L)
c("file.line", f"{R}/f", content="zeta", mode="replace", match="beta", tree=L)
c("file.line", f"{R}/f", content="zeta", mode="replace", match="beta", indent=False, tree=L)
c("file.line", f"{R}/f", content="zeta", mode="replace", match="^g", tree=L)
c("file.line", f"{R}/f", content="", mode="replace", match="beta", tree=L)
c("file.line", f"{R}/f", mode="delete", match="beta", tree=L), c("file.line", f"{R}/f", mode="delete", match="nope", tree=L)
c("file.line", f"{R}/f", mode="delete", content="gamma", show_changes=False, tree=L)
c("file.line", f"{R}/f", mode="insert", tree=L), c("file.line", f"{R}/f", mode="DELETE", match="a", tree=L)
c("file.line", f"{R}/missing", content="x", mode="insert", location="end", tree=L)
c("file.line", f"{R}/missing", content="x", mode="insert", location="end", quiet=True, tree=L)
for text in ["", "only", "only\n", "a\r\nb\r\n", "a\rb\r"]:
    for kw in [dict(mode="insert", location="end"), dict(mode="insert", location="start"), dict(mode="delete", match="a"),
               dict(mode="replace", match="only"), dict(mode="ensure", after="only"), dict(mode="insert", after="a")]:
        c("file.line", f"{R}/f", content="new", tree={"f": text}, **kw)
c("file.line", f"{R}/l", content="new", mode="insert", location="end", tree={"l": {"link": "f"}, "f": "x\n"})
c("file.line", f"{R}/f", content="new", mode="insert", location="end", tree={"f": {"text": "x\n", "mode": "0640"}})

# replace
for pattern, repl, kw in [
    ("two", "2", {}), ("two", "2", dict(backup=False)), ("t(\\w+)", "T\\1", {}), ("^t", "<\\g<0>>", {}), ("nope", "x", {}), ("e$", "E", {}),
    ("o", "0", dict(count=1)), ("o", "0", dict(count=2)), ("ONE", "1", dict(flags="IGNORECASE")), ("ONE", "1", dict(flags=["I", "M"])),
    ("one.two", "12", dict(flags=["DOTALL"])), ("one.two", "12", dict(flags=24)), ("two", "2", dict(dry_run=True)),
    ("two", "2", dict(show_changes=False)), ("nope", "2", dict(show_changes=False)), ("two", "two", {}), ("nope", "new", dict(append_if_not_found=True)),
    ("nope", "new", dict(prepend_if_not_found=True)), ("nope", "x", dict(append_if_not_found=True, not_found_content="other")),
    ("nope", "two", dict(append_if_not_found=True)), ("nope", "new", dict(append_if_not_found=True, prepend_if_not_found=True)),
    ("two", "x", dict(search_only=True)), ("nope", "x", dict(search_only=True)), ("two", "x", dict(search_only=True, append_if_not_found=True)),
    ("two", "a\\nb", {}), ("two", "a\\nb", dict(backslash_literal=True)), ("two", "\\d", dict(backslash_literal=True)), ("two", "2", dict(flags="NOPE")),
    ("two", "2", dict(flags={"a": 1})), ("two", "2", dict(preserve_inode=False)), ("x*", "-", {}), ("(a)|(t)", "[\\1\\2]", {}), ("two", 22, {}),
    ("two", "zw\u00f6lf", {}), ("two", "2", dict(backup=".orig")), ("(?P<first>t)(?P<second>.)", "\\g<second>\\g<first>", {}),
    ("two", "2", dict(encoding="utf-8")), ("nope", "new", dict(encoding="utf-8", append_if_not_found=True)), ("t", "T", dict(encoding="utf-8", count=1)),
]:
    c("file.replace", f"{R}/a.txt", pattern, repl, tree=T, **kw)
c("file.replace", f"{R}/a.txt", "nope", "new", append_if_not_found=True, tree=N)
c("file.replace", f"{R}/a.txt", "nope", "new", append_if_not_found=True, tree={"a.txt": ""})
c("file.replace", f"{R}/a.txt", "nope", "new", prepend_if_not_found=True, tree={"a.txt": ""})
c("file.replace", f"{R}/missing", "a", "b"), c("file.replace", f"{R}/missing", "a", "b", ignore_if_missing=True)
c("file.replace", f"{R}/b", "a", "b", tree={"b": {"hex": "0001026100"}})
c("file.replace", f"{R}/l", "one", "1", tree={"l": {"link": "f"}, "f": "one\n"})
c("file.replace", f"{R}/f", "one", "1", tree={"f": {"text": "one\n", "mode": "0600"}})
c("file.replace", f"{R}/f", "b", "B", tree={"f": "a\r\nb\r\nc\r\n"})
c("file.replace", f"{R}/f", "\u00e4", "ae", tree={"f": "\u00e4\u00f6\n"})
c("file.replace", f"{R}/f", ".", "x", encoding="utf-8", tree={"f": "\u00e4\u00f6\n"})
c("file.replace", f"{R}/f", "\\w+", "W", tree={"f": "abc \u00e4 d\n"})
for pattern, kw in [("two", {}), ("nope", {}), ("^three$", {}), ("one\ntwo", {}), ("^two", dict(flags=0)), ("^two", dict(flags=0, multiline=True)),
                    ("TWO", dict(flags="I"))]:
    c("file.search", f"{R}/a.txt", pattern, tree=T, **kw)
c("file.search", f"{R}/missing", "x"), c("file.search", f"{R}/missing", "x", ignore_if_missing=True)

# blockreplace
B = {"f": "head\n#-- start managed zone --\nold\n#-- end managed zone --\ntail\n"}
for kw in [dict(content="new"), dict(content="new\n"), dict(content="a\nb"), dict(content="old\n"), dict(content=""), dict(content="new", append_newline=True),
           dict(content="new", append_newline=None), dict(content="new\n", append_newline=None), dict(content="new", dry_run=True),
           dict(content="new", show_changes=False), dict(content="new", backup=False), dict(content="x", marker_start="head", marker_end="tail")]:
    c("file.blockreplace", f"{R}/f", tree=B, **kw)
P = {"f": "one\ntwo\nthree"}
for kw in [{}, dict(append_if_not_found=True), dict(prepend_if_not_found=True), dict(insert_before_match="^two"), dict(insert_after_match="^two"),
           dict(insert_after_match="nope"), dict(insert_after_match=5), dict(append_if_not_found=True, prepend_if_not_found=True),
           dict(insert_before_match="three"), dict(insert_after_match="three"), dict(append_if_not_found=True, append_newline=True)]:
    c("file.blockreplace", f"{R}/f", content="c1\nc2\n", tree=P, **kw)
c("file.blockreplace", f"{R}/f", content="x", tree={"f": "#-- start managed zone --\nold\n"})
c("file.blockreplace", f"{R}/f", content="x", append_if_not_found=True, tree={"f": ""})
c("file.blockreplace", f"{R}/f", content="x\ny", tree={"f": B["f"].replace("\n", "\r\n")})
c("file.blockreplace", f"{R}/missing", content="x"), c("file.blockreplace", f"{R}/b", content="x", tree={"b": {"hex": "00ff01feff00"}})

# comments
K = {"f": "#one\n# two\nthree\n  four\nthree five\n"}
for regex, kw in [("three", {}), ("^three$", {}), ("one", {}), ("nope", {}), ("three", dict(char=";")), ("three", dict(backup=False)), ("^three", dict(backup=".old"))]:
    c("file.comment", f"{R}/f", regex, tree=K, **kw), c("file.comment_line", f"{R}/f", regex, tree=K, **kw)
for regex, kw in [("one", {}), ("two", {}), ("three", {}), ("^one$", {}), ("two", dict(backup=False))]:
    c("file.uncomment", f"{R}/f", regex, tree=K, **kw), c("file.comment_line", f"{R}/f", regex, cmnt=False, tree=K, **kw)
c("file.comment", f"{R}/missing", "x"), c("file.comment", f"{R}/b", "x", tree={"b": {"hex": "000102"}})
c("file.comment", f"{R}/f", "x", tree={"f": {"text": "x\n", "mode": "0600"}})

# append, prepend, write
for tree in [T, N, {"a.txt": ""}]:
    c("file.append", f"{R}/a.txt", "four", "five", tree=tree), c("file.prepend", f"{R}/a.txt", "zero", tree=tree)
c("file.append", f"{R}/a.txt", args="x", tree=T), c("file.append", f"{R}/a.txt", args=["x", 1], tree=T), c("file.append", f"{R}/missing", "x")
c("file.append", f"{R}/a.txt", tree=N), c("file.prepend", f"{R}/new", "x"), c("file.prepend", f"{R}/a.txt", args=["x", "y"], tree=T)
c("file.write", f"{R}/a.txt", "x", "y", tree=T), c("file.write", f"{R}/new", args="x"), c("file.write", f"{R}/a.txt", tree=T)

# sed, psed, grep
c("file.sed", f"{R}/a.txt", "two", "2", tree=T, drop=["pid"]), c("file.sed", f"{R}/a.txt", "o", "0", flags="", limit="one", backup="", tree=T, drop=["pid"])
c("file.sed", f"{R}/a.txt", "t.", "/x/", tree=T, drop=["pid"]), c("file.sed", f"{R}/a.txt", "t.", "x", escape_all=True, tree=T, drop=["pid"])
c("file.sed", f"{R}/a.txt", "e", "E", limit="two", negate_match=True, tree=T, drop=["pid"]), c("file.sed", f"{R}/missing", "a", "b")
c("file.sed_contains", f"{R}/a.txt", "tw", tree=T), c("file.sed_contains", f"{R}/a.txt", "nope", tree=T), c("file.sed_contains", f"{R}/missing", "x")
c("file.psed", f"{R}/a.txt", "two", "2", tree=T), c("file.psed", f"{R}/a.txt", "o", "0", flags="M", tree=T), c("file.psed", f"{R}/a.txt", "^t", "T", tree=T)
c("file.grep", f"{R}/a.txt", "t", tree=T, drop=["pid"]), c("file.grep", f"{R}/a.txt", "T", "-i", tree=T, drop=["pid"]), c("file.grep", f"{R}/*.txt", "one", "-c", tree=T, drop=["pid"])
c("file.grep", f"{R}/a.txt", "nope", tree=T, drop=["pid"]), c("file.grep", f"{R}/a.txt", "t", "-i -n", tree=T)

# contents
for text in ["two", "nope", "  two  ", "one\ntwo", 3]:
    c("file.contains", f"{R}/a.txt", text, tree=T)
for regex in ["^two", "^TWO", "t", "one\ntwo"]:
    c("file.contains_regex", f"{R}/a.txt", regex, tree=T), c("file.contains_regex", f"{R}/a.txt", regex, lchar="t", tree=T)
for glob in ["*two*", "one*", "two", "*[q]*"]:
    c("file.contains_glob", f"{R}/a.txt", glob, tree=T)
for fun in ["contains", "contains_regex", "contains_glob"]:
    c(f"file.{fun}", f"{R}/missing", "x")
c("file.read", f"{R}/a.txt", tree=T), c("file.read", f"{R}/a.txt", binary=True, tree=T), c("file.read", f"{R}/missing")
c("file.seek_read", f"{R}/a.txt", 3, 4, tree=T), c("file.seek_read", f"{R}/a.txt", 100, 8, tree=T), c("file.truncate", f"{R}/a.txt", 5, tree=T), c("file.truncate", f"{R}/a.txt", 20, tree=T)

# digests
for form in ["md5", "sha1", "sha224", "sha256", "sha384", "sha512", "nope"]:
    c("file.get_hash", f"{R}/a.txt", form, tree=T), c("file.get_sum", f"{R}/a.txt", form, tree=T)
c("file.get_sum", f"{R}/missing")
import hashlib
md5, sha = (hashlib.new(n, T["a.txt"].encode()).hexdigest() for n in ("md5", "sha256"))
for h in [md5, sha, f"md5={md5}", f"sha256:{sha}", f"md5:{sha}", "abc", "md5=", 5]:
    c("file.check_hash", f"{R}/a.txt", h, tree=T)
H = {"sums": f"{md5}  other.txt\n{sha}  a.txt\n{md5} *./x/a.txt\nnothing here\n{sha.upper()} up.txt\n", "a.txt": "x"}
for kw in [{}, dict(file_name="a.txt"), dict(hash_type="md5"), dict(hash_type="md5", file_name="/y/a.txt"), dict(hash_type="", source="http://h/other.txt"),
           dict(hash_type="md5", source_hash_name="./x/a.txt"), dict(hash_type="sha1"), dict(hash_type="", file_name="up.txt"), dict(hash_type="x", file_name="a.txt")]:
    c("file.extract_hash", f"{R}/sums", tree=H, **kw)
for h in [md5, f"sha256={sha}", f"md5={sha}", "nope=12", "12", "xyz", f"{R}/sums", f"sha1= {md5}", f" md5 = {md5.upper()} ", "gopher://x"]:
    c("file.get_source_sum", "/etc/a.txt", source="", source_hash=h, tree=H)

# existing files
D = {"d": {"dir": {"x": "1", "y": {"dir": {"z.log": "zz"}}}}, "f": "hello", "l": {"link": "f"}, "dl": {"link": "d"}, "broken": {"link": "none"}, "e": {"dir": {}}}
for p in ["d", "f", "l", "dl", "broken", "none"]:
    for fun in ["directory_exists", "file_exists", "is_link", "is_hardlink", "is_fifo", "is_chrdev", "is_blkdev", "get_devmm", "get_mode", "get_user", "get_uid", "get_group", "get_gid", "path_exists_glob"]:
        c(f"file.{fun}", f"{R}/{p}", tree=D)
    c("file.readlink", f"{R}/{p}", tree=D), c("file.readlink", f"{R}/{p}", canonicalize=True, tree=D)
    c("file.stats", f"{R}/{p}", tree=D, drop=["inode", "atime", "mtime", "ctime", "size"] if p in ("d", "dl") else ["inode", "atime", "mtime", "ctime"])
    c("file.stats", f"{R}/{p}", follow_symlinks=False, tree=D, drop=["inode", "atime", "mtime", "ctime", "size"] if p == "d" else ["inode", "atime", "mtime", "ctime"])
    c("file.lstat", f"{R}/{p}", tree=D, drop=["st_atime", "st_mtime", "st_ctime"] + (["st_size", "st_nlink"] if p == "d" else []))
    for mode in ["f", "r", "w", "x"]:
        c("file.access", f"{R}/{p}", mode, tree=D)
c("file.stats", f"{R}/f", hash_type="md5", tree=D, drop=["inode", "atime", "mtime", "ctime"])
c("file.access", f"{R}/f", "q", tree=D), c("file.access", f"{R}/f", 4, tree=D), c("file.access", "f", "r"), c("file.lstat", "f"), c("file.readlink", "f"), c("file.readdir", "d"), c("file.statvfs", "x")
c("file.statvfs", f"{R}/none"), c("file.readdir", f"{R}/d", tree=D, sort=True), c("file.readdir", f"{R}/f", tree=D), c("file.path_exists_glob", f"{R}/*o*n", tree=D), c("file.path_exists_glob", f"{R}/q*", tree=D)
c("file.diskusage", f"{R}/d", tree=D), c("file.diskusage", f"{R}/f", tree=D), c("file.diskusage", f"{R}/none", tree=D), c("file.is_link", f"{R}/l", nostat=True, tree=D)
for dev in ["/dev/null", "/dev/zero"]:
    c("file.is_chrdev", dev), c("file.get_devmm", dev), c("file.is_blkdev", dev)
for v in ["root", 0, "nobody_such", None, 12345678]:
    c("file.group_to_gid", v)
for v in ["root", 0, "nobody_such", 12345678]:
    c("file.user_to_uid", v)
for v in [0, "0", "root", "nosuch", 12345678]:
    c("file.gid_to_group", v)
c("file.uid_to_user", 0), c("file.uid_to_user", 12345678)

# find
F = {"a.txt": "alpha needle\n", "B.TXT": "beta\n", "big": "x" * 3000, "sub": {"dir": {"c.txt": "needle", "deep": {"dir": {"d.log": "", "e.txt": "1"}}}},
     "link": {"link": "a.txt"}, "dirlink": {"link": "sub"}, "m": {"text": "m", "mode": "0600"}}
for kw in [{}, dict(name="*.txt"), dict(iname="*.txt"), dict(regex="^[ab]"), dict(iregex="^[AB]\\."), dict(type="d"), dict(type="f"), dict(type="l"), dict(type="fd"),
           dict(type="q"), dict(size="3000"), dict(size="+1k"), dict(size="-10"), dict(size="1k"), dict(size="x"), dict(grep="needle"), dict(grep="("), dict(maxdepth=0),
           dict(maxdepth=1), dict(maxdepth=2), dict(mindepth=1), dict(mindepth=2), dict(mindepth=1, maxdepth=1), dict(owner="root"), dict(owner="0", type="d"),
           dict(group="root", maxdepth=0), dict(owner="nosuch_user"), dict(mtime="-1d", type="f"), dict(mtime="+1d"), dict(mtime="abc"), dict(mtime="1w2d3h"),
           dict(name=""), dict(bogus="1"), dict(print="name", type="f"), dict(print="name,size,type", type="f"), dict(print="mode,path", name="m"), dict(print="md5", type="f", name="a*"),
           dict(print="user group", name="m"), dict(name="a?txt"), dict(name="c.txt", exec="echo {}"), dict(delete="f", name="*.txt"), dict(delete="d", name="deep"),
           dict(delete="f", name="*.txt", test=True), dict(delete="l"), dict(delete="z"), dict(name="*.log", type="f", print="path")]:
    c("file.find", R, tree=F, **kw)
for kw in [dict(user="root"), dict(owner="0"), dict(owner="nosuchuser"), dict(group="nosuchgroup"), dict(maxdepth=None), dict(maxdepth=-1)]:
    c("file.find", R, tree=F, **kw)
for printed in ["path,md5,type", "md5", "odd", "odd,type", "path,user,group", ""]:
    c("file.find", R, tree={"f": "x", "d": {"dir": {"g": ""}}, "broken": {"link": "nowhere"}, "there": {"link": "f"}}, print=printed)
for command in ["cat {}", "nosuchprogram {}", "false"]:
    c("file.find", R, tree={"f": "x"}, type="f", exec=command)
c("file.find", f"{R}/*.txt", tree=F), c("file.find", f"{R}/none", tree=F), c("file.find", f"{R}/sub", "delete", name="*.txt", tree=F), c("file.find", f"{R}/s*", "print", type="f", tree=F)

# trees
c("file.mkdir", f"{R}/x/y"), c("file.mkdir", f"{R}/x", mode="0700"), c("file.mkdir", f"{R}/d", tree=D), c("file.mkdir", f"{R}/x/y", mode=750)
c("file.makedirs", f"{R}/x/y/z"), c("file.makedirs", f"{R}/x/y/"), c("file.makedirs", f"{R}/d/q", tree=D), c("file.makedirs", f"{R}/f/q", tree=D), c("file.makedirs", f"{R}/x/y/z", mode="0700"), c("file.makedirs", "no/such")
c("file.makedirs_perms", f"{R}/x/y"), c("file.makedirs_perms", f"{R}/x/y", mode="0700"), c("file.makedirs_perms", f"{R}/d", tree=D)
c("file.touch", f"{R}/new"), c("file.touch", f"{R}/f", tree=D), c("file.touch", f"{R}/none/x"), c("file.touch", f"{R}/f", atime="x", tree=D), c("file.touch", f"{R}/d", tree=D), c("file.touch", f"{R}/f", 5, 7, tree=D)
c("file.link", f"{R}/f", f"{R}/h", tree=D), c("file.link", "f", f"{R}/h"), c("file.link", f"{R}/none", f"{R}/h"), c("file.link", f"{R}/f", f"{R}/d", tree=D)
for kw in [{}, dict(force=True), dict(atomic=True), dict(follow_symlinks=False)]:
    for target in ["new", "l", "f", "broken", "d"]:
        c("file.symlink", f"{R}/d", f"{R}/{target}", tree=D, **kw)
c("file.symlink", "f", f"{R}/l", tree=D), c("file.symlink", "f", "rel"), c("file.symlink", "f", f"{R}/no/such")
c("file.rename", f"{R}/f", f"{R}/g", tree=D), c("file.rename", "f", "g"), c("file.rename", f"{R}/none", f"{R}/g"), c("file.rename", f"{R}/f", f"{R}/d", tree=D), c("file.rename", f"{R}/d", f"{R}/g", tree=D)
c("file.move", f"{R}/f", f"{R}/g", tree=D), c("file.move", f"{R}/f", f"{R}/d", tree=D), c("file.move", f"{R}/d", f"{R}/e", tree=D), c("file.move", "f", f"{R}/g"), c("file.move", f"{R}/f", "g"), c("file.move", f"{R}/none", f"{R}/g")
c("file.move", f"{R}/f", f"{R}/g", disallow_copy_and_unlink=True, tree=D), c("file.move", f"{R}/l", f"{R}/g", tree=D)
c("file.copy", f"{R}/f", f"{R}/g", tree=D), c("file.copy", f"{R}/d", f"{R}/g", tree=D), c("file.copy", f"{R}/d", f"{R}/g", recurse=True, tree=D), c("file.copy", f"{R}/d", f"{R}/e", recurse=True, tree=D)
c("file.copy", f"{R}/e", f"{R}/d", recurse=True, remove_existing=True, tree=D), c("file.copy", f"{R}/none", f"{R}/g"), c("file.copy", "f", "g"), c("file.copy", f"{R}/f", f"{R}/no/such", tree=D), c("file.copy", f"{R}/f", f"{R}/d", tree=D)
c("file.copy", f"{R}/m", f"{R}/g", tree=F), c("file.copy", f"{R}/l", f"{R}/g", tree=D)
for p in ["f", "d", "l", "dl", "broken", "none", "e"]:
    c("file.remove", f"{R}/{p}", tree=D), c("file.rmdir", f"{R}/{p}", tree=D), c("file.rmdir", f"{R}/{p}", recurse=True, tree=D)
c("file.remove", "rel"), c("file.rmdir", "rel"), c("file.rmdir", f"{R}/d", tree={"d": {"dir": {"a": {"dir": {"b": {"dir": {}}}}}}}, recurse=True)
c("file.rmdir", f"{R}/d", tree={"d": {"dir": {"a": {"dir": {"b": {"dir": {}}}}}}}, recurse=True, verbose=True), c("file.rmdir", f"{R}/d", tree=D, verbose=True, recurse=True)
c("file.rmdir", f"{R}/e", tree=D, older_than=1), c("file.rmdir", f"{R}/e", tree=D, older_than="x"), c("file.rmdir", f"{R}/e", tree=D, verbose=True)
c("file.mknod_fifo", f"{R}/p"), c("file.mknod", f"{R}/q/p", "p"), c("file.mknod", f"{R}/p", "x"), c("file.mknod_fifo", f"{R}/f", tree=D), c("file.mknod_fifo", f"{R}/p", mode="0600")
for mode in ["0600", 600, "755", "0", "abc", "1777", 0o640]:
    c("file.set_mode", f"{R}/f", mode, tree=D)
c("file.set_mode", f"{R}/none", "0600"), c("file.chown", f"{R}/f", "root", "root", tree=D), c("file.chown", f"{R}/f", "nosuch", "root", tree=D), c("file.chown", f"{R}/f", "root", "nosuch", tree=D)
c("file.chown", f"{R}/f", "nosuch", "nosuch", tree=D), c("file.chown", f"{R}/none", "root", "root"), c("file.chown", f"{R}/broken", "root", "root", tree=D), c("file.chgrp", f"{R}/f", "root", tree=D), c("file.chgrp", f"{R}/f", "nosuch", tree=D)
c("file.lchown", f"{R}/l", "root", "root", tree=D), c("file.chown", f"{R}/f", "", "", tree=D), c("file.chown", f"{R}/f", None, None, tree=D)

# permissions and managed files
for args in [("root", "root", "0644"), ("root", "root", "0600"), (0, 0, 600), (None, None, None), (None, None, "0755"), ("nosuch", "root", "0644"), ("", "", "0644")]:
    c("file.check_perms", f"{R}/f", {}, *args, tree=D)
c("file.check_perms", f"{R}/f", {"name": "n", "changes": {}, "comment": "before", "result": True}, "root", "root", "0600", tree=D)
c("file.check_perms", f"{R}/f", {"name": "n", "changes": {}, "comment": ["before"], "result": True}, "root", "root", "0600", tree=D)
c("file.check_perms", f"{R}/l", {}, "root", "root", "0600", tree=D), c("file.check_perms", f"{R}/l", {}, "root", "root", "0600", follow_symlinks=True, tree=D), c("file.check_perms", f"{R}/none", {}, "root", "root", "0600")
G = {"old": "a\nb\nc\n", "new": "a\nB\nc\n", "same": "a\nb\nc\n", "bin": {"hex": "000102ff"}, "bin2": {"hex": "000103ff"}, "mixed": "c\na # x\nb\n", "latin": {"hex": "e4f6fc0a"}}
for a, b in [("old", "new"), ("old", "same"), ("old", "bin"), ("bin", "old"), ("bin", "bin2"), ("old", "none"), ("none", "old"), ("old", "latin")]:
    c("file.get_diff", f"{R}/{a}", f"{R}/{b}", tree=G), c("file.get_diff", f"{R}/{a}", f"{R}/{b}", show_filenames=False, tree=G)
for kw in [dict(show_changes=False), dict(ignore_ordering=True), dict(ignore_whitespace=True), dict(ignore_comment_characters="#"), dict(ignore_comment_characters=["#", "B"])]:
    c("file.get_diff", f"{R}/old", f"{R}/mixed", tree=G, show_filenames=False, **kw), c("file.get_diff", f"{R}/old", f"{R}/same", tree=G, show_filenames=False, **kw)
lines = [f"line {i % 7} {i // 3}\n" for i in range(400)]
c("file.get_diff", f"{R}/x", f"{R}/y", show_filenames=False, tree={"x": "".join(lines), "y": "".join(lines[:100] + ["new\n"] + lines[103:300] + lines[310:] + ["end"])})
c("file.get_diff", f"{R}/x", f"{R}/y", show_filenames=False, tree={"x": "".join(["same\n"] * 250 + ["a\n"]), "y": "".join(["same\n"] * 3 + ["b\n"] + ["same\n"] * 247)})
c("file.source_list", f"{R}/old", "h", "base", tree=G), c("file.source_list", [f"{R}/none", f"{R}/old"], "h", "base", tree=G), c("file.source_list", [{f"{R}/old": "own"}], "h", "base", tree=G), c("file.source_list", [f"file://{R}/new"], "", "base", tree=G)
c("file.source_list", [f"{R}/none"], "h", "base", tree=G)
M = (None, None, None, None, "base")
s_old, s_new = (hashlib.sha256(G[n].encode()).hexdigest() for n in ("old", "new"))


def managed(name, sfn, source, sum_, *, user="root", group="root", mode="0644", attrs=None, backup="", **kw):
    c("file.manage_file", f"{R}/{name}", sfn and f"{R}/{sfn}", {}, source and f"{R}/{source}", sum_, user, group, mode, attrs, "base", backup, tree=G, **kw)


S = {"hash_type": "sha256", "hsum": s_new}
managed("old", "new", "new", S), managed("old", "", "new", {}), managed("new", "new", "new", S), managed("fresh", "new", "new", S), managed("fresh", "new", "new", S, mode=None), managed("x/fresh", "new", "new", S)
managed("x/y/fresh", "new", "new", S, makedirs=True), managed("x/fresh", "new", "new", S, makedirs=True, mode="0600"), managed("x/fresh", "new", "new", S, makedirs=True, dir_mode="0700")
managed("old", "new", "new", {"hash_type": "sha256", "hsum": s_old[::-1]}), managed("fresh", "new", "new", {"hash_type": "sha256", "hsum": s_old}), managed("old", None, None, {}, contents="x\n"), managed("old", None, None, {}, contents=G["old"])
managed("fresh", None, None, {}, contents="x\n"), managed("fresh", None, None, {}), managed("fresh", None, None, {}, contents="x\n", new_file_diff=True), managed("old", "new", "new", S, show_changes=False), managed("old", None, None, {}, contents="x\n", show_changes=False)
managed("old", "new", "new", S, mode="0600"), managed("old", None, None, {}, mode="0600"), managed("old", None, None, {}, contents="c\nb\na\n", ignore_ordering=True), managed("old", "none", "none", {}), managed("old", None, None, {}, contents="\u00e4", encoding="latin-1")
managed("fresh", "new", "new", S, keep_mode=True), managed("fresh", None, None, {}, contents="x", user="nosuch")
for kw in [{}, dict(contents="x\n"), dict(contents=G["old"]), dict(new_file_diff=True)]:
    c("file.check_file_meta", f"{R}/old", f"{R}/new", f"{R}/new", S, "root", "root", "0644", None, "base", tree=G, **kw)
    if not kw.get("new_file_diff"):  # Salt computes the digest of a file that does not exist
        c("file.check_file_meta", f"{R}/none", f"{R}/new", f"{R}/new", S, "root", "root", "0644", None, "base", tree=G, **kw)
c("file.check_file_meta", f"{R}/old", None, None, None, "nobody", "nogroup", "0600", None, "base", tree=G), c("file.check_file_meta", f"{R}/old", f"{R}/new", f"{R}/new", S, None, None, None, None, "base", ignore_ordering=True, tree=G)
for name, source in [("old", "new"), ("old", "same"), ("none", "new"), ("old", "missing")]:
    c("file.check_managed", f"{R}/{name}", f"{R}/{source}", None, None, "root", "root", "0644", None, None, {}, {}, "base", tree=G)
    c("file.check_managed_changes", f"{R}/{name}", f"{R}/{source}", None, None, "root", "root", "0600", None, None, {}, {}, "base", tree=G)
    c("file.get_managed", f"{R}/{name}", None, f"{R}/{source}", None, None, "root", "root", "0644", None, "base", {}, {}, tree=G)
c("file.get_managed", f"{R}/old", None, f"{R}/new", f"sha256={s_old}", None, None, None, None, None, "base", None, None, tree=G), c("file.get_managed", f"{R}/old", None, f"{R}/new", "junk", None, None, None, None, None, "base", None, None, skip_verify=True, tree=G)
c("file.get_managed", f"{R}/old", None, "", None, None, None, None, None, None, "base", None, None, tree=G), c("file.list_backups", f"{R}/old", tree=G), c("file.restore_backup", f"{R}/old", 0, tree=G), c("file.restore_backup", f"{R}/old", "x", tree=G), c("file.delete_backup", f"{R}/old", "00", tree=G)
c("file.list_backups_dir", f"{R}/", tree=G)
PATCH = "--- a\n+++ b\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"
c("file.patch", f"{R}/a.txt", f"{R}/p", tree={**T, "p": PATCH}, drop=["pid"]), c("file.patch", f"{R}/a.txt", f"{R}/p", dry_run=True, tree={**T, "p": PATCH}, drop=["pid"]), c("file.patch", f"{R}/a.txt", f"{R}/p", tree={"a.txt": "other\n", "p": PATCH}, drop=["pid"])

LINKS = {"d1": {"dir": {"x": ""}}, "d2": {"dir": {".h": "", "y": ""}}, "abs": {"link": "{ROOT}/d1/x"}, "rel": {"link": "d1/../d2/y"}, "up": {"link": "./d1"}, "loop1": {"link": "loop2"}, "loop2": {"link": "loop1"}, "deep": {"link": "up"}}
for flags in ["X", ["MULTILINE", "Q"], "IGNORECASE", ["I"], 8, "8"]:
    c("file.replace", f"{R}/a.txt", "ONE", "1", flags=flags, tree=T)
for source in ["relative", "file://relative", f"file://{R}/new", f"{R}/new/"]:
    c("file.get_managed", f"{R}/old", None, source, None, None, None, None, None, None, "base", None, None, skip_verify=True, tree=G)
c("file.get_managed", f"{R}/new", None, f"{R}/new", None, None, None, None, None, None, "base", None, None, tree=G)
c("file.get_managed", f"{R}/old", "nosuch", f"{R}/new", None, None, None, None, None, None, "base", {}, {}, skip_verify=True, tree=G)
for link in ["abs", "rel", "up", "loop1", "deep/x"]:
    c("file.readlink", f"{R}/{link}", tree=LINKS), c("file.readlink", f"{R}/{link}", canonicalize=True, tree=LINKS)
for pattern in ["d*/x", "*/x", "d?/", "*/", "[", "d[12]/*", "*/.h", "none/*", "*x*/x"]:
    c("file.path_exists_glob", f"{R}/{pattern}", tree=LINKS)

for extra in ["file_calls_more.py", "file_calls_rare.py"]:
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), extra)) as fp:
        exec(fp.read())


out = []
for fun, args, kwargs, tree, drop, sort in CASES:
    root = tempfile.mkdtemp(prefix="calls_")
    os.chmod(root, 0o755)
    build(root, place(tree, R, root))
    before = place(snapshot(root), root, R)
    case = {"fun": fun, "args": args, "kwargs": kwargs, "tree": tree}
    mods.pack["__context__"].clear()
    opts["hosts.file"] = f"{root}/h"
    sys.stdout = open(os.devnull, "w")
    try:
        result = mods[fun](*place(args, R, root), **place(kwargs, R, root))
        case["return"] = dropped(place(sorted(result) if sort else result, root, R), drop)
    except (salt.exceptions.CommandExecutionError, salt.exceptions.SaltInvocationError) as exc:
        case["error"] = place(str(exc), root, R)
    except Exception:  # which Salt shows as a stack trace
        case["error"] = ""
    finally:
        sys.stdout = sys.__stdout__
    after = place(snapshot(root), root, R)
    if after != before:
        case["after"] = after
    if drop:
        case["drop"] = drop
    if sort:
        case["sort"] = True
    shutil.rmtree(root)
    out.append(case)
shutil.rmtree(base)
print("[")
print(",\n".join(json.dumps(case) for case in out))
print("]")
