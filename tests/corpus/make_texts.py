"""Writes texts.json: results of Python's own readers and writers of texts (csv, difflib, ElementTree, ipaddress, codecs).

Run with Python 3.11:
    python3 tests/corpus/make_texts.py > tests/corpus/texts.json
"""

import csv
import difflib
import io
import ipaddress
import json
import random
import sys
import xml.etree.ElementTree

CSV = [
    ("a,b\nc,d\n", "excel"), ("a,b\r\nc,d\r\n", "excel"), ("a,b\rc", "excel"), ("a\tb,c\n", "excel-tab"), ('"a""b",c', "excel"), ('"a\nb",c\n', "excel"), ("\n\na\n", "excel"),
    (",\n", "excel"), ("a,", "excel"), ('a"b,c', "excel"), ('"a"b,c', "excel"), ("", "excel"), ('""', "excel"), ('"a', "excel"), ("a, b ,c", "unix"), ('"a,b"\r\n"c"', "excel"), ("a", "nosuch"),
]

XML = [
    "<a/>", "<a b='1' c=\"2\"/>", "<a>x<b/>y</a>", "<?xml version='1.0'?><!-- c --><a><![CDATA[<x>&]]></a>", "<a>&lt;&#65;&#x42;&amp;&quot;&apos;&gt;</a>", "<a:b/>" * 0 + "<a.b-c/>", "<a><b><c d='&lt;'/></b><b/></a>",
    " <a> </a>\n", "<a>\n<b>1</b>\n</a>", "<a", "<a>", "</a>", "<a></b>", "<a/><b/>", "x<a/>", "<a/>x", "", "<a>< b</a>", "<a b=1/>", "<a><b></a></b>", "<a>1 < 2</a>", "<!-- only -->",
    "<a>" * 100 + "</a>" * 100, "<a>" * 101 + "</a>" * 101,
]

ADDRESSES = ["::", "::1", "1::", "2001:DB8::1", "1:2:3:4:5:6:7:8", "::ffff:10.0.0.1", "::ffff:10.0.0.256", "::1.2.3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1::2::3", "12345::", "g::", "::g", "1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:7:1.2.3.4", "fe80::1%eth0", ":", ":::", "1", "1:2:3:4:5:6:7::", "1.2.3.4"]

ENCODINGS = [
    ("aé", "latin-1", "strict"), ("a€", "latin-1", "strict"), ("a€é", "latin-1", "replace"), ("a€é", "latin-1", "ignore"), ("€", "cp1252", "strict"), ("é", "ascii", "replace"), ("é", "ascii", "ignore"), ("é", "ascii", "strict"), ("ж", "koi8-r", "strict"), ("aж€", "iso8859-5", "replace"),
]


def rows(text, dialect):
    try:
        return list(csv.reader(io.StringIO(text, newline=""), dialect))
    except csv.Error:
        return None


def tree(element):
    return {
        "name": element.tag, "attributes": element.attrib, "children": [tree(child) for child in element],
        "text": (element.text or "") + "".join(child.tail or "" for child in element),
    }


def document(text):
    try:
        return tree(xml.etree.ElementTree.fromstring(text))
    except xml.etree.ElementTree.ParseError:
        return None


def digits(text):
    try:
        return f"{int(ipaddress.IPv6Address(text)):032x}"
    except ValueError:
        return None


def encoded(text, name, errors):
    try:
        return text.encode(name, errors).hex()
    except UnicodeEncodeError:
        return None


def diffs():
    made = random.Random(20261123)
    for _ in range(60):
        letters = "abc"[: made.choice([1, 2, 3, 3])]
        a = [made.choice(letters) + "\n" for _ in range(made.randrange(12))]
        b = [line for line in a if made.random() < 0.7]
        for _ in range(made.randrange(4)):
            b.insert(made.randrange(len(b) + 1), made.choice(letters + "d") + "\n")
        yield a, b
    long = [f"{i % 7}\n" for i in range(220)]
    yield long, long[:100] + ["x\n"] + long[100:]
    yield [f"{i}\n" for i in range(250)], [f"{i}\n" for i in range(250) if i % 60]


def main():
    made = {
        "csv": [{"text": text, "dialect": dialect, "rows": rows(text, dialect)} for text, dialect in CSV],
        "xml": [{"text": text, "root": document(text)} for text in XML],
        "addresses": [{"text": text, "digits": digits(text)} for text in ADDRESSES],
        "encodings": [{"text": text, "name": name, "errors": errors, "hex": encoded(text, name, errors)} for text, name, errors in ENCODINGS],
        "diffs": [{"a": a, "b": b, "diff": list(difflib.unified_diff(a, b))} for a, b in diffs()],
    }
    parts = [f"{json.dumps(name)}: [\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]" for name, cases in made.items()]
    sys.stdout.write("{\n" + ",\n".join(parts) + "\n}\n")


main()
