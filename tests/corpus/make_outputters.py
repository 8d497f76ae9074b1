"""Writes the results of Salt's outputters for values, into files beside itself: the python of a Salt 3008.3 venv writes outputters.json, and that of
a Salt 3007.15 venv writes outputters_3007.json, with the outputters that 3008 no longer has.

Values are in the notation of README.md.
"""

import copy
import json
import pathlib
import re

import salt.config
import salt.output
import salt.version

from typed import typed

HERE = pathlib.Path(__file__).parent
OLD = salt.version.__version__.startswith("3007")
OPTS = salt.config.master_config("/dev/null")


rows = []


def add(out, value, differs=False, **options):
    """Adds a row; `differs` marks a row with another output of ours, which docs/differences.md documents."""
    row = {"out": out, "value": typed(value)}
    if differs:
        row["differs"] = True
    if options:
        row["options"] = options
    for name, color in (("text", False), ("color", True)):
        opts = {**copy.deepcopy(OPTS), **options, "color": color}
        try:
            text = salt.output.out_format(copy.deepcopy(value), out, opts)
        except Exception as exc:  # values for which Salt ends with a traceback
            text = {"error": type(exc).__name__}
        row[name] = text
    if row["color"] == row["text"]:
        del row["color"]
    rows.append(row)


# --- values for every outputter ----------------------------------------------------------------------------------------

WIDE = "日本語 ünï 😀 e\u0301"
RAGGED = [{"a": 1, "b": 2}, {"c": 3}]
PLAIN = [
    None, True, 0, -7, 1.5, 1e300, "", "text", "two\nlines", "trailing\n\n", "  indented  ", WIDE, b"bytes", b"\xff\xfe",
    [], {}, [1, [2, [3, []]], {"a": [1]}], [[], {}], ["", "a\nb", None],
    {"m1": True}, {"m1": None, "m2": "x\ny"}, {"m1": {"b": 1, "a": {"c": [], "d": {}}}}, {"m1": RAGGED},
    {"m1": WIDE, WIDE: {WIDE: [WIDE]}}, {1: "int", 2: "key"}, {"1": "mixed", 2: "keys", None: 0}, {"m1": "word " * 30},
    {"m1": {"long": "x" * 200, "list": ["y" * 90, "z " * 60]}}, {"m1": "tab\there"}, {"m1": "#: {a}, [b] - c"},
    {"m1": {"yes": "no", "null": "~", "date": "2020-01-01", "float": "1.0", "octal": "0644", "colon": "a: b", "dash": "- x"}},
    {"m1": 2**70, "m2": -0.0, "m3": 1e16}, {"m1": b"\x00\x01\xff", "m2": b"text"}, {"m1": [None, True, 1.0, "1"]},
    {"m1": "Minion did not return. [No response]\nTo look up the job:\n\nsalt-run jobs.lookup_jid 20240523101112123456"},
    {"m1": {"retcode": 0, "stdout": "a\nb", "stderr": "", "pid": 1}}, {"m1": [["a", 1], ["b", 2]]},
    {"minions": ["b", "a"], "minions_pre": ["ü"], "minions_rejected": [], "minions_denied": ["x"]},
    {"minions": {"m1": "aa:bb"}, "local": {"master.pem": "cc", "master.pub": "dd"}},
]
NEW = ["nested", "json", "yaml", "raw", "pprint", "txt", "no_return", "table", "highstate", "key"]
for value in PLAIN:
    for out in ["newline_values_only", "quiet"] if OLD else NEW:
        add(out, value, differs=out == "table" and (value == b"\xff\xfe" or isinstance(value, dict) and (RAGGED in value.values() or b"\x00\x01\xff" in value.values())))

if not OLD:
    NESTED = {"m1": {"list": [1, "a, b", {"k": "v:w"}, []], "text": "word " * 40, "empty": {}, "bytes": b"\x01\x02", "url": "http://x"}}
    for value in (NESTED, ["item"] * 30, "plain", {"k" * 130: 1}, {"a\nb": ["c\nd", "?", "- x", "#y", "[z"]}, [[[]]], {1: {2.5: None}}):
        for indent in (-1, 0, 1, 2, 3, 8, 10):
            for out in ("json", "yaml", "pprint"):
                add(out, value, output_indent=indent)
    for value in PLAIN[:3] + [NESTED, {"m1": ["a"]}]:
        add("nested", value, differs=value is NESTED, nested_indent=6)
    add("text", {"m1": "a\nb"})

# --- tables --------------------------------------------------------------------------------------------------------------

MACS = [
    {"mac": "40:A6:77:5A:50:01", "interface": "ae1.900", "last_move": 0.0, "active": True, "vlan": 111},
    {"mac": "64:16:8D:32:26:58", "interface": "ae1.111", "last_move": 12.25, "active": False, "vlan": 7},
]
LONG = "the quick brown fox jumps over the lazy dog and runs away from it as fast as it can"
TABLES = [
    {"m1": MACS}, {"m1": {"out": MACS, "comment": "", "result": True}}, MACS, [{"a": 1}], [["a", "b"], ["c", "d"]], ["x", "y z"],
    {"m1": [{"name": WIDE, "n": 1}, {"name": "a", "n": 22}]}, {"m1": [["one", "two"], ["three", "four"]]},
    {"m1": [{"a": "1\n2", "b": "3\n4"}, {"a": "5", "b": "6"}]}, {"m1": [{"a": LONG, "b": LONG + " twice"}]},
    {"m1": [{"a": 1}, ["x"]]}, {"m1": []}, {"m1": [1, 2]}, {"m1": [[]]}, {"m1": [["a", 1]]},
    {"m1": [{}]}, {"m1": {"a": {"b": [["x"]]}}}, {"m1": [{"x_y": None, "don't_2nd": [1, {"a": b"b"}], "É": {"k": "v"}}]},
    {"m1": [["w" * 60, "v"], ["a b", "c"]]}, {"m1": [[" lead", "trail "]]}, {"m1": [["a  b", "tab\tc"]]}, {"m1": [b"bytes"]}, {2: [["x"]], 1: [["y"]]},
    {"m1": [["a" * 49 + " b", "c" * 50 + " d"]]}, {"m1": [["line\nlonger line", "x\ny"]]}, {"m1": [["", ""]]}, {"m1": [["odd", "wide!!"], ["e", "f"]]},
]
UNEVEN = [{"m1": [{"text": LONG, "n": "1"}]}, {"m1": [{"a": "1\n2\n3", "b": "4"}]}, {"m1": [{"a": 1}, {"a": 2, "b": 3}]}]
LAYOUTS = [
    {}, {"out.table.separate_rows": False}, {"out.table.has_header": False}, {"out.table.justify": "left", "out.table.delim": "  ", "out.table.prefix": "", "out.table.suffix": ""},
    {"out.table.justify": "right", "out.table.row_delimiter": "="}, {"out.table.width": 10}, {"out.table.rows_key": "out"},
    {"out.table.rows_key": "m1", "out.table.title": "Title"}, {"out.table.nested_indent": 2}, {"out.table.has_header": False, "out.table.separate_rows": False},
    {"out.table.rows_key": "rows", "out.table.labels_key": "labels"},
]
LABELLED = {"rows": [["a", "b"], ["c", "d"]], "labels": ["First", "Second"]}
if not OLD:
    for value in TABLES:
        add("table", value)
    # For these Salt leaves out lines and columns beyond the shortest cell and row.
    for value in UNEVEN:
        add("table", value, differs=True)
    for layout in LAYOUTS[1:]:
        for value in ({"m1": MACS}, {"m1": {"out": MACS}}, LABELLED, {"m1": {"rows": [["a"]], "labels": {"x": "X"}}}):
            add("table", value, **layout)
        uneven = {"m1": [["one two three four", "5\n6"]]}
        add("table", uneven, differs="out.table.width" not in layout and layout.get("out.table.rows_key", "m1") == "m1", **layout)
    for labels in ("AB", 5, True, [1, 2]):
        add("table", {"rows": [["a", "b"]], "labels": labels})
        add("table", {"m1": {"rows": [["a", "b"]], "labels": labels}})
    by_keys = {"out.table.rows_key": "rows", "out.table.labels_key": "labels"}
    for labels in ("AB", "", b"AB", b"", 0, 5, 0.0, 1.5, False, True, None, [], {}, [1, 2], ["A", "B"], {"b": "B", "a": "A"}, {1: "A", "b": "B"}, {"a": 1}):
        for row in (["a", "b"], {"x_y": "a", "z": "b"}):
            add("table", {"rows": [row], "labels": labels}, **by_keys)
    for labels in ("A", b"\xff\xfe"):
        add("table", {"rows": [["a", "b"]], "labels": labels}, differs=True, **by_keys)
    for value in (b"a\r\nb\n", b"\n", b"a\n\nb"):
        add("txt", value)
        add("txt", {"m1": value})

# --- state runs ----------------------------------------------------------------------------------------------------------


def state(tag, num, result=True, comment="done", changes=None, **more):
    info = {
        "__run_num__": num, "__id__": tag.split("_|-")[1], "__sls__": "web", "name": tag.split("_|-")[2], "result": result,
        "comment": comment, "changes": {} if changes is None else changes, "start_time": f"10:20:3{num % 10}.123456", "duration": 12.5 + num,
    }
    info.update(more)
    return {tag: {k: v for k, v in info.items() if v != "absent"}}


def run(*states):
    return {"m1": {k: v for s in states for k, v in s.items()}}


CHANGED = {"diff": "--- \n+++ \n@@ -1 +1 @@\n-a\n+b", "mode": "0644"}
PLAINLY = state("file_|-motd_|-/etc/motd_|-managed", 0, changes=CHANGED, comment="File /etc/motd updated")
SAME = state("pkg_|-vim_|-vim_|-installed", 1, comment="All specified packages are already installed")
FAILED = state("cmd_|-broken_|-exit 3_|-run", 2, False, 'Command "exit 3" run\nsecond line\n', {"pid": 1, "retcode": 3, "stdout": "", "stderr": ""})
WOULD = state("service_|-web_|-nginx_|-running", 3, None, "Service is set to be started", {"nginx": True})
WARNED = state("test_|-warned_|-warned_|-nop", 4, warnings=["careful now " * 9, "a second-hand warning about http://example.com/" + "x" * 90])
WIDELY = state("file_|-日本語_|-/srv/ünï_|-absent", 5, changes={"removed": ["日本語\nb", "c"], "empty": {}, "none": None})
ALL = run(PLAINLY, SAME, FAILED, WOULD, WARNED, WIDELY)
INNER = {"out": "highstate", "ret": {"m2": run(SAME, FAILED)["m1"], "m3": run(PLAINLY)["m1"]}}
ORCHESTRATED = {"master_master": run(state("salt_|-deploy_|-deploy_|-state", 0, comment="States ran successfully.", changes=INNER), SAME)["m1"]}
RUNS = [
    ALL, run(PLAINLY), run(SAME), run(FAILED), run(WOULD), run(WARNED), run(WIDELY), {"m1": {}}, {"m1": ["Rendering SLS 'base:x' failed", "err\ntwo"]},
    {"m1": "some string\nmore"}, {"m1": True}, {"m1": 7}, {"m1": None}, {"m1": False}, {"m2": SAME, "m1": FAILED}, {}, ORCHESTRATED,
    {"data": ORCHESTRATED, "outputter": "highstate", "retcode": 0}, {"retcode": 1, **ORCHESTRATED}, {"return": {"data": ALL}},
    {"m1": {"jid": "1", "fun": "state.apply", "return": {"data": ALL}}}, {"m1": {"jid": "1", "fun": "x"}}, {"m1": 1.5}, {"m1": b"bytes"},
    run(state("salt_|-inner_|-state.orchestrate_|-runner", 0, name="state.orchestrate", changes={"data": ALL})),
    run(state("test_|-a_|-a_|-nop", 1, start_time="absent", duration="absent")), run(state("test_|-a_|-a_|-nop", 0, duration="1500.5 ms")),
    run(*(state(f"test_|-s{i}_|-s{i}_|-nop", i, duration=700) for i in range(12))), run(state("test_|-a_|-a_|-nop", 0, __parallel__=True), SAME),
    run(state("test_|-a_|-a_|-nop", 0, __run_num__="absent")), run(state("test_|-a_|-a_|-nop", 0, data=["x", 1])), run(state("test_|-a_|-a_|-nop", 0, data={"k": "v"})),
    run(state("test_|-a_|-a_|-nop", 0, data="more")), run(state("test_|-a_|-a_|-nop", 0, comment=["list", "of"])), run(state("test_|-a_|-a_|-nop", 0, comment="")),
    run(state("test_|-a_|-a_|-nop", 0, changes="text")), run(state("test_|-a_|-a_|-nop", 0, changes=["x"])), run(state("test_|-a_|-a_|-nop", 0, changes="absent")),
    {"m1": {"test_|-a_|-a_|-nop": "text", **SAME}}, run(state("test_|-a_|-a_|-nop", 0, changes={"ret": None, "out": "highstate"})),
    run(state("test_|-a_|-a_|-nop", 0, changes={"ret": {"m2": True}, "out": "nested"})), run(state("test_|-a_|-{0} %s_|-nop", 0, comment="{braces} %d")),
    run(state("test_|-a_|-a_|-nop", 0, duration=0.0625), state("test_|-b_|-b_|-nop", 1, duration=0)), run(state("test_|-a_|-a_|-nop", 0, duration="soon")),
    run(state("test_|-a_|-a_|-nop", 0, start_time=None, duration=None)),
]
MODES = ["full", "full_id", "terse", "terse_id", "mixed", "mixed_id", "changes", "changes_id", "filter", "Terse", "other"]
DISPLAYS = [
    *({"state_output": mode} for mode in MODES), {"state_verbose": False}, {"state_output_diff": True}, {"state_output_profile": False},
    {"state_output_pct": True}, {"state_output": "terse", "state_tabular": True}, {"state_output": "terse", "state_tabular": True, "state_output_profile": False},
    {"state_output": "terse", "state_output_profile": False}, {"state_output": "terse", "state_tabular": "{0}{1:<30}|{3:>12}|{4:^9}|{6[duration]:>9}|{6[comment]!s:.10}{5}"},
    {"state_output": "terse", "state_tabular": "{{{2}}} {4!r}{5}"}, {"state_output": "filter", "state_output_exclude": "True,"},
    {"state_output": "filter", "state_output_terse": "True,None"}, {"state_output": "filter", "state_output_exclude": ["None"], "state_output_terse": ["False"]},
    {"state_output": "filter", "arg": [{"__kwarg__": True, "exclude": "True,None"}]}, {"state_output": "filter_id", "arg": ["x", {"__kwarg__": True, "terse": "True,False"}]},
    {"state_output": "mixed", "state_verbose": False},
]


def lines_below(value, options):
    """Whether a state in one line failed or has a warning: ours has the reason and the warning below it."""
    mode = options.get("state_output", "").lower()
    terse = [options.get("state_output_terse", []), *(arg["terse"] for arg in options.get("arg", []) if "terse" in arg)]
    if value is ORCHESTRATED:
        return any("False" in results for results in terse)
    if value not in (ALL, TOGETHER) or options.get("state_verbose") is False:
        return False
    return mode.startswith(("terse", "mixed", "changes")) or (mode.startswith("filter") and any(terse))


NAMES = ["true", "false", "/bin/true", "/bin/false"]
TOGETHER = run(*(
    state(f"cmd_|-mixed results_|-{name}_|-run", i, not name.endswith("false"), changes={"pid": i} if i != 1 else {}) for i, name in enumerate(NAMES)
), SAME)
if OLD:
    for value in (ALL, {"m1": ["err"]}, {"m1": "text"}, {"m1": {"x": "y"}}, TOGETHER, {}, {"m1": True}, {"m1": run(state("a_|-b_|-" + "n" * 70 + "_|-c", 0))["m1"]}):
        # Salt makes a row of each character of a text.
        text = value == {"m1": "text"}
        add("profile", value, differs=text)
        add("profile", value, differs=text, **{"out.table.separate_rows": False, "out.table.justify": "left", "out.table.delim": "  ", "out.table.prefix": "", "out.table.suffix": ""})
else:
    for value in RUNS:
        add("highstate", value)
    for display in DISPLAYS[1:]:
        for value in (ALL, ORCHESTRATED):
            add("highstate", value, differs=lines_below(value, display), **display)
    for more in ({}, {"state_output": "terse_id"}, {"state_output": "terse", "state_tabular": True}, {"state_output_pct": True}):
        for value in (TOGETHER, ALL, {"m1": {"x": 1}}):
            add("highstate", value, differs=lines_below(value, more), state_compress_ids=True, **more)

    ODD = run(state("test_|-a_|-a_|-nop", 0, result="odd"), SAME)
    UNREADABLE = run(state("test_|-a_|-a_|-nop", 0, changes="absent"))["m1"]
    for value in (
        ODD, run(state("test_|-a_|-a_|-nop", 0, warnings=[])),
        run(state("salt_|-inner_|-state.orchestrate_|-runner", 0, name="state.orchestrate", changes={"m2": UNREADABLE})),
        *(run(state("test_|-a_|-a_|-nop", 0, changes={"ret": ret, "out": "highstate"})) for ret in (["x"], "x", {"m2": UNREADABLE}, {"m2": ["err"]})),
    ):
        add("highstate", value)
    # Salt shows the letters of a text one by one; before it gives up at a number it has written "ms" behind the duration.
    for warnings in ("careful", 5):
        add("highstate", run(state("test_|-a_|-a_|-nop", 0, warnings=warnings)), differs=True)
    for layout in ("{6[result][0]}", "{6[comment]:s}", "{6[comment]:d}", "{6[duration]:.1f}", "{6[tags][1]} {6[tags]}", "{6[tags][x]}", "{6[tags][7]}"):
        fails = layout in ("{6[result][0]}", "{6[comment]:d}", "{6[tags][x]}", "{6[tags][7]}")
        add("highstate", run(state("test_|-a_|-a_|-nop", 0, tags=["x", "y"])), differs=fails, state_output="terse", state_tabular=layout)
    twice = lambda **more: run(*(state(f"cmd_|-both_|-{name}_|-run", i, **more) for i, name in enumerate(("a", "b"))))
    once = run(state("cmd_|-both_|-a_|-run", 0, changes={"pid": 1}), state("cmd_|-both_|-b_|-run", 1))
    for value in (once, twice(duration="absent"), twice(__sls__="absent"), {"m1": {"a_|-b": {"result": True}}}, {"m1": {5: {}}}):
        add("highstate", value, state_compress_ids=True)

lines = ",\n".join(json.dumps(row, separators=(",", ":"), ensure_ascii=True) for row in rows)
name = "outputters_3007.json" if OLD else "outputters.json"
(HERE / name).write_text(f"[\n{lines}\n]\n")
print(name, len(rows), "rows")
