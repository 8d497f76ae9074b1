# The cases of the smaller modules: read by make_file_calls.py.
HT = {"h": "# head\n127.0.0.1 localhost\n10.0.0.1\tone two # a comment\n\n10.0.0.2 three\n10.0.0.1 four\n"}


def hosts(fun, *args, **kw):
    c(f"hosts.{fun}", *args, tree=kw.pop("tree", HT), **kw)


for fun, argss in {
    "list_hosts": [()], "get_ip": [("one",), ("three",), ("nope",)], "get_alias": [("10.0.0.1",), ("9.9.9.9",)],
    "has_pair": [("10.0.0.1", "one"), ("10.0.0.1", ["one", "four"]), ("10.0.0.1", ["one", "nope"]), ("9.9.9.9", "x")],
    "set_host": [("10.0.0.1", "new"), ("10.0.0.9", "nine"), ("10.0.0.1", ""), ("10.0.0.1", "a b", "why")],
    "rm_host": [("10.0.0.1", "one"), ("10.0.0.2", "three"), ("10.0.0.2", "nope")], "add_host": [("10.0.0.2", "more"), ("10.0.0.8", "eight"), ("10.0.0.2", "three")],
    "set_comment": [("10.0.0.2", "text"), ("10.0.0.1", "a comment"), ("9.9.9.9", "x")],
}.items():
    for args in argss:
        hosts(fun, *args)
hosts("set_host", "1.2.3.4", "x", tree={}), hosts("list_hosts", tree={}), hosts("add_host", "1.2.3.4", "x", tree={"h": "5.6.7.8 y"}), hosts("set_host", "1.2.3.4", "x", tree={"h": "5.6.7.8 y"})

I = {"i": "top = 1\n# comment\n;other\n[first]\na = 1\nb=2\n#c = 3\n  \tindented\nno separator\n\n[second]\nkey: v\n a = deep\n"}
for args in [("", "top"), ("first", "a"), ("first", "b"), ("first", "c"), ("second", "key"), ("none", "x"), ("first", "nope"), ("", "nope"), ("top", "x")]:
    c("ini.get_option", f"{R}/i", *args, tree=I)
for args in [("first",), ("second",), ("none",)]:
    c("ini.get_section", f"{R}/i", *args, tree=I), c("ini.remove_section", f"{R}/i", *args, tree=I)
c("ini.get_ini", f"{R}/i", tree=I), c("ini.get_ini", f"{R}/none"), c("ini.get_ini", f"{R}/i", separator=":", tree=I), c("ini.get_ini", f"{R}/i", tree={"i": "a 1\nb  2\n"}, separator=" ")
for sections in [{"first": {"a": "9"}}, {"first": {"a": 1}}, {"first": {"c": "3"}}, {"new": {"x": "y"}}, {"top": "2"}, {"first": {"a": "1"}, "second": {"z": True}}, {}, {"new": {"sub": {"q": "r"}}}, {"first": {"d": None}}]:
    c("ini.set_option", f"{R}/i", sections, tree=I), c("ini.set_option", f"{R}/i", sections, no_spaces=True, tree=I)
c("ini.set_option", f"{R}/new", {"s": {"a": "b"}, "t": 1}), c("ini.set_option", f"{R}/i", {"b": "3"}, separator=" ", tree={"i": "a 1\nb  2\n"}), c("ini.set_option", f"{R}/i", {"s": {"a": "2"}}, separator=":", tree={"i": "[s]\na: 1\n"})
c("ini.set_option", f"{R}/i", {"s": {"a": "2"}}, tree={"i": {"text": "[s]\r\na=1\r\n", "mode": "0600"}}), c("ini.set_option", f"{R}/i", {"s": {"a": "2"}}, tree={"i": "[s]\n#a=1\na=0\n[s]\nb=1\n"})
for args in [("first", "a"), ("first", "nope"), ("", "top"), ("second", "key")]:
    c("ini.remove_option", f"{R}/i", *args, tree=I)

for instr in ["get salted", "", "\u00e4\u00f6", "x" * 100]:
    for fun in ["base64_b64encode", "base64_encodestring", "md5_digest", "sha256_digest", "sha512_digest", "digest"]:
        c(f"hashutil.{fun}", instr)
for instr in ["Z2V0IHNhbHRlZA==", "Z2V0IHNhbHRlZA==\n", "//79", "", "Z2V0", "Z2V"]:
    c("hashutil.base64_b64decode", instr), c("hashutil.base64_decodestring", instr)
c("hashutil.digest", "x", "sha256"), c("hashutil.digest", "x", "nope"), c("hashutil.digest_file", f"{R}/a.txt", tree=T), c("hashutil.digest_file", f"{R}/a.txt", "sha512", tree=T), c("hashutil.digest_file", f"{R}/none")
c("hashutil.base64_encodefile", f"{R}/a.txt", tree=T), c("hashutil.base64_decodefile", "Z2V0IHNhbHRlZA==", f"{R}/o"), c("hashutil.hmac_compute", "get salted", "shared secret")
c("hashutil.hmac_signature", "get salted", "shared secret", "eBWf9bstXg+NiP5AOwppB5HMvZiYMPzEM9W5YMm/AmQ="), c("hashutil.hmac_signature", "get salted", "shared secret", "x")
c("hashutil.github_signature", "x", "y", "sha1=bc6550fc290acf5b42283fa8deaf55cea0f8c206"), c("hashutil.github_signature", "x", "y", "junk")
import hmac as _hmac
c("hashutil.github_signature", "x", "y", "sha256=" + _hmac.new(b"y", b"x", "sha256").hexdigest())

for n in [1, 2, 10, 100, 86400, 10**6]:
    c("random.seed", n), c("random.seed", n, hash="web2.example.com"), c("random.rand_int", 0, n, seed=42), c("random.rand_int", 0, n, seed="text")
for size in [0, 1, 3, 5]:
    c("random.sample", ["a", "b", "c", "d", "e"], size, seed="s"), c("random.sample", list(range(100)), size * 5, seed="s")
c("random.sample", ["a"], 3, seed="s"), c("random.shuffle", list(range(30)), seed="static"), c("random.shuffle", [], seed="x")
for a in ["md5", "sha1", "sha256", "sha512", "nope"]:
    c("random.hash", "I am a string", a)
c("random.str_encode", "I am"), c("random.str_encode", "x", "zlib"), c("random.str_encode", 5)
for a, s in [("md5", "My5alT"), ("sha256", "My5alT"), ("sha512", "My5alT"), ("crypt", "ab"), ("nope", "x")][:4]:
    c("random.shadow_hash", s, "MyP@asswd", a)
c("random.get_str", 5, chars="a"), c("random.get_str", 0)

for dest, src, kw in [({"a": "b"}, {"d": "e"}, {}), ({"a": {"b": 1, "c": 2}}, {"a": {"c": 3}}, {}), ({"l": [1, 2]}, {"l": [2, 3]}, {}), ({"l": [1, 2]}, {"l": [2, 3]}, dict(merge_lists=True)),
                      (None, {"a": 1}, {}), (None, {"a": 1}, dict(in_place=False)), ({"a": 1}, None, {}), ({"a": 1}, {"a": {"b": 1}}, {}), ({"a": 1}, None, dict(convert_none=False))]:
    c("defaults.merge", dest, src, **kw)
c("defaults.update", {"n1": {"a": 1}, "n2": {}}, {"a": 0, "b": [1]}), c("defaults.update", {"n": {"l": [2]}}, {"l": [1]}), c("defaults.update", {"n": {"l": [2]}}, {"l": [1]}, merge_lists=False), c("defaults.deepcopy", {"a": [1]})
c("defaults.update", {"n": None}, {"l": [1]}), c("defaults.update", None, {})
for fun in ["load", "items", "keys", "values", "clear"]:
    c(f"data.{fun}")
c("data.get", "k"), c("data.get", "k", 5), c("data.get", ["a"], 1), c("data.get", ["a"]), c("data.has_key", "k"), c("data.cas", "k", 1, 2), c("data.dump", "5")
c("environ.get", "NO_SUCH_VARIABLE_X"), c("environ.get", "NO_SUCH_VARIABLE_X", default=5), c("environ.has_value", "NO_SUCH_VARIABLE_X"), c("environ.get", 5), c("environ.item", "NO_SUCH_VARIABLE_X", default="d"), c("environ.item", ["NO_SUCH_VARIABLE_X"])
c("environ.setval", "CALLS_X", "1"), c("environ.setval", "CALLS_X", 5), c("environ.setval", "CALLS_X", False), c("environ.setval", "CALLS_X", False, false_unsets=True), c("environ.setenv", {"CALLS_Y": "1", "CALLS_Z": False}), c("environ.setenv", {"CALLS_Y": 1}), c("environ.setenv", "x")

SK = {"kh": "", "ak": 'from="1.2.3.4",no-pty ssh-rsa QUJD one comment\n# note\n\nssh-ed25519 REVG\nnonsense\n', "priv": "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n", "plain": "-----BEGIN OPENSSH PRIVATE KEY-----\nx\n",
      "keys": "ssh-rsa QUJD one comment\nssh-dss R0hJ new\n", "kd": {"dir": {"ssh_host_rsa_key": "p\n", "ssh_host_rsa_key.pub": "q r\n", "ssh_host_rsa_key-cert.pub": "c\n", "other": "x"}}}
AK = f"{R}/ak"
c("ssh.auth_keys", "root", AK, tree=SK), c("ssh.auth_keys", ["root"], AK, tree=SK), c("ssh.auth_keys", "nosuch", AK, tree=SK), c("ssh.auth_keys", "root", AK, "md5", tree=SK), c("ssh.auth_keys", "root", AK, "nope", tree=SK), c("ssh.auth_keys", "root", f"{R}/none")
for key, enc, comment, options in [("QUJD", "ssh-rsa", "one comment", ['from="1.2.3.4"', "no-pty"]), ("QUJD", "rsa", "other", []), ("WFla", "ed25519", "", []), ("QUJD", "bogus", "", []), ("REVG", "ed25519", "", [])]:
    c("ssh.check_key", "root", key, enc, comment, options, AK, tree=SK), c("ssh.set_auth_key", "root", key, enc, comment, options, AK, tree=SK)
c("ssh.set_auth_key", "root", "not base64!", "rsa", config=AK, tree=SK), c("ssh.set_auth_key", "root", "QUJ", "rsa", config=AK, tree=SK), c("ssh.set_auth_key", "nosuch", "QUJD", config=AK, tree=SK), c("ssh.set_auth_key", "root", "QUJD", config=f"{R}/d/new", tree=SK)
for key in ["QUJD", "REVG", "nope"]:
    c("ssh.rm_auth_key", "root", key, AK, tree=SK)
c("ssh.check_key_file", "root", f"{R}/keys", AK, tree=SK), c("ssh.check_key_file", "root", f"{R}/none", AK), c("ssh.check_key_file", "root", f"{R}/kh", AK, tree=SK), c("ssh.set_auth_key_from_file", "root", f"{R}/none", AK), c("ssh.rm_auth_key_from_file", "root", f"{R}/none", AK), c("ssh.set_auth_key_from_file", "root", f"{R}/keys", AK, tree=SK), c("ssh.rm_auth_key_from_file", "root", f"{R}/keys", AK, tree=SK), c("ssh.rm_auth_key_from_file", "root", f"{R}/kh", AK, tree=SK)
c("ssh.set_auth_key_from_file", "root", f"{R}/keys", AK, options=["no-pty"], tree=SK), c("ssh.key_is_encrypted", f"{R}/priv", tree=SK), c("ssh.key_is_encrypted", f"{R}/plain", tree=SK), c("ssh.key_is_encrypted", f"{R}/keys", tree=SK)
c("ssh.host_keys", f"{R}/kd", tree=SK), c("ssh.host_keys", f"{R}/kd", private=False, tree=SK), c("ssh.host_keys", f"{R}/kd", certs=False, tree=SK), c("ssh.user_keys", "root", pubfile=f"{R}/keys", prvfile=False, tree=SK), c("ssh.user_keys", "root", pubfile=False, prvfile=f"{R}/plain", tree=SK)
KEY = "AAAAC3NzaC1lZDI1NTE5AAAAIKFZx3ZLJ6dFBOlPDZ0ivZn1YIJ3ByHcAcDx7UIpzDsK"
KH = {"kh": f"h1 ssh-ed25519 {KEY}\nh2,10.0.0.1 ssh-ed25519 {KEY}\n[h3]:2222 ssh-ed25519 {KEY}\n"}
for host, kw in [("h1", {}), ("h2", {}), ("10.0.0.1", {}), ("h3", {}), ("h3", dict(port=2222)), ("nope", {})]:
    c("ssh.get_known_host_entries", "root", host, config=f"{R}/kh", tree=KH, **kw), c("ssh.check_known_host", "root", host, config=f"{R}/kh", tree=KH, **kw)
c("ssh.check_known_host", "root", "h1", key=KEY, config=f"{R}/kh", tree=KH), c("ssh.check_known_host", "root", "h1", key="x", config=f"{R}/kh", tree=KH), c("ssh.check_known_host", "root", "h1", fingerprint="aa", config=f"{R}/kh", tree=KH), c("ssh.check_known_host", "root", config=f"{R}/kh"), c("ssh.get_known_host_entries", "nosuch", "h1"), c("ssh.check_known_host", None, "h1", config="rel")
c("ssh.set_known_host", "root", "h1", key=KEY, enc="ssh-ed25519", config=f"{R}/kh", hash_known_hosts=False, tree=KH), c("ssh.set_known_host", "root", "h9", key=KEY, enc="ssh-ed25519", config=f"{R}/kh", hash_known_hosts=False, tree=KH), c("ssh.set_known_host", "root", "h9", key=KEY, enc="ssh-ed25519", port=2222, config=f"{R}/kh", hash_known_hosts=False, tree=KH)
c("ssh.set_known_host", "root", "h1", key=KEY[:-4] + "abcd", enc="ssh-ed25519", config=f"{R}/kh", hash_known_hosts=False, tree=KH), c("ssh.set_known_host", "root", "h9", port=2222, config=f"{R}/kh"), c("ssh.set_known_host", "root", config=f"{R}/kh"), c("ssh.set_known_host", "root", "n", key=KEY, enc="ssh-ed25519", config=f"{R}/d/kh", hash_known_hosts=False)
c("ssh.rm_known_host", "root", config=f"{R}/kh"), c("ssh.rm_known_host", "root", "h1", config=f"{R}/none"), c("ssh.hash_known_hosts", "root", config=f"{R}/none")

import io, tarfile as _tar, zipfile as _zip


def tar_hex(mode, names):
    out = io.BytesIO()
    with _tar.open(fileobj=out, mode=mode, **({"format": _tar.PAX_FORMAT})) as t:
        for name, kind in names:
            info = _tar.TarInfo(name)
            info.type = {"d": _tar.DIRTYPE, "l": _tar.SYMTYPE, "f": _tar.REGTYPE}[kind]
            info.linkname = "target" if kind == "l" else ""
            data = b"x" * 700 if kind == "f" else b""
            info.size = len(data)
            t.addfile(info, io.BytesIO(data))
    return out.getvalue().hex()


def zip_hex(names):
    out = io.BytesIO()
    with _zip.ZipFile(out, "w") as z:
        for name, mode, data in names:
            info = _zip.ZipInfo(name)
            info.external_attr = mode << 16
            z.writestr(info, data, _zip.ZIP_DEFLATED)
    return out.getvalue().hex()


TN = [("top", "d"), ("top/a.txt", "f"), ("top/l", "l"), ("top/sub", "d"), ("top/sub/" + "n" * 150, "f"), ("top/\u00e4", "f")]
ZN = [("top/", 0o40755, b""), ("top/a.txt", 0o100640, b"hello"), ("top/l", 0o120777, b"a.txt"), ("top/sub/b", 0o100755, b"b" * 1000), ("plain", 0, b"p"), ("../up", 0o100644, b"u")]
AR = {"t.tar": {"hex": tar_hex("w", TN)}, "t.tgz": {"hex": tar_hex("w:gz", TN)}, "t.tar.bz2": {"hex": tar_hex("w:bz2", TN)}, "t.tar.xz": {"hex": tar_hex("w:xz", TN)}, "z.zip": {"hex": zip_hex(ZN)}, "junk.tar": "junk", "junk.zip": "junk", "x.bin": "x"}
for name in ["t.tar", "t.tgz", "t.tar.bz2", "t.tar.xz", "z.zip", "junk.zip", "x.bin", "none.zip", "none.tar"]:
    c("archive.list", f"{R}/{name}", tree=AR), c("archive.list", f"{R}/{name}", verbose=True, tree=AR)
c("archive.list", f"{R}/t.tar", strip_components=1, tree=AR), c("archive.list", f"{R}/z.zip", strip_components=1, verbose=True, tree=AR), c("archive.list", f"{R}/t.tar", strip_components=-1, tree=AR), c("archive.list", f"{R}/t.tar", archive_format="cab", tree=AR), c("archive.list", f"{R}/t.tar", "tar", tree=AR)
c("archive.is_encrypted", f"{R}/z.zip", tree=AR), c("archive.is_encrypted", f"{R}/junk.zip", tree=AR)
SAFE = {"z.zip": {"hex": zip_hex([n for n in ZN if n[0] != "../up"])}}
c("archive.unzip", f"{R}/z.zip", f"{R}/out", tree=SAFE), c("archive.unzip", f"{R}/z.zip", f"{R}/out", excludes="plain,top/l", tree=SAFE), c("archive.unzip", f"{R}/z.zip", f"{R}/out", trim_output=2, tree=SAFE), c("archive.unzip", f"{R}/junk.zip", f"{R}/out", tree=AR), c("archive.unzip", f"{R}/z.zip", f"{R}/out", extract_perms=False, excludes="top/l", tree=SAFE)
c("archive.tar", "xf", f"{R}/t.tar", dest=R, tree={"t.tar": {"hex": tar_hex("w", TN[:2])}}), c("archive.tar", "tf", f"{R}/t.tgz", tree=AR), c("archive.tar", "", "x"), c("archive.zip", f"{R}/new.zip", "rel"), c("archive.zip", f"{R}/new.zip", "rel", cwd="rel")
c("archive.gunzip", f"{R}/a.gz", tree={"a.gz": {"hex": "1f8b08000000000000034b040043beb7e801000000"}})
