"""Writes call_args.json beside itself; run it with the python of a Salt 3008.3 venv. Values are in the notation of README.md.

Each row is the command line after a function's name, with the published arguments, and the arguments that the minion passes to a function that
accepts all; or an `arg` of an API client, with the same results.
"""

import copy
import json
import pathlib

import salt.minion
import salt.utils.args

from typed import typed

HERE = pathlib.Path(__file__).parent


def anything(*args, **kwargs):
    pass


JID = "20240523101112123456"
LINES = [
    [], ["a", "b"], ["a=1", "b=2"], ["b=2", "a=1", "b=3"], ["x", "a=1", "y"], ["a=1", "x", "a=2"], ["a=", "b=''"], ["a= 1", "b=1 "], ["a==1"], ["a=b=c"],
    ["a=b==c"], ["=a"], ["=" ], [""], [" "], ["a b=1"], ["a.b=1", "a-b=2", "_c=3", "9d=4", "é=5"], ["a=None", "b=null", "c=~"], ["None", "null", "~"],
    ["a=[1, 2]", "b={x: 1}", "c=[1", "d={x"], ["[1,2]", "{x: 1}", "{}", "[]"], ["a=x: 1", "x: 1"], ["- a", "a=- b"], ["a=#x", "#x", "a=1 #x", "[1] #x", "a #x"],
    [JID], [f"jid={JID}"], [f"'{JID}'", f"-{JID}"[:20], JID + "0", JID[:19]], [f"jids=[{JID}, {JID}]"], ["a=1\n2", "b=\n", "a\nb=1"], ["a=1\t2", "x\ty"], ["a='1'", 'a="2"', "'x'"],
    ["1_000", "a=1_000", "0x1_0", "a=_1"], ["yes", "a=no", "On", "b=OFF", "y", "n", "a=Y"], ["0644", "mode=0644", "0o644", "'0644'"], ["1e3", "a=1.5e+3", ".5", "5.", "a=.inf", ".nan"[:4] + "x"],
    ["2020-01-01", "a=2020-01-01 10:00:00", "12:30:45", "a=190:20"], ["!x", "a=!!str 1", "!", "a=|", "|", ">"], ["&a x", "*a", "a=&b"], ["%x", "a=@x", "`x`"], ["http://x/?a=b", "url=http://x/?a=b"],
    ["C:\\x", "a=\\n", '"\\n"'], ["---", "...", "a=---", "a=..."], ["--x=1", "-x", "a=--b"], ["a=[{x: [1, {y: z}]}]"], ["a=!!python/object:x {}", "!!binary aGk=", "a=!!set {x}"], ["{a: 1, a: 2}", "x={<<: {a: 1}}"],
    ["[a, 'b', \"c\", 1.0, ~, yes]"], ["a=日本", "日本=a", "日本"], ["a={1: x, 2.5: y, ~: z, true: w}"], ["a=1,2", "1,2", "a,b=c"], ["a=0", "a=-0", "-0.0"], ["a=99999999999999999999999", "-9223372036854775809"],
    ["__kwarg__=True", "a=1"], ["__pub_fun=x"], ["test=True", "saltenv=base", "pillar={a: {b: c}}"], ["ps aux | grep x", "cwd=/tmp", "env={A: 1}", "env=[{A: '1'}]"],
]
NO_PARSE = [["a=1", "b=[1]", "c=yes"], ["a=None", "x", "b="], ["a=" + JID, "b=#x"]]
WIRE = [
    ["1", 1, None, True, 1.5], [{"__kwarg__": True, "a": 1}], [{"__kwarg__": True}], [{"__kwarg__": False, "a": 1}], [{"a": 1}], ["a=1", {"__kwarg__": True, "a": 2}], [{"__kwarg__": True, "a": 2}, "a=1"],
    ["a=[1]", "b==1", "c"], [["a=1"]], [{"__kwarg__": True, "a": "b=1"}], [{"__kwarg__": True, "x": 1}, {"__kwarg__": True, "x": 2, "y": 3}], [JID, int(JID)], ["a=" + JID], [b"a=1"], ["a=1\nb"], [""],
    ["x", {"__kwarg__": True, "1": 2}], [{"__kwarg__": "True", "a": 1}], [{"__kwarg__": 1}],
]

rows = []
for words in LINES:
    rows.append({"words": words})
for words in NO_PARSE:
    rows.append({"words": words, "no_parse": ["a", "b"]})
for arg in WIRE:
    rows.append({"arg": typed(arg)})
for row, words in zip(rows, [*LINES, *NO_PARSE, *WIRE]):
    published = words
    if "words" in row:
        published = salt.utils.args.parse_input(copy.deepcopy(words), no_parse=row.get("no_parse"))
        row["published"] = typed(published)
    args, kwargs = salt.minion.load_args_and_kwargs(anything, copy.deepcopy(published))
    row["args"], row["kwargs"] = typed(args), typed(kwargs)

lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
(HERE / "call_args.json").write_text(f"[\n{lines}\n]\n")
print(len(rows), "rows")
