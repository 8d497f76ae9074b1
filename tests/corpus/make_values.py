"""Writes msgpack.json, python_values.json and cli_args.json beside itself; run it with the python of a Salt 3008.3 venv.

Values are in the notation of README.md.
"""

import base64
import copy
import datetime
import functools
import hashlib
import json
import pathlib
import pprint

import msgpack
import salt.payload
import salt.utils.args

from typed import typed as plainly_typed

HERE = pathlib.Path(__file__).parent


class Many:
    """A long text, list or map, which the corpus describes instead of containing it."""

    def __init__(self, kind, count):
        self.kind, self.count = kind, count

    def value(self):
        if self.kind == "map":
            return {i: None for i in range(self.count)}
        return {"text": "x", "wide": "é", "bytes": b"\xff", "list": [None]}[self.kind] * self.count


def typed(v):
    return plainly_typed(v, named)


def named(v):
    if isinstance(v, Many):
        return ["many", v.kind, v.count]
    if isinstance(v, datetime.datetime):
        return f"s:{v}"
    raise TypeError(type(v))


def plain(v):
    return v.value() if isinstance(v, Many) else v


def short(b):
    """Base64; for long values the length, the first bytes and a hash."""
    if len(b) < 300:
        return base64.b64encode(b).decode()
    return [len(b), base64.b64encode(b[:8]).decode(), hashlib.sha256(b).hexdigest()]


def write(name, cases):
    lines = ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases)
    (HERE / name).write_text(f"[\n{lines}\n]\n")


# --- msgpack -----------------------------------------------------------------------------------------------------------

INT_EDGES = sorted(
    {s * (2**bits) + d for bits in (0, 5, 7, 8, 15, 16, 31, 32, 53, 63, 64, 70) for s in (1, -1) for d in (-1, 0, 1)}
)
FLOATS = [
    0.0, -0.0, 1.0, -1.0, 0.1, 1.5, 1e16, 1e15, 123456789012345680.0, 1e22, 1e300, 5e-324, 1e-4, 1e-5, 1.5e-7, 0.00012345,
    2.0**53, 2.0**64, 1 / 3, float("inf"), float("-inf"), 1.7976931348623157e308, 123456.789, 100000000000000000000.0,
]  # fmt: skip
TEXTS = [
    "", "a", "test.ping", "x" * 31, "x" * 32, "é", "é" * 15, "é" * 16, "ab" * 15 + "é", "日本語", "🧂", "a\x00b", "\x7f", "\ufeffbom",
    "line\nline", "tab\there", "it's", '"', "it's \"both\"", "back\\slash", "\x1b[31mred", "\x85\xa0\u2028\u200b", "\u0301", "\ue000",
    "\U0010ffff", "\xad", "ÿ", "\u0378",
]  # fmt: skip
BYTES = [b"", b"abc", b"\xff", b"\xff" * 31, b"\xff" * 32, b"\xc3\xa9", b"\xc3", b"\xed\xa0\x80", b"it's", b"'\"", b"\x00\n\\"]
MANY = [
    Many(kind, n)
    for kind, counts in {
        "text": (47, 48, 49, 255, 256, 65535, 65536),
        "wide": (24, 127, 128, 255, 32767, 32768),
        "bytes": (255, 256, 65535, 65536),
        "list": (15, 16, 65535, 65536),
        "map": (15, 16, 65535, 65536),
    }.items()
    for n in counts
]
NESTED = [
    [], {}, [[]], [{}], {"a": []}, [1, "a", None, True, 1.0, b"\xff"], {"a": {"b": {"c": [1, [2, [3]]]}}},
    {22: "int", "22": "text", 2.5: "float", None: "none", True: "bool", b"\xfe": "bytes"}, {"10": 1, "2": 2, "__proto__": 3},
    {"enc": "clear", "load": {"cmd": "_auth", "id": "web1", "nonce": "0" * 32, "pub": "-----BEGIN"}, "version": 3},
]  # fmt: skip

cases = []
for v in [None, True, False, *INT_EDGES, *FLOATS, *TEXTS, *BYTES, *MANY, *NESTED]:
    case = {"value": typed(v)}
    for dialect, bin_type, encoding in (("wire", False, None), ("disk", True, "utf-8")):
        packed = salt.payload.dumps(plain(v), use_bin_type=bin_type)
        case[dialect] = short(packed)
        if not isinstance(v, Many):
            # Bytes on the wire, and ints beyond 64 bits, are decoded to other values.
            back = salt.payload.loads(packed, encoding=encoding)
            if typed(back) != typed(v):
                case[dialect + "_reads"] = typed(back)
    cases.append(case)

when = datetime.datetime(2024, 1, 2, 3, 4, 5, 6)
packb = functools.partial(msgpack.packb, use_bin_type=True)
READ_ONLY = {
    "float32": b"\xca\x3f\x80\x00\x00", "float32 fraction": b"\xca\x3f\x00\x00\x00", "long ints": bytes.fromhex("94cc01cd0001ce00000001cf0000000000000001"),
    "long signed ints": bytes.fromhex("94d001d10001d200000001d3ffffffffffffffff"), "str8 short": b"\xd9\x01a", "str16 short": b"\xda\x00\x01a",
    "str32 short": b"\xdb\x00\x00\x00\x01a", "bin8": b"\xc4\x01a", "bin8 no text": b"\xc4\x01\xff", "bin16": b"\xc5\x00\x01a", "bin32": b"\xc6\x00\x00\x00\x01a",
    "array16 short": b"\xdc\x00\x01\x01", "array32 short": b"\xdd\x00\x00\x00\x01\x01", "map16 short": b"\xde\x00\x01\x01\x02", "map32 short": b"\xdf\x00\x00\x00\x01\x01\x02",
    "same key": b"\x83\xa1a\x01\xa1b\x02\xa1a\x03", "same key as int and float": b"\x82\x01\xa1a" + packb(1.0) + b"\xa1b",
    "same key as float and int": b"\x82" + packb(1.0) + b"\xa1a\x01\xa1b", "same key as bool and int": b"\x82\xc3\xa1a\x01\xa1b", "same key as int and bool": b"\x82\x00\xa1a\xc2\xa1b",
    "same key as big float and int": b"\x82" + packb(2.0**60) + b"\xa1a" + packb(2**60) + b"\xa1b", "same bytes key": b"\x82\xc4\x01\xff\xa1a\xc4\x01\xff\xa1b",
    "datetime": salt.payload.dumps(when), "datetime without microseconds": salt.payload.dumps(when.replace(microsecond=0)), "date": salt.payload.dumps(datetime.date(2024, 2, 29)),
    "datetime in a map": salt.payload.dumps({"at": when}), "datetime ext8": b"\xc7\x18\x4e20240102T03:04:05.000006",
    "datetime of no day": b"\xc7\x18\x4e20230229T03:04:05.000006", "datetime of no hour": b"\xc7\x18\x4e20230228T24:04:05.000006", "datetime of text": b"\xd4\x4ea",
    "nothing": b"", "never used": b"\xc1", "two values": b"\x01\x02", "truncated text": b"\xa2a", "truncated list": b"\x92\x01", "truncated map": b"\x81\x01",
    "huge text": b"\xdb\xff\xff\xff\xffa", "huge list": b"\xdd\xff\xff\xff\xff\x01", "huge map": b"\xdf\xff\xff\xff\xff\x01", "huge extension": b"\xc9\xff\xff\xff\xff\x4e",
    "list as key": b"\x81\x90\x01", "map as key": b"\x81\x80\x01", "truncated int": b"\xce\x00\x00", "truncated float": b"\xcb\x00",
}  # fmt: skip
for name, packed in READ_ONLY.items():
    case = {"name": name, "bytes": base64.b64encode(packed).decode()}
    for dialect, encoding in (("wire", None), ("disk", "utf-8")):
        try:
            case[dialect] = typed(salt.payload.loads(packed, encoding=encoding))
        except salt.payload.SaltDeserializationError:
            pass  # refused
    cases.append(case)
write("msgpack.json", cases)

# --- repr, str, order, JSON, pprint ----------------------------------------------------------------------------------------

WORDY = " ".join(["lorem", "ipsum", "dolor", "sit", "amet"] * 6)
PRINTED = [
    {"k" * 90: ""}, {"k" * 90: {"k": "", "l": [], "m": b"", "n": {}}}, [[["" for _ in range(40)]]],
    "a" * 100, WORDY, WORDY + " ", " " * 100, "a\n" * 50, WORDY + "\n" + WORDY, "x" * 78, "x" * 79, "y" * 76 + " z", "\r\n".join(["crlf " * 9] * 3), "日本" * 50,
    "🧂 " * 60, "\u3000".join(["wide"] * 30), "nbsp\xa0" * 30, "it's\t" * 30, "a\x1cb" * 40, bytes(range(256)), b"abc" * 40, b"\n" * 40, b"x" * 77, b"x" * 78,
    list(range(40)), [WORDY], [WORDY, 1], [[WORDY]], {"key": WORDY}, {"key": WORDY, "next": 1}, {"a": {"b": {"c": WORDY}}}, {"k" * 90: "v"}, {"long key " * 9: [1, 2, 3]},
    ["x" * 76], ["x" * 77], ["x" * 75, 1], {"b": 1, "a": 2, "B": 3, "é": 4, "z": {"2": 1, "10": 2}}, {2: "b", 1.5: "a", 10: "c"}, {i: i * i for i in range(30, 0, -1)},
    [{"id": f"web{i}", "roles": ["www", "db"], "up": True} for i in range(5)], {"bytes": b"\xff" * 30}, {"bytes": bytes(range(100)), "z": 1}, [b"\x00" * 20, b"ab"],
    {"local": {"pid": 1, "stdout": "Linux 6.1\nline two\n" * 5, "stderr": "", "retcode": 0}}, [[]] * 40, [{}] * 40, {"a": []}, {"deep": [[[[[[["x" * 60]]]]]]]},
    {"mixed": [None, True, 1.0, 1e100, -0.0, 2**70, "é"]}, {"emoji🧂🧂": ["🧂" * 20, "🧂" * 20]}, {None: 1}, {True: 1, False: 2}, {"b": 1, 2: 2, None: 3, b"x": 4, "a": 5, 1.5: 6}, {"t": "word " * 14 + "end"}, ["word " * 14 + "en", 0],
    {"\ue000": 1, "🧂": 2, "z": 3}, ["a" * 60 + "\n" + "b" * 60 + "\n"], {"k": "\n\n" + "z" * 90}, "\x85".join(["nel"] * 30), "a\u2028b" * 30, "word\x1f" * 30, "word\ufeff" * 30,
    *([b"x" * n, 1] for n in range(68, 82)), *({"key": b"x" * n} for n in range(62, 76)), *(b"\n" * n for n in range(36, 42)),
    *(["word " * 28 + "y" * n + "\n" + "z" * (n + 70)] for n in range(12)), *({"key": "word " * 13 + "y" * n + "\nz"} for n in range(8)), *("word " * 14 + "y" * n for n in range(4, 12)),
]  # fmt: skip

cases = []
for v in [None, True, False, *INT_EDGES, *FLOATS, float("nan"), *TEXTS, *BYTES, *NESTED, *PRINTED]:
    case = {"value": typed(v), "repr": repr(v), "str": str(v), "true": bool(v)}
    try:
        case["json"] = {
            "plain": json.dumps(v, default=repr, ensure_ascii=False),
            "ascii": json.dumps(v, default=repr),
            "indent4": json.dumps(v, default=repr, ensure_ascii=False, indent=4),
            "indent0": json.dumps(v, default=repr, indent=0),
        }
        case["json"]["sorted"] = json.dumps(v, default=repr, ensure_ascii=False, sort_keys=True)
    except TypeError:
        pass  # keys that Python does not write, or does not sort
    if v not in NESTED[7:8]:  # its order of keys of different types is random
        case["pformat"] = {str(w): pprint.pformat(v, width=w) for w in (80, 40)}
        case["pformat"]["80,4"] = pprint.pformat(v, indent=4)
    cases.append(case)

ORDERED = [
    None, False, True, -1, 0, 1, 2**53, 2**53 + 1, 2**64, -(2**64), 0.0, -0.0, 1.0, 1.5, 2.0**53, float("inf"), float("-inf"), float("nan"),
    "", "a", "b", "ab", "é", "\ue000", "🧂", "🧂a", "🧃", b"", b"a", b"ab", b"\xff", [], [1], [1.0], [1, 2], ["a"], {}, {"a": 1}, {"a": 1.0}, {"a": 1, "b": 2}, {"b": 2, "a": 1},
    {1: "x"}, {1.0: "x"}, {True: "x"}, {b"k": 1}, {"1": "x"}, {"a": None}, {"b": None},
]  # fmt: skip


def less(a, b):
    try:
        return "1" if a < b else "0"
    except TypeError:
        return "-"  # Python refuses


equal_rows = ["".join("1" if a == b else "0" for b in copy.deepcopy(ORDERED)) for a in ORDERED]
less_rows = ["".join(less(a, b) for b in ORDERED) for a in ORDERED]
cases.append({"ordered": [typed(v) for v in ORDERED], "equal": equal_rows, "less": less_rows})

JSON_TEXTS = [
    "1", "-1", "0", "-0", "1.0", "-0.0", "1e3", "1E+2", "1e400", "123456789012345678901234567890", "true", "false", "null", "NaN", "Infinity", "-Infinity", '"a"', '"\\u00e9\\n\\/"',
    '"\\ud83e\\uddc2"', "[]", "{}", " [ 1 , 2 ] ", '{"b":1,"a":2,"b":3}', '{"10":1,"2":2}', "[1,]", "[,1]", "{,}", '{"a"}', "{1:2}", "01", "1.", ".5", "+1", "-", "1e", "0x10", "'a'", '"a',
    '"\t"', '"\\x41"', '"\\u12"', "tru", "nul", "[1 2]", "1 2", "", " ", "[", "{", '{"a":', "\u00a01", "-NaN", "[1]]", '"\x7f\u2028"', '{"a":{"b":[1,{"c":null}]}}', "\ufeff1",
    '"\\"', '"\\\\"', "9007199254740993", "-9007199254740993", "1" * 4300, "1" * 4301,
    '{"a":1 "b":2}', '"a\\', '["a\\',
]  # fmt: skip
for text in JSON_TEXTS:
    case = {"json_text": text}
    try:
        case["reads"] = typed(json.loads(text))
    except ValueError:
        pass  # refused
    cases.append(case)
write("python_values.json", cases)

# --- command lines -----------------------------------------------------------------------------------------------------------

CLI_WORDS = [
    "1", "-1", "+1", "1.0", "-1.5", ".5", "1.", "1e3", "1e+3", "1.0e+3", "1.0e3", "0644", "0o644", "00", "0", "-0", "0x1F", "0X1F", "0b101", "010", "09", "-010", "yes", "No", "on", "OFF", "y", "n",
    "True", "true", "TRUE", "tRUE", "false", "None", "none", "null", "Null", "~", "nil", "{a: 1}", "{a: 1, b: [x, y]}", "{}", "[]", "[1, 2]", "[1, [2.0, x]]", "{a: 1", "[1, 2", "{a}", "{a, b}", "{a:1}",
    "2024-01-02", "2024-01-02 03:04:05", "2024-01-02T03:04:05Z", "12:30:45", "1:30", "12345678901234567890", "20240523101112123456", "-1234567890123456789", "18446744073709551616", "123456789012345678901",
    "1234567890123456789", "1_000", "1_0.5", "_1", "1_", "__", "_", "0x_1", "", " ", "   ", "---", "...", " --- ", "--- a", "#", "# a", " # a", "a # b", "a#b", "1 # one", "[1, 2] # list", "{a: 1} # map", "a: 1 # map",
    "- 1 # list", "!", "|", ">", "!!", "&", "*", "*.txt", "&a 1", "%", "@", "`", "'", "\"", "'1'", "\"1\"", "'a' b", "a: b", "a:", "a:b", ": a", ":", "- a", "-", "--", "- ", "?", "? a", "? a : b", "a, b", "[a: 1]",
    "a\tb", "a\nb", "1\n", "1\r", "\t1", " 1", "1 ", " 1 ", " {a: 1}", " [1]", "é", "ключ: 1", "日本", "\x07", "a\x00b", "\x1c", "\xa0", "\u2028", "\ufeff", "\ufeff1", "🧂", "!!str 1", "!!int '7'", "!!float 3", "!!binary aGVsbG8=",
    "!!set {a, b}", "!!omap [a: 1]", "!!python/none", "!!python/object:os.system x", "!foo bar", "!!binary aGVsbG8= # x", "!!null x", "<<", "<<: {a: 1}", "{<<: {a: 1}, b: 2}", "=", "==", "{a: 1, a: 2}", "{1: a, 0x1: b}",
    "{[1]: 2}", "{? a : b}", "{a: }", "{a: b: c}", "salt://a/b", "http://x/?a=b", "C:\\x", "*", "web*", "?", "@all", "%a", "a=", "inf", ".inf", "-.inf", ".nan", "1,000", "1.2.3", "3006.9", "1.10", "10e", "1e", "e1",
    "0.0", "-0.0", "1e400", "1.0e+400", "685_230.15", "190:20:30.15", "1.5e-7", "'it''s'", "\"\\x41\"", "\"\\n\"", "'", "''", "\"\"", "' '", "test.ping", "a b c", "ls -l | wc", "echo 'x: y'", "cmd: [x", "| a", "> a", "|-",
    "{a: 2024-01-02}", "[2024-01-02, 0644, yes]", "{a: 1_000}", "[None, null, ~]", "{None: 1}", "[1]x", "{a: 1}x", "a: [1", "a: {b", "+", "+.5", "-.5", "--1", "1-1", "0.", "00.5", "0b", "0x", "0b2", "08", "1:60", "-1:30",
    "[a=b]", "{a=b: c}", "%YAML 1.1", "a\\nb", "key: |", "- - 1", "[]]", "{}}", "<", "@", "!a", "!!int x", "!!bool yes", "\u0661", "１", "a\u00a0b", "a\x85b",
]  # fmt: skip
CLI_KWARGS = [
    "a=1", "a=", "a==1", "a=b=c", "a= 1", "a =1", "1a=1", "_a=1", "a.b=1", "a-b=1", "-a=1", ".a=1", "a b=1", "é=1", "日=1", "²=1", "a²=1", "a١=1", "١a=1", "a\u0301=1", "a=yes", "a=None", "a=[1, 2]", "a={x: 1}", "a=x: 1",
    "a=1\n", "a=x\ny", "a\n=1", "a=20240523101112123456", "a='1'", "a=#x", "a=http://x/?y=z", "=1", "a=\r", "a=\u2028x", "__kwarg__=True", "a=1_000", "metadata={foo: bar}", "A=1", "Ⅷ=1", "_=1", "a:b=1", "a/b=1", "a[0]=1",
]  # fmt: skip

cases = []
for word in [*dict.fromkeys(CLI_WORDS), *CLI_KWARGS]:
    args, kwargs = salt.utils.args.parse_input([word], condition=False)
    wire = salt.utils.args.parse_input([word])
    if isinstance(args, list) and args and isinstance(args[0], set):
        raise SystemExit(f"a set of {word!r}")
    case = {"word": word, "args": typed(args), "kwargs": typed(kwargs)}
    if wire != args and not kwargs:
        case["wire"] = typed(wire)
    cases.append(case)
write("cli_args.json", cases)
