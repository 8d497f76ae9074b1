#!/usr/bin/env python3
"""Writes textfsm.json: results of Salt's module `textfsm` for templates and texts. Run it with the Python of an environment that has Salt 3008.3
and the package textfsm 2.1.0: `python make_textfsm.py`.

`extract` has a template, a text and the result, or the error. `index` has files of a directory, a text, arguments, and the result or the error;
functions of other modules answer with these files."""
import json
import os
import shutil
import tempfile

import salt.modules.textfsm_mod as module

HERE = os.path.dirname(os.path.abspath(__file__))
INTERFACES = """Value Required,Filldown INTERFACE (\\S+)
Value List ADDRESS (\\d+\\.\\d+\\.\\d+\\.\\d+/\\d+)
Value MTU (\\d+)
# a comment
Value STATE (up|down)

# another
Start
  ^interface ${INTERFACE} is $STATE -> Continue
  ^interface -> Continue.NoRecord Body

Body
  ^\\s+mtu ${MTU}$$
  # within
  ^\\s+address ${ADDRESS}
  ^\\s*$$ -> Record Start
  ^end -> EOF
"""
ADDRESSES = "interface eth0 is up\n  mtu 1500\n  address 10.0.0.1/24\n  address 10.0.1.1/24\n\ninterface eth1 is down\n  mtu 9000\n\nnoise\n"
V = "Value A (\\w+)\nValue B (\\w+)\n\nStart\n"


def rules(*lines, values=V):
    return values + "".join(f"  {line}\n" for line in lines)


EXTRACT = [
    (INTERFACES, ADDRESSES), (INTERFACES.replace("Continue.NoRecord", "Next.NoRecord"), ADDRESSES), (INTERFACES.replace("-> Continue\n", "-> Body\n"), ADDRESSES),
    (INTERFACES.replace("-> Continue\n", "-> Body\n"), ADDRESSES + "end\nafter\n"), (INTERFACES.replace("-> Continue\n", "-> Body\n") + "\nEOF\n", ADDRESSES + "end\n"),
    (INTERFACES.replace("-> Continue\n", "-> Body\n") + "\nEnd\n", ADDRESSES.replace("noise", "interface eth2 is up\n mtu 1")),
    (INTERFACES.replace("\n", "\r\n").replace("-> Continue\r", "-> Body\r"), ADDRESSES.replace("\n", "\r\n")),
]
for actions in [["^${A} ${B} -> Record"], ["^${A} -> Continue", "^\\w+ ${B} -> Record"], ["^${A} ${B} -> Next.Record Two", "", "Two", "^${A} -> Record Start"],
                ["^${A} -> Continue.Record", "^\\w+ ${B}"], ["^${A} -> Clear"], ["^${A} ${B} -> Clearall"], ["^${A} -> Error"], ["^${A} -> Error \"bad word\""], ["^${A} -> Error bad"],
                ["^${A} ${B} -> Record End", "^never"], ["^$A ${B} -> Record", "^x$$"], ["^(?i)${A} -> Record"], ["^${A}( ${B})? -> Record"], ["^${A} ${B} -> NoRecord"], ["^(?P<A>x)(?P<other>.) -> Record"]]:
    text = rules(*actions).replace("  \n  Two\n", "\nTwo\n")
    for words in ["x y\nz w\n", "", "x", "x y\n\nx\nq r s\n", "x1 é\nÄ z\n"]:
        EXTRACT.append((text, words))
for options in ["Filldown", "Required", "Fillup", "List", "Key", "Filldown,List", "Required,List", "List,Required", "Filldown,Required", "Fillup,Required", "Required,Filldown,List"]:
    values = f"Value {options} A (\\w+)\nValue B (\\d+)\n\nStart\n"
    for line in [["^a ${A}", "^b ${B}", "^r -> Record", "^c -> Clear", "^C -> Clearall"]]:
        for words in ["a one\nb 1\nr\nb 2\nr\na two\nr\n", "b 1\nr\nb 2\nr\na up\nr\nb 3\n", "a one\na two\nb 1\nr\na three\nc\nb 2\nr\nC\nb 3\nr\n"]:
            EXTRACT.append((rules(*line, values=values), words))
GROUPS = "Value List A ((?P<user>\\w+)@(?P<host>\\w+)(:(?P<port>\\d+))?)\nValue B (\\d+)\n\nStart\n  ^${A} -> Continue\n  ^.* ${B}$$ -> Record\n"
EXTRACT += [(GROUPS, "root@web\nme@db:22 5\n"), (GROUPS.replace("@(?P<host>\\w+)(:(?P<port>\\d+))?", ""), "x\ny 5"), (GROUPS.replace("?P<user>", "").replace("?P<host>", "").replace("?P<port>", ""), "a@b\nc@d 6")]
EXTRACT += [(INTERFACES, ""), (INTERFACES, None), ("Value A (a|b)\n\nStart\n  ^$A$$ -> Record\n\tx\n", "a"), ("\nStart\n  ^a$$\n  ^b -> Record\n", "a$\nb\n")]
BAD = ["", "\n", "x\n", "# only\n", "Value A (a)\nx\n", "Value A\n", "Value A a)\n", "Value A (a\n", "Value A (a\\)\n", "Value A (a))\n", "Value Nothing A (a)\n", "Value List,List A (a)\n", f"Value {'a' * 49} (a)\n",
       "Value A (a)\nValue A (b)\n", "Value A (a)\n", "Value A (a)\n\nOther\n", "Value A (a)\n\nStart\n^a\n", "Value A (a)\n\nStart\n   ^a\n", "Value A (a)\n\nStart\n  a\n", "Value A (a)\n\nStart x\n", "Value A (a)\n\nRecord\n",
       "Value A (a)\n\nStart\n\nStart\n", "Value A (a)\n\nStart\n  ^${B}\n", "Value A (a)\n\nStart\n  ^a$\n", "Value A (a)\n\nStart\n  ^(a\n", "Value A (a)\n\nStart\n  ^${A}${A}\n", "Value A (a)\n\nStart\n  ^a -> Nothing.Record\n",
       "Value A (a)\n\nStart\n  ^a -> Continue Start\n", "Value A (a)\n\nStart\n  ^a -> Record \"text\"\n", "Value A (a)\n\nStart\n  ^a -> Lost\n", "Value A (a)\n\nStart\n  ^a ->\n", "Value A (a)\n\nStart\n  ^a -> \n", "Value A (a)\n\nStart\n  ^a ->Record\n", "Value A (a)\n\nStart\n\nEnd\n  ^a\n",
       "Value A (a)\n\nStart\n\nEOF\n  ^a\n", "Value A (a)\n\nStart\n  ^a -> b -> Record\n", "Value  A (a)\n\nStart\n", "Value A  (a)\n\nStart\n"]
EXTRACT += [(text, "a") for text in BAD]

VERSION = "Value Key,Required HOST (\\S+)\nValue VERSION (\\S+)\nValue List PART (\\S+)\n\nStart\n  ^Hostname: ${HOST}\n  ^Version ${VERSION}\n  ^Part ${PART}\n  ^--- -> Record\n"
MODEL = "Value Key HOST (\\S+)\nValue MODEL (\\S+)\n\nStart\n  ^Hostname: ${HOST}\n  ^Model ${MODEL}\n  ^--- -> Record\n"
TEXT = "Hostname: r1\nVersion 9.1\nPart a\nPart b\nModel mx\n---\nHostname: r2\nModel ex\n---\n"
INDEX = "# head\n\nTemplate, Hostname, Platform, Command\n# note\nversion, .*, junos, sh[[ow]] ver[[sion]]\nversion:model, r\\d, junos|ios, sh[[ow]] all\nshort, row\nmodel:version, , , inv\nno_key:model, , , pairs\n,,,empty\n../secret, , , out\nmissing, , , gone\nbroken, , , broken\n"
FILES = {"index": INDEX, "version": VERSION, "model": MODEL, "no_key": VERSION.replace("Key,", ""), "broken": "x\n", "other": "Platform,Vendor,Command\n", "second": "Template,Vendor,Command\nmodel,acme,.*\n", "twice": "Template,A,A\n", "wrong": "Template,Command\nmodel,(\n"}
CALLS = [dict(command=command, platform=platform) for command in ["sh ver", "show version", "show versions", "sho ver", "s ver", "show all", "inv", "pairs", "empty", "out", "gone", "broken", "nothing"] for platform in ["junos", "ios"]]
CALLS += [dict(command="sh ver"), dict(command="sh ver", platform_grain_name="os"), dict(command="sh ver", platform_grain_name="none"), dict(command="sh ver", platform="junos", output=None), dict(command="sh ver", platform="junos", output=None, output_file="salt://text"),
          dict(command="sh ver", platform="junos", output=None, output_file="salt://none"), dict(command="sh ver", platform="junos", textfsm_path=None), dict(command="sh ver", platform="junos", textfsm_path="salt://none"),
          dict(command="sh ver", opts={"textfsm_platform_grain": "os"}), dict(command="sh ver", platform="junos", textfsm_path=None, pillar={"textfsm_path": "salt://templates"}), dict(command="x", platform="acme", opts={"textfsm_index_file": "second", "textfsm_platform_column_name": "Vendor"}),
          dict(command="x", platform="acme", pillar={"textfsm_index_file": "second"}), dict(command="x", platform="acme", opts={"textfsm_index_file": "other"}), dict(command="x", platform="a", opts={"textfsm_index_file": "twice"}), dict(command="x", platform="a", opts={"textfsm_index_file": "wrong"}), dict(command="x", platform="a", opts={"textfsm_index_file": "none"})]


def answer(root, calls, opts=None, pillar=None):
    def cached(path, **_):
        return f"{root}/template" if path == "salt://template" else False

    def directory(path, **_):
        return [f"{root}/{name}" for name in sorted(os.listdir(root))] if path == "salt://templates" else []

    module.__salt__ = {"cp.cache_file": cached, "cp.cache_dir": directory, "cp.get_file_str": lambda path, **_: TEXT if path == "salt://text" else False}
    module.__opts__, module.__pillar__, module.__grains__ = opts or {}, pillar or {}, {"os": "junos"}
    try:
        return {"result": calls()}
    except Exception as exc:  # an error is a result, too
        return {"error": f"{exc}".replace(root, "{root}"), "error_type": type(exc).__name__}


def main():
    made = {"extract": [], "index": {"files": FILES, "text": TEXT, "calls": []}}
    for template, text in EXTRACT:
        root = tempfile.mkdtemp()
        with open(f"{root}/template", "w", encoding="utf-8", newline="") as file:
            file.write(template)
        made["extract"].append({"template": template, "text": text, **answer(root, lambda: module.extract("salt://template", raw_text=text))})
        shutil.rmtree(root)
    for call in CALLS:
        root = tempfile.mkdtemp()
        for name, text in FILES.items():
            with open(f"{root}/{name}", "w", encoding="utf-8") as file:
                file.write(text)
        kwargs = {"output": TEXT, "textfsm_path": "salt://templates", **call}
        places = {key: kwargs.pop(key) for key in ("opts", "pillar") if key in kwargs}
        made["index"]["calls"].append({"kwargs": kwargs, **places, **answer(root, lambda: module.index(**kwargs), **places)})
        shutil.rmtree(root)
    with open(f"{HERE}/textfsm.json", "w", encoding="utf-8") as file:
        lines = ",\n  ".join(json.dumps(one, ensure_ascii=False) for one in made["extract"])
        calls = ",\n   ".join(json.dumps(one, ensure_ascii=False) for one in made["index"]["calls"])
        head = json.dumps({"files": FILES, "text": TEXT}, ensure_ascii=False)[:-1]
        file.write(f'{{\n "extract": [\n  {lines}\n ],\n "index": {head}, "calls": [\n   {calls}\n  ]}}\n}}\n')


main()
