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
