#!/usr/bin/env python3
"""Writes states.json: trees of SLS files, and Salt 3008.3's results, stage by stage. Run it with the Python of an
environment that has Salt: `<venv>/bin/python tests/corpus/make_states.py > tests/corpus/states.json`.

A case: `files` by environment and path, `mods`, and the results `sls` (state.show_sls), `low_sls` (state.show_low_sls), `low` (the low data of a
run). A result is {"errors": [..]}, {"data": value in the notation of README.md} or {"raises": class}.
The work is done by children with different hash seeds; cases whose results depend on the seed are left out."""
import json
import logging
import os
import random
import shutil
import subprocess
import sys
import tempfile

from typed import typed

logging.disable(logging.CRITICAL)
SEEDS = tuple("12345678")

# The state modules that watch and aggregate, on any host.
MODULES = {f"{m}.mod_watch" for m in "at cmd etcd event module mount pkg service test".split()}
MODULES |= {f"{m}.mod_aggregate" for m in ("iptables", "pkg", "selinux")}


CASES = []


def case(name, sls, mods=("t",), more=None, **opts):
    files = {"base": {"t.sls": sls}}
    for path, text in (more or {}).items():
        env, _, path = path.rpartition("|")
        files.setdefault(env or "base", {})[path] = text
    CASES.append({"name": name, "files": files, "mods": list(mods), **({"opts": opts} if opts else {})})


def written():
    # The forms of a declaration.
    case("short form", "a: test.nop")
    case("short form with more dots", "a: test.nop.more")
    case("dotted form", "a:\n  test.nop:\n    - name: x\n    - foo: bar")
    case("long form", "a:\n  test:\n    - nop\n    - name: x")
    case("empty arguments", "a:\n  test.nop: []")
    case("two modules of an ID", "a:\n  test.nop: []\n  cmd.run:\n    - name: ls")
    case("keys with underscores", "a:\n  __x: 1\n  _y: 2\n  test.nop: []")
    case("three dots", "a:\n  test.nop.more: []")
    case("an argument map with two keys", "a:\n  test.nop:\n    - {x: 1, y: 2}\n    - z: 3")
    case("a name that is no string", "a:\n  test.nop:\n    - name: 5")
    case("a name that is a list", "a:\n  test.nop:\n    - name: [1]")
    case("an argument called state", "a:\n  test.nop:\n    - state: other\n    - fun: x")
    case("renders to nothing", "{}")
    case("only a comment", "# nothing")
    case("an anchor for two states", "a:\n  test.nop: &x\n    - foo: 1\nb:\n  test.nop: *x")
    case("an anchor for two long states", "a:\n  test: &x\n    - nop\n    - foo: 1\nb:\n  test: *x")
    case("an anchor for a requisite list", "a: test.nop\nb:\n  test.nop:\n    - require: &r [{test: a}]\nc:\n  test.nop:\n    - require: *r\nextend:\n  b:\n    test:\n      - require: [{test: d}]\nd: test.nop")
    case("a merge key", "x: &x\n  test.nop: []\ny:\n  <<: *x")
    case("integer like IDs in order", "'10': test.nop\n'9': test.nop\nz: test.nop")
    case("unicode", "é:\n  test.nop:\n    - name: 日本\n'😀': test.nop")
    # names
    case("names", "a:\n  test.nop:\n    - names: [x, y, x]\n    - foo: 1")
    case("names with arguments", "a:\n  test.nop:\n    - names:\n      - x: [{foo: 2}, {bar: 3}]\n      - y\n    - foo: 1")
    case("names and name", "a:\n  test.nop:\n    - name: z\n    - names: [x, y]")
    case("names with numbers", "a:\n  test.nop:\n    - names: [1, 2, 1.0, true]")
    case("names with order", "a:\n  test.nop:\n    - names: [x, y]\n    - order: 3\nb:\n  test.nop:\n    - order: 3")
    case("empty names", "a:\n  test.nop:\n    - names: []")
    # order
    for order in ("1", "first", "last", "-1", "-5", "0", "1.5", "some", "null", "true", "'3'", "20000", "9999999999"):
        case(f"order {order}", f"b: test.nop\na:\n  test.nop:\n    - order: {order}\nc:\n  test.nop:\n    - order: 5\nd: test.nop")
    case("equal orders", "b:\n  test.nop: [{order: 1}]\na:\n  test.nop: [{order: 1}]\nc:\n  cmd.run: [{order: 1}]\n'😀':\n  test.nop: [{order: 1}]\n'\uffee':\n  test.nop: [{order: 1}]")
    case("no automatic order", "b: test.nop\na: test.nop", state_auto_order=False)
    # requisites
    for req in "require require_any watch watch_any onchanges onchanges_any onfail onfail_any onfail_all prereq listen onfail_stop prerequired".split():
        case(f"{req} of an ID", f"a: test.nop\nb:\n  test.nop:\n    - {req}: [a]\nc:\n  test.nop:\n    - {req}: [{{test: b}}]")
        case(f"{req} of a later state", f"a:\n  test.nop:\n    - {req}: [{{test: c}}]\nb: test.nop\nc: test.nop")
        case(f"{req} no list", f"a: test.nop\nb:\n  test.nop:\n    - {req}: a")
        case(f"{req} missing", f"a: test.nop\nb:\n  test.nop:\n    - {req}: [{{test: nothere}}]")
        case(f"{req} on a module that does not watch", f"a: test.nop\nb:\n  file.managed:\n    - name: /x\n    - require: [{{test: c}}]\n    - {req}: [{{test: a}}]\nc: test.nop")
    for req in "require watch onchanges onfail prereq listen".split():
        case(f"{req}_in list", f"a:\n  test.nop:\n    - {req}_in: [{{test: c}}]\nb: test.nop\nc: test.nop")
        case(f"{req}_in bare", f"a:\n  test.nop:\n    - {req}_in: [c, b]\nb: test.nop\nc: test.nop")
        case(f"{req}_in map", f"a:\n  test.nop:\n    - {req}_in: {{test: c}}\nb: test.nop\nc: test.nop")
        case(f"{req}_in unknown", f"a:\n  test.nop:\n    - {req}_in: [{{test: zzz}}]")
        case(f"{req}_in bare unknown", f"a:\n  test.nop:\n    - {req}_in: [zzz]")
        case(f"{req}_in with a dot", f"a:\n  test.nop:\n    - {req}_in: [{{test.nop: b}}]\nb: test.nop")
        case(f"{req}_in sls", f"a:\n  test.nop:\n    - {req}_in: [{{sls: u}}]", ["t", "u"], {"u.sls": "x: test.nop\ny:\n  cmd.run: []\n  test.nop: []"})
    case("require_in by name", "a:\n  test.nop:\n    - require_in: [{test: real}, {cmd: ls}]\nb:\n  test.nop:\n    - name: real\nc:\n  cmd.run: [{name: ls}]")
    case("require_in bare by name", "a:\n  test.nop:\n    - require_in: [real]\nb:\n  test.nop:\n    - name: real")
    case("require_in by an ambiguous name", "a:\n  test.nop:\n    - require_in: [{test: real}]\nb:\n  test.nop: [{name: real}]\nc:\n  test.nop: [{name: real}]")
    case("require_in three", "a:\n  test.nop:\n    - require_in: [{test: b}, {test: c}, {test: d}]\nb: test.nop\nc: test.nop\nd: test.nop")
    case("require_in of several", "a:\n  test.nop:\n    - require_in: [{test: c}]\nb:\n  test.nop:\n    - require_in: [{test: c}]\nc: test.nop")
    case("require_in joins require", "a:\n  test.nop:\n    - require_in: [{test: c}]\nb: test.nop\nc:\n  test.nop:\n    - require: [{test: b}]")
    case("require_in of a module that the ID lacks", "a:\n  test.nop:\n    - require_in: [{cmd: c}]\nc: test.nop")
    case("map with a dot", "a:\n  test.nop:\n    - require_in: {test.nop: b}\nb: test.nop")
    case("use", "a:\n  test.nop:\n    - foo: 1\n    - bar: 2\n    - require: [b]\nb: test.nop\nc:\n  test.nop:\n    - bar: 3\n    - use: [{test: a}]")
    case("use_in", "a:\n  test.nop:\n    - foo: 1\n    - bar: 2\n    - name: z\n    - use_in: [{test: c}]\nc:\n  test.nop:\n    - bar: 3")
    case("use_in two", "a:\n  test.nop:\n    - foo: 1\n    - use_in: [{test: c}, {test: d}]\nc: test.nop\nd: test.nop")
    case("use unknown", "a:\n  test.nop:\n    - use: [{test: zz}]")
    case("use of another module", "a:\n  file.managed:\n    - mode: 1\nb:\n  file.absent:\n    - use: [{file: a}]")
    case("require a glob", "a1: test.nop\na2: test.nop\nb:\n  test.nop:\n    - require: [{test: 'a*'}]\n    - order: 1")
    case("require a glob that matches nothing", "b:\n  test.nop:\n    - require: [{test: 'q*'}]")
    case("require an sls", "b:\n  test.nop:\n    - require: [{sls: u}]\n    - order: 1", ["t", "u"], {"u.sls": "x: test.nop\ny: test.nop"})
    case("require an sls glob", "b:\n  test.nop:\n    - require: [{sls: 'u*'}]\n    - order: 1", ["t", "u"], {"u.sls": "x: test.nop"})
    case("require an sls glob without match", "b:\n  test.nop:\n    - require: [{sls: 'zz*'}]")
    case("require an empty sls", "include: [u]\nb:\n  test.nop:\n    - require: [{sls: u}]", ["t"], {"u.sls": "{}"})
    case("require an sls that includes", "include: [u]\nb:\n  test.nop:\n    - require: [{sls: u}]", ["t"], {"u.sls": "include: [v]", "v.sls": "x: test.nop"})
    case("require the own sls", "a: test.nop\nb:\n  test.nop:\n    - require: [{sls: t}]")
    case("require a missing sls", "b:\n  test.nop:\n    - require: [{sls: nosuch}]")
    case("require null", "b:\n  test.nop:\n    - require: [{test: null}]")
    case("require a number", "b:\n  test.nop:\n    - require: [{test: 1}]")
    case("require a list value", "b:\n  test.nop:\n    - require: [{test: [a]}]\na: test.nop")
    case("require a map value", "b:\n  test.nop:\n    - require: [{test: {a: b}}]\na: test.nop")
    case("require two keys", "b:\n  test.nop:\n    - require: [{test: a, pkg: b}]\na: test.nop")
    case("require an item that is a number", "b:\n  test.nop:\n    - require: [1]")
    case("require with a dot", "b:\n  test.nop:\n    - require: [{test.nop: a}]\na: test.nop")
    case("require by name", "a:\n  test.nop: [{name: real}]\nb:\n  test.nop:\n    - require: [{test: real}]")
    case("require a bare name", "a:\n  test.nop: [{name: real}]\nb:\n  test.nop:\n    - require: [real]")
    case("require all of names", "a:\n  test.nop: [{names: [x, y]}]\nb:\n  test.nop:\n    - require: [{test: a}]\n    - order: 1")
    case("a missing bare requisite", "b:\n  test.nop:\n    - require: [nothere]")
    case("require_any with one missing", "a: test.nop\nb:\n  test.nop:\n    - require_any: [{test: a}, {test: nothere}]")
    case("several missing", "a:\n  test.nop:\n    - require: [{test: x}, {test: y}]\nb:\n  test.nop:\n    - watch: [{test: z}]\n    - require: [{test: q}]")
    case("watch of two kinds", "a: test.nop\nb:\n  file.managed:\n    - watch: [{test: a}]\n    - watch_any: [{test: a}]")
    case("the order of the sheet", "a:\n  test.nop:\n    - require: [{test: d}]\nb: test.nop\nc: test.nop\nd:\n  test.nop:\n    - require: [{test: f}]\ne: test.nop\nf: test.nop")
    case("prereq", "x: test.nop\na:\n  test.nop:\n    - prereq: [{test: b}]\nb:\n  test.nop:\n    - require: [{test: x}]")
    case("prereq chain", "a:\n  test.nop:\n    - prereq: [{test: b}]\nb:\n  test.nop:\n    - prereq: [{test: c}]\nc:\n  test.nop:\n    - require: [{test: d}]\nd: test.nop")
    case("prereq_in chain", "c: test.nop\na:\n  test.nop:\n    - prereq_in: [{test: b}]\nb:\n  test.nop:\n    - prereq_in: [{test: c}]")
    case("two prereqs of one", "a:\n  test.nop:\n    - prereq: [{test: c}]\nb:\n  test.nop:\n    - prereq: [{test: c}]\nc: test.nop")
    case("aggregate", "a:\n  pkg.installed: []\nb:\n  pkg.installed: []\nc:\n  pkg.installed:\n    - require: [{pkg: a}]", state_aggregate=True)
    case("disabled requisites", "a:\n  test.nop:\n    - require: [{test: b}]\n    - require_in: [{test: b}]\nb: test.nop", disabled_requisites=["require", "require_in"])
    # cycles
    case("cycle of two", "a:\n  test.nop:\n    - require: [{test: b}]\nb:\n  test.nop:\n    - require: [{test: a}]")
    case("cycle of three", "a:\n  test.nop:\n    - require: [{test: b}]\nb:\n  test.nop:\n    - watch: [{test: c}]\nc:\n  test.nop:\n    - onchanges: [{test: a}]\nd: test.nop")
    case("cycle with names", "a:\n  test.nop:\n    - name: n\n    - require: [{test: b}]\nb:\n  test.nop:\n    - require: [{test: n}]")
    case("cycle with itself", "a:\n  test.nop:\n    - require: [{test: a}]")
    case("cycle of prereq", "a:\n  test.nop:\n    - prereq: [{test: b}]\nb:\n  test.nop:\n    - require: [{test: a}]")
    case("cycle by require_in", "a:\n  test.nop:\n    - require_in: [{test: b}]\n    - require: [{test: b}]\nb: test.nop")
    # include
    case("include", "include: [u]\na: test.nop", ["t"], {"u.sls": "x: test.nop"})
    case("include of a package", "include: [p]\na: test.nop", ["t"], {"p/init.sls": "include: [.q, ..u]\nx: test.nop", "p/q.sls": "include: [.r]\ny: test.nop", "p/r.sls": "z: test.nop", "u.sls": "w: test.nop"})
    case("include globs", "include: ['p*']\na: test.nop", ["t"], {"p/init.sls": "x: test.nop", "p/q.sls": "y: test.nop", "pz.sls": "z: test.nop"})
    case("include of another environment", "include: [{dev: u}]\na: test.nop", ["t"], {"dev|u.sls": "x: test.nop"})
    case("include of an environment that lacks it", "include: [{dev: u}]\na: test.nop", ["t"], {"dev|v.sls": "x: test.nop"})
    case("include of the own environment by name", "include: [{base: u}]", ["t"], {"u.sls": "x: test.nop"})
    case("include of any environment", "include: [{_xenv: u}]", ["t"], {"u.sls": "x: test.nop", "dev|u.sls": "y: test.nop"})
    case("circle of includes", "include: [u]\na: test.nop", ["t"], {"u.sls": "include: [t]\nx: test.nop"})
    case("a diamond of includes", "include: [u, v]\na: test.nop", ["t"], {"u.sls": "include: [w]\nx: test.nop", "v.sls": "include: [w]\ny: test.nop", "w.sls": "z: test.nop"})
    case("include of nothing there", "include: [nothere]\na: test.nop")
    case("include of an unknown environment", "include: [{noenv: x}]\na: test.nop")
    case("include with too many dots", "include: [...x]\na: test.nop")
    case("include that is no list", "include: u\na: test.nop")
    case("no such sls", "a: test.nop", ["nosuch"])
    case("two requested", "a: test.nop", ["u", "t"], {"u.sls": "b: test.nop"})
    case("requested globs", "a: test.nop", ["*"], {"u.sls": "b: test.nop", "p/init.sls": "c: test.nop"})
    case("requested and included", "include: [u]\na: test.nop", ["t", "u"], {"u.sls": "b: test.nop"})
    # exclude
    case("exclude an ID", "exclude: [{id: a}]\na: test.nop\nb: test.nop")
    case("exclude an sls", "include: [u]\nexclude: [{sls: u}]\na: test.nop", ["t"], {"u.sls": "x: test.nop"})
    case("exclude a string", "include: [u]\nexclude: [u]\na: test.nop", ["t"], {"u.sls": "x: test.nop"})
    case("exclude a glob", "include: [u, v]\nexclude: ['[uv]']\na: test.nop", ["t"], {"u.sls": "x: test.nop", "v.sls": "y: test.nop"})
    case("exclude what is required", "exclude: [{id: a}]\na: test.nop\nb:\n  test.nop:\n    - require: [{test: a}]")
    case("exclude unknown", "exclude: [{id: zz}, {sls: zz}, zz]\na: test.nop")
    case("exclude that is no list", "exclude: u\na: test.nop")
    case("extend of an excluded sls", "include: [u]\nexclude: [{sls: u}]\na:\n  test.nop: [{foo: 1}]", ["t"], {"u.sls": "extend:\n  a:\n    test:\n      - foo: 2"})
    # extend
    case("extend", "include: [u]\nextend:\n  x:\n    test:\n      - foo: 2\n      - bar: 3\n      - require: [{test: a}]\na: test.nop", ["t"], {"u.sls": "x:\n  test.nop:\n    - foo: 1\n    - require: [{test: y}]\ny: test.nop"})
    case("extend dotted", "extend:\n  a:\n    test.succeed_without_changes:\n      - foo: 2\na:\n  test.nop: [{foo: 1}]")
    case("extend with another module", "extend:\n  a:\n    cmd:\n      - run\n      - name: ls\na: test.nop")
    case("extend names by name", "extend:\n  a:\n    test:\n      - name: z\na:\n  test.nop: [{names: [x, y]}]")
    case("extend twice", "include: [u, v]\na:\n  test.nop: [{foo: 1}]", ["t"], {"u.sls": "extend:\n  a:\n    test:\n      - foo: 2", "v.sls": "extend:\n  a:\n    test:\n      - foo: 3\n      - bar: 4"})
    case("extend by name", "extend:\n  real:\n    test:\n      - foo: 2\na:\n  test.nop: [{name: real}]")
    case("extend an unknown ID", "extend:\n  nothere:\n    test:\n      - foo: 1\na: test.nop")
    case("extend two unknown IDs", "extend:\n  nothere:\n    test:\n      - foo: 1\n  neither:\n    test:\n      - foo: 1\na: test.nop")
    case("extend that is no map", "extend: 1\na: test.nop")
    case("extend of an ID that is no map", "extend:\n  a: 1\na: test.nop")
    case("the same extend twice", "include: [u]\nextend:\n  a:\n    test:\n      - require: [b]\na: test.nop\nb: test.nop", ["t"], {"u.sls": "extend:\n  a:\n    test:\n      - require: [b]"})
    # errors of form
    case("a list", "[a, b]")
    case("a text", "hello")
    case("an ID with a list", "a: [1]")
    case("an ID with null", "a:")
    case("an ID with a text", "a: nop")
    case("an ID with a number", "a: 5")
    case("an ID that is a number", "1:\n  test.nop: []")
    case("an ID that is a bool", "yes:\n  test.nop: []")
    case("several IDs that are wrong", "1:\n  test.nop: []\na: [1]\nb:\n  test:\nc:\n  test: x\nd:\n  test: []")
    case("a short declaration", "a:\n  test.nop:")
    case("arguments that are a map", "a:\n  test.nop: {x: 1}")
    case("arguments that are a text", "a:\n  test: nop")
    case("no function", "a:\n  test:\n    - name: x")
    case("two functions", "a:\n  test:\n    - nop\n    - succeed_without_changes")
    case("dotted and a function", "a:\n  test.nop:\n    - other")
    case("a blank in a function", "a:\n  test:\n    - no p")
    case("an argument without colon", "a:\n  test.nop:\n    - foo bar")
    case("names that are a text", "a:\n  test.nop:\n    - names: x")
    case("a requisite beside another key", "a:\n  test.nop:\n    - {require: [b], foo: 1}\nb: test.nop")
    case("the same module twice", "a:\n  test.nop: []\n  test.x: []")
    case("the same module twice, one plain", "a:\n  test: [nop]\n  test.x: []")
    case("the same module twice, the plain one last", "a:\n  test.x: []\n  test: [nop]")
    case("conflicting IDs", "include: [u]\nx: test.nop", ["t"], {"u.sls": "x:\n  cmd.run: []"})
    case("conflicting IDs of two requested", "x: test.nop", ["t", "u"], {"u.sls": "x:\n  cmd.run: []"})
    case("conflicting IDs thrice", "x: test.nop", ["t", "u", "v"], {"u.sls": "x: cmd.run", "v.sls": "x: test.fail\ny: [1]"})
    case("many errors", "include: [nothere, {noenv: x}]\nextend:\n  zz:\n    test: [{a: b}]\na: [1]\nb:\n  test.nop:\n    - require: c")


MODULE_POOL = ["test", "cmd", "pkg", "file"]
FUNCTIONS = {"test": "nop", "cmd": "run", "pkg": "installed", "file": "managed"}


def randomly(rng, index):
    files = {}
    ids = [f"{rng.choice('abcdefgh')}{i}" for i in range(rng.randint(3, 10))]
    names = [f"t{n}" for n in range(rng.randint(1, 3))]
    declared = []
    trees = {name: {} for name in names}
    for id_ in ids:
        modules = rng.sample(MODULE_POOL, rng.choice([1, 1, 1, 2]))
        trees[rng.choice(names)][id_] = modules
        declared += [(module, id_) for module in modules]
    acyclic = rng.random() < 0.75
    position = {pair: n for n, pair in enumerate(rng.sample(declared, len(declared)))}
    for sls in names:
        body = {}
        others = [name for name in names if name > sls]
        if others and rng.random() < 0.6:
            body["include"] = rng.sample(others, rng.randint(1, len(others)))
        for id_, modules in trees[sls].items():
            body[id_] = {}
            for module in modules:
                args = []
                if rng.random() < 0.3:
                    args.append({"order": rng.choice([1, 5, 5, 100, "first", "last", -1, -3, 0])})
                if rng.random() < 0.2:
                    args.append({"names": rng.sample(["n1", "n2", "n3"], rng.randint(1, 3))})
                elif rng.random() < 0.3:
                    args.append({"name": rng.choice(["n1", "n4", "/x"])})
                for _ in range(rng.choice([0, 0, 1, 1, 2])):
                    choices = [p for p in declared if p != (module, id_)]
                    if acyclic:
                        choices = [p for p in choices if position[p] < position[(module, id_)]]
                    if not choices:
                        continue
                    kind = rng.choice("require require watch onchanges onfail require_any watch_any onfail_all onfail_any onchanges_any prereq listen".split())
                    if any(kind in a for a in args):
                        continue
                    wanted = rng.sample(choices, min(len(choices), rng.randint(1, 2)))
                    args.append({kind: [rng.choice([{m: i}, {m: i}, i]) for m, i in wanted]})
                for _ in range(rng.choice([0, 0, 0, 1])):
                    choices = [p for p in declared if p != (module, id_)]
                    if acyclic:
                        choices = [p for p in choices if position[p] > position[(module, id_)]]
                    if choices:
                        kind = rng.choice("require_in watch_in onchanges_in onfail_in prereq_in use use_in".split())
                        args.append({kind: [{m: i} for m, i in rng.sample(choices, min(len(choices), rng.randint(1, 3)))]})
                body[id_][f"{module}.{FUNCTIONS[module]}"] = args
        files[f"{sls}.sls"] = json.dumps(body)
    CASES.append({"name": f"random {index}", "files": {"base": files}, "mods": names})


def build():
    written()
    rng = random.Random(20261122)
    for index in range(280):
        randomly(rng, index)


def results():
    import salt.config
    import salt.state
    from salt.utils.datastructures import HashableOrderedDict

    root = tempfile.mkdtemp()
    try:
        os.makedirs(f"{root}/etc/salt")
        with open(f"{root}/etc/salt/minion", "w") as fp:
            json.dump({"root_dir": root, "id": "web1", "file_client": "local", "renderer": "yaml", "fileserver_list_cache_time": 0,
                       "file_roots": {"base": [f"{root}/srv/base"], "dev": [f"{root}/srv/dev"]}}, fp)
        for index, entry in enumerate(CASES):
            shutil.rmtree(f"{root}/srv", ignore_errors=True)
            # Clears lists of files of the case before.
            shutil.rmtree(f"{root}/var/cache/salt/minion/file_lists", ignore_errors=True)
            for env in ("base", "dev"):
                os.makedirs(f"{root}/srv/{env}")
                for path, text in entry["files"].get(env, {}).items():
                    os.makedirs(os.path.dirname(f"{root}/srv/{env}/{path}"), exist_ok=True)
                    with open(f"{root}/srv/{env}/{path}", "w") as fp:
                        fp.write(text)
            opts = salt.config.minion_config(f"{root}/etc/salt/minion")
            opts["grains"] = {"os": "Debian", "id": "web1"}
            opts["renderer"] = "yaml"
            opts.update(entry.get("opts", {}))
            if index == 0:
                high_state = salt.state.HighState(opts)
            hs = high_state
            for key, default in {"state_auto_order": True, "state_aggregate": False, "disabled_requisites": []}.items():
                for held in (hs.opts, hs.state.opts):
                    held[key] = entry.get("opts", {}).get(key, default)
            hs.state.states = MODULES
            hs.state.state_con["loader_cache"] = {}
            hs.state._trusted_functions = {"config.option": lambda name: entry.get("opts", {}).get(name, False)}

            def high():
                hs.iorder = 10000
                hs.building_highstate = HashableOrderedDict()
                hs.avail = salt.state.LazyAvailStates(hs)
                return hs.render_highstate({"base": list(entry["mods"])})

            def show_sls():
                data, errors = high()
                errors += hs.state.verify_high(data)
                return {"errors": errors} if errors else {"data": typed(data)}

            def show_low_sls():
                data, errors = high()
                errors += hs.state.verify_high(data)
                if not errors:
                    data, errors = hs.state.compile_high_data(data)
                return {"errors": errors} if errors else {"data": typed(data)}

            def lowstate():
                data, errors = high()
                if errors:
                    return {"errors": errors}
                data, errors = hs.state.reconcile_extend(data)
                errors += hs.state.verify_high(data)
                if errors:
                    return {"errors": errors}
                data, errors = hs.state.requisite_in(data)
                data = hs.state.apply_exclude(data)
                if errors:
                    return {"errors": errors}
                data, errors = hs.state.compile_high_data(data)
                return {"errors": errors} if errors else {"data": typed(data)}

            answer = {}
            for name, act in (("sls", show_sls), ("low_sls", show_low_sls), ("low", lowstate)):
                try:
                    answer[name] = act()
                except Exception as exc:  # errors caused by faults of Salt
                    answer[name] = {"raises": type(exc).__name__}
            yield answer
    finally:
        shutil.rmtree(root)


def main():
    build()
    if os.environ.get("STATES_CHILD"):
        for answer in results():
            print(json.dumps(answer), flush=True)
        return
    answers = []
    for seed in SEEDS:
        env = {**os.environ, "STATES_CHILD": "1", "PYTHONHASHSEED": seed}
        out = subprocess.run([sys.executable, __file__], env=env, check=True, stdout=subprocess.PIPE, text=True).stdout
        answers.append([json.loads(line) for line in out.splitlines()])
    rows = []
    for entry, *found in zip(CASES, *answers):
        stable = {name: found[0][name] for name in found[0] if all(other[name] == found[0][name] for other in found)}
        if entry["name"].startswith("random"):
            stable = {name: found for name, found in stable.items() if name == "low"}
        if stable:
            rows.append({**entry, **stable})
    print("[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n]")


if __name__ == "__main__":
    main()
