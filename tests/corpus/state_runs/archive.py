"""The cases of `archive`: read by make_state_runs.py."""
import bz2
import gzip
import hashlib
import io
import lzma
import subprocess
import tarfile
import tempfile
import zipfile

TWICE = ("test", "run")


def tar(members, compress=None):
    """A tar archive of names with text, None for a directory, or a link's target in a tuple."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name, text in members.items():
            info = tarfile.TarInfo(name)
            info.mtime, info.mode = 1700000000, 0o644
            if text is None:
                info.type, info.mode = tarfile.DIRTYPE, 0o755
            elif isinstance(text, tuple):
                info.type, info.linkname = tarfile.SYMTYPE, text[0]
            else:
                info.size = len(text)
            archive.addfile(info, io.BytesIO(text.encode()) if isinstance(text, str) else None)
    data = out.getvalue().rstrip(b"\0")
    data += bytes(-len(data) % 512 + 1024)  # without the zeros up to a record of 10 KiB
    return {"hex": (compress(data) if compress else data).hex()}


def packed(members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in members.items():
            info = zipfile.ZipInfo(name, (2026, 1, 2, 3, 4, 6))
            info.external_attr = (0o040755 if name.endswith("/") else 0o100600) << 16
            archive.writestr(info, text)
    return {"hex": out.getvalue().hex()}


def encrypted():
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run("mkdir top; echo secret > top/f; TZ=UTC touch -d 2026-01-02 top/f top; zip -qrX -P word e.zip top", shell=True, cwd=directory, check=True)
        with open(f"{directory}/e.zip", "rb") as source:
            return {"hex": source.read().hex()}


TOP = {"top": None, "top/f": "one\n", "top/sub": None, "top/sub/g": "two\n", "top/link": ("f",)}
SIMPLE = {"top/f": "one\n"}
BOMB = {"f": "one\n", "g": "two\n"}
A = tar(SIMPLE, lambda data: gzip.compress(data, mtime=0))
SUM = hashlib.sha256(bytes.fromhex(A["hex"])).hexdigest()
CACHES = "find ../var -type f 2>/dev/null -path '*archive_hash*' | sort | sed 's,.*archive_hash/,,; s,local/.*root/,local/,'"


def run(tree, **args):
    fields = {key: args.pop(key) for key in ("steps", "observe", "setup", "drop") if key in args}
    case("archive.extracted", {"name": f"{R}/d", "source": f"{R}/a.tar.gz", **args}, tree=tree, **fields)


run({"a.tar.gz": A}), run({"a.tar.gz": A, "d": {"dir": {}}}), run({"a.tar.gz": A}, name=f"{R}/d/"), run({"a.tar.gz": A}, name=f"{R}/x/y/z"), run({"a.tar.gz": tar(TOP, lambda data: gzip.compress(data, mtime=0))})
run({"a.tar": tar(TOP)}, source=f"{R}/a.tar"), run({"a.txz": tar(TOP, lzma.compress)}, source=f"{R}/a.txz"), run({"a.tbz": tar(TOP, bz2.compress)}, source=f"{R}/a.tbz"), run({"a.tgz": A}, source=f"file://{R}/a.tgz"), run({"a.bin": A}, source=f"{R}/a.bin", steps=TWICE), run({"a.bin": A}, source=f"{R}/a.bin", archive_format="tar")
run({"a.tar.gz": A}, archive_format="TAR", steps=TWICE), run({"a.tar.gz": A}, archive_format="lzh", steps=TWICE), run({}, steps=TWICE), run({"a.tar.gz": A}, name="rel", steps=TWICE), run({"a.tar.gz": A}, name="", steps=TWICE), run({"a.tar.gz": A, "d": "file\n"}, steps=TWICE)
run({"a.tar.gz": A}, source=[f"{R}/none.tgz", f"{R}/a.tar.gz"]), run({"a.tar.gz": A}, source=[f"{R}/none.tgz"], steps=TWICE), run({"a.tar.gz": A}, source="", steps=TWICE), run({"a.tar.gz": "no archive\n"}, steps=TWICE, drop=["comment"]), run({"a.tar.gz": tar(BOMB)}, steps=TWICE), run({"a.tar.gz": tar(BOMB)}, enforce_toplevel=False), run({"a.tar.gz": tar({"a/x": "1", "b/y": "2"})}, steps=TWICE), run({"a.tar.gz": tar({"a/x": "1", "b/y": "2"})}, enforce_toplevel=False)
# what is there
run({"a.tar.gz": A, "d": {"dir": {"top": {"dir": {"f": "other\n", "more": "m\n"}}}}}), run({"a.tar.gz": A, "d": {"dir": {"top": {"dir": {"f": "other\n", "more": "m\n"}}}}}, overwrite=True), run({"a.tar.gz": A, "d": {"dir": {"top": {"dir": {"f": "other\n", "more": "m\n"}}}}}, overwrite=True, clean=True), run({"a.tar.gz": A, "d": {"dir": {"old": "o\n"}}}, clean_parent=True)
run({"a.tar.gz": A, "d": {"dir": {"old": "o\n"}}}, clean=True), run({"a.tar.gz": A}, clean=True, clean_parent=True, steps=TWICE), run({"a.tar.gz": A, "d": {"dir": {"top": "file\n"}}}, steps=TWICE), run({"a.tar.gz": A, "d": {"dir": {"top": "file\n"}}}, force=True, steps=("run", "run")), run({"a.tar.gz": A, "d": {"dir": {"top": "file\n"}}}, clean=True), run({"a.tar.gz": A, "d": {"dir": {"top": "file\n"}}}, clean_parent=True, steps=("test",))
run({"a.tar.gz": A, "d": {"dir": {"top": {"dir": {"f": {"dir": {}}}}}}}, steps=TWICE), run({"a.tar.gz": A, "d": {"dir": {"top": {"dir": {"f": {"dir": {"x": "y"}}}}}}}, force=True, steps=("run", "run")), run({"a.tar.gz": tar(TOP), "d": {"dir": {"top": {"dir": {"f": "x", "link": "no link\n"}}}}}, steps=TWICE)
run({"a.tar.gz": A, "marker": ""}, if_missing=f"{R}/marker", steps=TWICE), run({"a.tar.gz": A}, if_missing=f"{R}/marker"), run({"a.tar.gz": A}, if_missing="rel", steps=TWICE), run({"a.tar.gz": A}, enforce_ownership_on="rel", steps=TWICE), run({"a.tar.gz": A}, enforce_ownership_on=f"{R}/e", steps=TWICE), run({"a.tar.gz": A}, enforce_ownership_on=f"{R}/d/top", user="root")
# digests
run({"a.tar.gz": A}, source_hash=f"sha256={SUM}"), run({"a.tar.gz": A}, source_hash=SUM), run({"a.tar.gz": A}, source_hash=SUM[::-1], steps=TWICE), run({"a.tar.gz": A}, source_hash=SUM[::-1], skip_verify=True), run({"a.tar.gz": A}, source_hash="junk", steps=TWICE), run({"a.tar.gz": A, "sums": f"{SUM}  a.tar.gz\n"}, source_hash=f"{R}/sums"), run({"a.tar.gz": A, "sums": f"{SUM}  other.tar.gz\n"}, source_hash=f"{R}/sums", source_hash_name="other.tar.gz")
run({"a.tar.gz": A}, source_hash_update=True, steps=TWICE), run({"a.tar.gz": A}, source_hash=SUM, source_hash_update=True, observe=CACHES), run({"a.tar.gz": A}, source_hash=SUM, skip_files_list_verify=True, source_hash_update=True), run({"a.tar.gz": A}, skip_files_list_verify=True, skip_verify=True, steps=TWICE)
B = tar({"top/f": "changed\n"})
run({"a.tar.gz": A, "b": B, "sums": f"{SUM} a.tar.gz\n"}, source_hash=f"{R}/sums", source_hash_update=True, steps=("run", f"cp b a.tar.gz; echo {hashlib.sha256(bytes.fromhex(B['hex'])).hexdigest()} a.tar.gz > sums", "test", "run", "run"), observe=CACHES)
# owners
run({"a.tar.gz": A}, user="root"), run({"a.tar.gz": A}, user="root", group="root"), run({"a.tar.gz": A}, user="nosuch_user", steps=TWICE), run({"a.tar.gz": A}, group="nosuch_group", steps=TWICE), run({"a.tar.gz": A}, user="daemon", group="daemon", observe="stat -c '%U:%G %n' d/top d/top/f 2>/dev/null || true"), run({"a.tar.gz": tar(BOMB)}, enforce_toplevel=False, user="daemon", observe="stat -c '%U:%G %n' d/f d/g 2>/dev/null || true")
run({"a.tar.gz": A, "d": {"dir": {"top": {"dir": {"f": "one\n"}}}}}, user="daemon", observe="stat -c '%U:%G %n' d/top d/top/f 2>/dev/null || true")
# options
run({"a.tar.gz": tar(TOP)}, options="v"), run({"a.tar.gz": A}, options="-z"), run({"a.tar.gz": A}, options="z --strip-components=1", enforce_toplevel=False), run({"a.tar.gz": A}, options="--strip 1", enforce_toplevel=False), run({"a.tar.gz": A}, options="--no-such-option", steps=TWICE, drop=["pid", "stderr"]), run({"a.tar.gz": A}, options=""), run({"a.tar.gz": tar(TOP)}, trim_output=2), run({"a.tar.gz": tar(TOP)}, trim_output=True), run({"a.tar.gz": tar(TOP)}, trim_output="2", options="v"), run({"a.tar.gz": A}, trim_output=["x"], steps=TWICE), run({"a.tar.gz": A}, password="x", steps=TWICE)
run({"a.tar.gz": A}, keep=False, keep_source=True, steps=TWICE), run({"a.rar": "x"}, source=f"{R}/a.rar", steps=TWICE)
# zip
Z = packed({"top/": "", "top/f": "one\n", "top/g": "two\n"})
for more in [{}, dict(extract_perms=False), dict(use_cmd_unzip=True), dict(options="-o"), dict(trim_output=1), dict(source_hash=hashlib.sha256(bytes.fromhex(Z["hex"])).hexdigest()), dict(user="daemon"), dict(password="unneeded")]:
    run({"a.zip": Z}, source=f"{R}/a.zip", **more)
run({"a.zip": Z}, source=f"{R}/a.zip", options="-o", use_cmd_unzip=False, steps=TWICE), run({"a.zip": packed({"f": "x"})}, source=f"{R}/a.zip", steps=TWICE), run({"a.zip": A}, source=f"{R}/a.zip", steps=TWICE)
E = encrypted()
run({"e.zip": E}, source=f"{R}/e.zip", steps=TWICE), run({"e.zip": E}, source=f"{R}/e.zip", password="word"), run({"e.zip": E}, source=f"{R}/e.zip", password="wrong", steps=TWICE, drop=["comment"]), run({"e.zip": E}, source=f"{R}/e.zip", password="word", use_cmd_unzip=True, steps=TWICE, drop=["extracted_files"])  # ours does not start unzip, which writes these lines
# the file server
S = {"srv": {"dir": {"x": {"dir": {"a.tar.gz": A}}, "z.zip": Z}}}
run(S, source="salt://x/a.tar.gz"), run(S, source="salt://x/a.tar.gz", keep=False, observe="find ../var -name a.tar.gz 2>/dev/null | sed 's,.*/files,,'"), run(S, source="salt://x/a.tar.gz", observe="find ../var -name a.tar.gz 2>/dev/null | sed 's,.*/files,,'"), run(S, source="salt://none.tar.gz", steps=TWICE), run(S, source="salt://z.zip"), run(S, source=["salt://none.tgz", "salt://x/a.tar.gz"]), run(S, source="salt://x/a.tar.gz", source_hash=SUM[::-1], steps=TWICE)
run(S, source="salt://x/a.tar.gz", source_hash=SUM, skip_files_list_verify=True, source_hash_update=True, observe=CACHES)
