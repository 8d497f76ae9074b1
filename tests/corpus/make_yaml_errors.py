"""Writes Salt's errors for invalid YAML to yaml_errors.json: PyYAML's error (`full`), and the renderer's text (`rendered`). See README.md.

    <venv>/bin/python tests/corpus/make_yaml_errors.py
"""

import json
import logging
import pathlib

import salt.renderers.yaml
import salt.utils.yaml
import yaml
from salt.exceptions import SaltRenderError

logging.disable(logging.CRITICAL)
salt.renderers.yaml.__opts__ = {}

TEXTS = [
    # Braces and brackets.
    "a: {{ x['y']('z') }}", "a: {{ 'a' if b else 'c' }}", "a: {{ x }}\n", "- {{ x|y('s') }}\n", "a: {{ 'a' }} x", "a: [1, 'x' y]", "a: {b: 'x' y}",
    "a: {[1,'x' y]: 2}", "a: {x: [1,\n2 3: ] y}", "a: {b", "a: {{b", "a: [b", "a: [{b: 1}", "a: [1, 2\nb: 3\n", "a: {b: 1\nc: 2\n", "a: [\n",
    "a: {\n", "key: [a, b]]\n", "key: {a: b}}\n", "a: [b,,c]\n", "a: {,}\n", "a: [b: c, d: e f: g]\n", "-a: [\n- b\n", "a: ]\n", "a: }\n", "a: ,b\n",
    "{a: 1}: 2\n", "? [1, [2, {a: b}]]\n: x\n",
    # Indentation.
    "a:\n  - b\n c: 1\n", "a: 1\n  b: 2\n", "a:\n  b: 1\n c: 2\n", "- a\nb: 1\n", "a: 1\n- b\n", "? a\n? b\n- c", "a:\n- b\n  c: 1\n",
    "a:\n  - b: 1\n   c: 2\n", "a:\n  - b: 1\n     c: 2\n", "- - a\n - b\n", "a:\n  - x\n  y: z\n", "a: 'b'\n 'c': d\n", "a\nb\n c: d\n", "foo\nbar: 1\n",
    "a:\n  b:\n    - c: |\n        text: {[\n      d: 1\n   e: 2\n", "# c\na:\n  # [\n  b: \"{\"\n c: 1\n", "a:\n\t- b\n",
    # Scalars.
    "a: b: c\n", "a: 'x' y\n", "a: 'it's'\n", "a: \"b\" c: d\n", "a: 'x\n", "a: \"x\nb: 1\n", "a: \"\\q\"\n", "a: \"b\\x4\"\n", "a: @x\n", "a: `x`\n",
    "a: %x\n", "a: - b\n", "a: |x\n  y\n", "a: > x\n  y\n", "a: b\n c\nd\n",
    # Names, tags, documents.
    "'['x', 'y']': 1\nb: 2\n", "b: 2\n'['x', 'y']': 1\n",
    "a: *nope\n", "*a : b\n", "a: *\n", "a: &a &b c\n", "a: !x y\n", "a: =\n", "!!map [a]\n", "a: !!set [x]\n", "!!seq {a: 1}", "a: !!seq x",
    "b: !!pairs x", "a: !!pairs [x]", "a: !!pairs [{b: 1}, {a: 1, b: 2}]", "a: !!pairs [{}]", "a: !!str [a]",
    "a: !!float {b: 1}", "a: !!null [a]", "a: !!bool {}", "<<: 1\n", "<<: [1]\n", "--- a\n--- b\n",
    # Text after the end of the only value.
    "  pkg:\n    - installed\n\nfoo:\n  - x\n", "  - a\nb: 1\n", "'a' b\n", "[a]\nb: 1\n", "{a: 1}\n- b\n",
    # Other line breaks, and the mark of a document.
    "a: b\r  c: d\r", "---\na: b\n c: d\n", "&a {{",
    # Keys that contain themselves.
    "? &a [*a]\n: 1\n", "? &a {b: *a}\n: 1\n",
    "# c\na: 1\n--- \nb: 2\n", "a: 1\na: 2\n", "a: \x00b\n", "é: \x07\n",
]


def message(read, text):
    try:
        read(text)
    except (yaml.YAMLError, SaltRenderError) as error:
        return str(error)
    raise SystemExit(f"{text!r} is YAML")


def rendered(text):
    try:
        return message(salt.renderers.yaml.render, text)
    except yaml.YAMLError as error:
        return str(error)


ANSWERS = [{"text": text, "full": message(salt.utils.yaml.safe_load, text), "rendered": rendered(text)} for text in TEXTS]
path = pathlib.Path(__file__).parent / "yaml_errors.json"
path.write_text(json.dumps(ANSWERS, indent=1, ensure_ascii=False) + "\n")
print(f"{len(ANSWERS)} texts")
