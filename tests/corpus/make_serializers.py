"""Writes serializers.json: values written and read by Salt's serializers, and results of its renderer yamlex. See README.md.

Run with the python of a virtual environment that holds Salt 3008.3 and the package toml 0.10.2:
    <venv>/bin/python tests/corpus/make_serializers.py
"""

import json
import logging
import pathlib
import warnings

import salt.loader
import salt.renderers.yamlex

from typed import typed

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)

SERIALIZERS = salt.loader.serializers({"extension_modules": "", "optimization_order": [0]})

VALUES = [
    {"a": 1, "b": [1, 2], "c": {"d": None}}, {"foo": {"bar": 42, "baz": [1, 2, 3]}}, {"a": "yes", "b": "1", "l": ["x" * 100] * 3}, {},
    {"a": 1, "b": {"c": {"d": 1}}, "m": [[1, 2], ["a"]], "e": {}, "n": None, "f": 1.5, "g": 1e20, "h": 1e-07, "t": True, "el": []},
    {"s": "q\"uo'te\\ \n \u00e9", "w x": {"y.z": True}, "k": "it's", "d": 'say "x"', "u": "\u2028\t"},
    {"l": [{"x": 1, "t": {"u": "v"}}, {"x": 2}], "z": 1}, {"a": {"l": [{"x": 1}]}}, {"l": [{"m": [{"n": 1}]}]}, {"l": [{"t": {"u": {"v": 1}}}, {}]},
    {"a": {"b": {}, "c": 1}, "d": {"e": {"f": {}}}}, {"section": {"key": "value", "other": "1"}}, {"l": [None, 1]},
]
OPTIONS = {
    "yaml": [{}, {"default_flow_style": False}, {"default_flow_style": True}, {"indent": 4}], "yamlex": [{}, {"default_flow_style": False}, {"indent": 4}],
    "json": [{}, {"indent": 2}, {"sort_keys": True}], "toml": [{}], "msgpack": [{}], "configparser": [{}],
}
# Contents of keys, and repeated keys; tags at values and at keys; numbers and other scalars; errors.
YAMLEX = [
    "a: 1\nb: x", "- 1\n- 2", "x", "", "a: !aggregate foo\na: !aggregate bar", "a: !aggregate {x: 1}\na: !aggregate {y: 2}", "a: 1\na: 2",
    "p: {!aggregate foo: {foo: 42}}\np: {!aggregate foo: {bar: null}}\n!reset p: {!aggregate foo: {baz: inga}}",
    "p: {!aggregate foo: {foo: 42}}\np: {!aggregate foo: {bar: null}}", "a: {x: {y: 1}}\na: {x: {z: 2}}", "a: !aggregate [1]\na: !aggregate [2]",
    "a: !aggregate [1, 2]\na: !aggregate [2, 3]", "a: !aggregate\na: !aggregate x", "a: !aggregate 0644", "a: 0644\nb: 1_000", "b: +1", "a: -0644\nb: 00",
    "c: 1:30", "b: 0b11", "b: 0x1F", "a: 1__0", "a: yes\nb: ~\nc: 1.5", "a: !!binary aGk=", "a: &x {b: 1}\nc: *x", "a: &x {b: 1}\nc: {<<: *x, d: 2}",
    "a: &x {b: 1}\nc: {<<: *x, b: 2}", "? [1]\n: 2", "\ta: 1", "a: {{x}}", "a: !nope x", "a: {b: !aggregate {c: [1]}}\na: {b: !aggregate {c: [2]}}",
    "a: !aggregate {c: [1], d: 3}\na: !aggregate {c: [2], d: 4}", "a: !aggregate {x: !aggregate [1]}\na: !aggregate {x: !aggregate [2]}", "a: !reset x",
    "a: 'q'\nb: \"z\"", "a: b: c", "a: [1", "!aggregate a: [1]\n!aggregate a: [2]", "!aggregate a: 1\n!aggregate a: 2", "--- a\n--- b",
    "a: !aggregate foo\na: !aggregate [bar]\na: baz", "a: baz\na: !aggregate foo", "!reset a: 1\n!reset a: 2", "a: =", "a: !!omap [{x: 1}]",
    "a: !!pairs [{x: 1}]", "a: !!str 5", "a: !!int '5'", "a: !aggregate {x: 1}\na: {y: 2}", "a: {y: 2}\na: !aggregate {x: 1}",
    "web:\n  file.managed:\n    - name: /x\n    - contents: !aggregate one\nweb:\n  file.managed: !aggregate\n    - mode: 644\n", "'!x': 1", "a: {<<: 1}", "a: {<<: [1]}", "a: [*b]",
    "s: !aggregate [{a: 1}]\ns: !aggregate [{a: 1}, {b: 2}]\n", "1: a\n1: b\n", "a: !!set {x, y}",
    # Values of another kind than their tag; a map within itself.
    "a: !!seq x", "a: !!seq {b: 1}", "a: !!pairs x", "a: !!pairs {b: 1}", "a: !!pairs [x]", "a: !!pairs [{}]", "a: !!pairs [{b: 1, c: 2}]", "a: !!pairs [{b: 1}, {b: 2}]", "a: &x {b: *x}", "a: &x {b: {c: *x}}",
    "a: &x {b: &y {c: 1}, <<: *y}",
]
# Files with sections: options, continued lines, interpolation, and errors.
CONFIGS = [
    "[a]\nb = 1\nC: two\n", "[a]\nb\n", "[a]\nb =\n", "b = 1\n", "", "\n# x\n; y\n[a]\n# z\nb = 1 ; c\n", "[a]\nb = 1\n  2\n\n  3\n\n[c]\n", "[a]\nb = 1\n# x\n  2\n", "[a]\nb = 1\nB = 2\n", "[a]\n[a]\n", "[a\nb = 1\n",
    "[a]\n= 1\n", "[a]\n: 1\nx\n", "[DEFAULT]\nx = 1\n[a]\ny = %(x)s-%%\n", "[a]\nx = %(nope)s\n", "[a]\nx = %\n", "[a]\nx = %(x\n", "[a]\nx = %(y)s\ny = %(x)s\n", "[DEFAULT]\nx = %(y)s\n[a]\ny = 2\n[b]\n", "[a]\nb = 'q'\nc = \"d\"\n",
    "[ a ]\nb c = d e\n", "[a] x\nb = 1\n", "[a]\nb : c = d\n", "[a]\n  b = 1\n  c = 2\n", "  [a]\n  b = 1\n", "[a]\nb = 1\n[DEFAULT]\nc = 2\n", "[]\n", "[a]b]\nc = 1\n", "[a]\nx = 1\n\n\ny = 2\n   \n", "[a]\nx = %(DEF)s\nDef = 3\n",
]


def answer(function, *args, **kwargs):
    try:
        return {"value": typed(function(*args, **kwargs))}
    except Exception as error:  # an error is an answer, too
        return {"error": str(error)}


written = [
    {"serializer": name, "value": typed(value), "options": typed(options), **{key: one for key, one in answer(SERIALIZERS[f"{name}.serialize"], value, **options).items() if key != "value"},
     **({"text": done["value"]} if "value" in (done := answer(SERIALIZERS[f"{name}.serialize"], value, **options)) else {})}
    for name, choices in OPTIONS.items() for value in VALUES for options in choices
]
read = [{"text": text, **answer(SERIALIZERS["yamlex.deserialize"], text)} for text in YAMLEX]
path = pathlib.Path(__file__).parent / "serializers.json"
configs = [{"text": text, **answer(SERIALIZERS["configparser.deserialize"], text)} for text in CONFIGS]
path.write_text(json.dumps({"written": written, "yamlex": read, "configs": configs}, indent=1, ensure_ascii=False) + "\n")
print(len(written), "written,", len(read), "read")
