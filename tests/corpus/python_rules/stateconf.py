"""The renderer `stateconf`: what high data it makes of SLS files, and the low data of it."""

pillar({"port": 8080})
COUNT, CALLS = [], []


def sls(text, line="#!stateconf yaml . jinja", name=None, shows=("state.show_sls",), **more):
    """Writes an SLS file, and shows its high data."""
    name = name or "t%d" % len(COUNT)
    COUNT.append(name)
    file(name.replace(".", "/") + ".sls", line + "\n" + text)
    CALLS.extend((fun, name) for fun in shows)


BOTH = ("state.show_sls", "state.show_low_sls")
END = "# --- end of state config ---\n"
file("plain.sls", "p:\n  test.nop: []\n")

# IDs that begin with a dot, and the goal.
sls(".a:\n  test.nop: []\nb:\n  test.nop: []\n", shows=BOTH, name="mixed")
sls(".a:\n  test.nop:\n    - name: own\n.b:\n  test.nop:\n    - require:\n      - test: .a\n", name="deep.tree.inner", shows=BOTH)
sls(".a:\n  test.nop: []\n  cmd.run:\n    - unless: 'true'\n", name="deep.init")
sls(".a: test.nop\n'.b.c': test.nop\n")
sls("a: test.nop\n", line="#!stateconf -G yaml . jinja", shows=BOTH)
sls("a: test.nop\n", line="#!stateconf", shows=BOTH)
sls("a: test.nop\n", line="#!stateconf -G")
sls("{{ sls_dir }}:\n  test.nop: []\n", name="deep.tree.dir")
sls("'{{ sls_dir }} {{ sls }} {{ saltenv }} {{ pillar.port }}':\n  test.nop: []\n", name="flatdir")
sls("{}\n")
sls("# nothing\n")
sls(".goal:\n  test.nop: []\n")
sls(".start:\n  test.nop: []\n", line="#!stateconf -s yaml . jinja")
sls(".a:\n  test.nop: []\nREPEATED::a:\n  test.nop: []\n", name="REPEATED")

# Requisites.
sls(""".a:
  test.nop:
    - require_in:
      - test: .b
    - watch_in: [{test: .b}]
.b:
  test.nop:
    - watch: [{test: .c}, {cmd: plain}]
    - onchanges: [{test: .c}]
    - listen: [{test: .c}]
    - prereq: [{test: .c}]
.c:
  test.nop:
    - use_in: [{test: .a}]
""", shows=BOTH)
sls(".a: test.nop\n.b:\n  test.nop:\n    - require: [.a]\n")
sls(".a: test.nop\n.b:\n  test.nop:\n    - require:\n      - test: .a\n      - test: ..mixed::a\n      - test: .mixed::a\n")
sls(".a:\n  test.nop:\n    - require:\n      - test: ..inner::a\n", name="deep.tree.outer")
sls(".a:\n  test.nop:\n    - require:\n      - test: ...up::a\n", name="deep.tree.uptwo")
sls(".a:\n  test.nop:\n    - require:\n      - test: ......up::a\n", name="deep.tree.toohigh")
sls(".a:\n  test.nop:\n    - require: .b\n.b: test.nop\n")
sls(".a:\n  test.nop:\n    - require: {test: .b}\n.b: test.nop\n")
sls(".a:\n  test.nop: &all\n    - x: 1\n.b:\n  test.nop: *all\n")
sls(".a:\n  test.nop:\n    - names: [x, y]\n")
sls(".a:\n  test.nop:\n    - names: [x, y]\n", line="#!stateconf -o yaml . jinja")
sls(".a:\n  test:\n    - nop\n    - x: 1\n")

# Includes, excludes, extends.
sls("include:\n  - plain\n.a: test.nop\n", shows=BOTH)
sls("include:\n  - .inner\n  - ..init\n.a: test.nop\n", name="deep.tree.incl", shows=BOTH)
sls("include:\n  - base: .inner\n  - base: plain\n.a: test.nop\n", name="deep.tree.inclenv")
sls("include:\n  - ...toohigh\n.a: test.nop\n")
sls("include:\n  - plain\nexclude:\n  - sls: .plain\n.a: test.nop\n")
sls("include:\n  - .inner\nexclude:\n  - id: deep.tree.inner::a\n  - sls: .mixed\n.a: test.nop\n", name="deep.tree.excl")
sls("include:\n  - .inner\nextend:\n  .inner::a:\n    test:\n      - more: 1\n      - require: [{test: .z}]\n.z: test.nop\n", name="deep.tree.ext")
sls("include:\n  - .inner\nextend:\n  ..inner::a:\n    test:\n      - more: 1\n      - require: [{test: .z}]\n.z: test.nop\n", name="deep.tree.exttwo", shows=BOTH)

# An order by requires.
O = "#!stateconf -o yaml . jinja"
sls(".a: test.nop\n.b: test.nop\nc:\n  test.nop: []\n  cmd.run: []\n", line=O, shows=BOTH)
sls(".a: test.nop\n.b:\n  test.nop:\n    - require: [{test: .a}]\n.c:\n  test.nop:\n    - watch: [{test: .a}]\n    - require:\n      - test: .a\n", line=O)
sls(".a:\n  test.nop:\n    - require: [{test: .b}]\n.b: test.nop\n", line=O)
sls(".a: test.nop\n.b:\n  test.nop:\n    - watch_in: [{test: .a}]\n", line=O)
sls(".a:\n  test.nop:\n    - require_in: [{test: .b}]\n.b: test.nop\n", line=O)
sls("include:\n  - plain\n.a: test.nop\n.b: test.nop\n", line=O)
sls("include:\n  - .plain\n.a: test.nop\n.b: test.nop\n", line=O)
sls("include: [plain]\nexclude: [{id: p}]\n.a: test.nop\n.b: test.nop\n", line=O)
sls("include:\n  - plain\n.a: test.nop\n.b: test.nop\nextend:\n  p:\n    test:\n      - require: [{test: .b}]\n", line=O)
sls(".a: test.nop\nextend:\n  .b:\n    test:\n      - require: [{test: .c}]\n.b: test.nop\n.c: test.nop\n", line=O)
sls("a:\n  test.nop: []\n  test.succeed_without_changes: []\n", line=O)
sls('{"a": {"test.nop": []}}\n', line="#!stateconf -o json . jinja")

# The start.
S = "#!stateconf -s yaml . jinja"
sls(".a: test.nop\n.b: test.nop\n", line=S, shows=BOTH)
sls("include: [plain]\na: test.nop\n.b: test.nop\n", line=S)
sls("include: [plain]\n", line=S)
sls("{}\n", line=S)
sls(".a: test.nop\n.b: test.nop\n", line="#!stateconf -so yaml . jinja", shows=BOTH)
sls(".a: test.nop\n.b: test.nop\n", line="#!stateconf -Gso yaml . jinja")

# Contexts.
sls(""".sls_params:
  stateconf.set:
    - port: 80
    - names: [a, b]
    - plain
# --- end of state config ---
.a:
  test.nop:
    - port: {{ sls_params.port }}
    - first: {{ sls_params['names'][0] }}
""", name="conf", shows=BOTH)
sls("""include:
  - conf
extend:
  conf::sls_params:
    stateconf.set:
      - port: 443
.b: test.nop
""", name="confext", shows=BOTH)
sls("""include:
  - .inner_conf
extend:
  .inner_conf::sls_params:
    stateconf:
      - port: 1
      - more: two
.b: test.nop
""", name="deep.relext")
sls(".sls_params:\n  stateconf.set:\n    - port: 80\n" + END + ".a:\n  test.nop:\n    - port: {{ sls_params.port }} {{ sls_params.more }}\n", name="deep.inner_conf")
sls("""include:
  - .inner_conf
extend:
  ..inner_conf::sls_params:
    stateconf:
      - port: 1
      - more: two
.b: test.nop
""", name="deep.relexttwo")
sls("""include:
  - conf
.x:
  stateconf.set:
    - seen: 1
shared:
  stateconf.set:
    - value: 5
#----- end of state config -----
.b:
  test.nop:
    - a: {{ x.seen }} {{ shared.value }}
""", name="twoconf")
sls("include: [reader]\nshared:\n  stateconf.set:\n    - value: 5\n", name="writer", shows=())
sls("{% set known = shared is defined %}\n.b:\n  test.nop:\n    - a: {{ known }} {{ shared }}\n", name="reader", shows=())
CALLS.append(("state.show_sls", "writer"))
CALLS.append(("state.show_sls", "reader"))
sls(".p:\n  stateconf:\n    - set\n    - port: 80\n" + END + ".a:\n  test.nop:\n    - port: {{ p.port }}\n", shows=BOTH)
sls(".p:\n  stateconf.context:\n    - port: 80\n" + END + ".a:\n  test.nop:\n    - port: {{ p.port }}\n")
sls(".p:\n  stateconf.set:\n    - port: 80\n.a:\n  test.nop:\n    - port: {{ p.port }}\n")
sls(".p:\n  stateconf.set:\n    - port: {{ pillar.port }}\n    - require: [{test: plain}]\n" + END + ".a:\n  test.nop:\n    - port: {{ p.port }} {{ p.require }}\n")
sls("include: [plain]\n.p:\n  stateconf.set: []\n" + END + "{% for n in [1, 2] %}.s{{ n }}: test.nop\n{% endfor %}", line=S)

# Pipes, formats and arguments.
sls('{"a": {"test.nop": [{"n": {{ 1 + 1 }}}]}}\n', line="#!stateconf json . jinja")
sls(".a: test.nop\n", line="#!yaml|stateconf -p")
sls(".a: test.nop\n.b: test.nop\n", line="#!jinja|yaml|stateconf -p -o")
sls(".p:\n  stateconf.set:\n    - port: 80\n" + END, line="#!yaml|stateconf -Gp")
sls("{{ 'a' }}: test.nop\n", line="#!jinja|stateconf yaml . text")
sls("a: test.nop\n", line="#!stateconf yaml")
sls("a: test.nop\n", line="#!stateconf nothing . jinja")
sls("a: test.nop\n", line="#!stateconf yaml . nothing")
sls("a: test.nop\n", line="#!stateconf -x yaml . jinja")
sls("a: test.nop\n", line="#!stateconf yaml -o . jinja")
sls("a: test.nop\n", line="#!stateconf -G -- yaml . jinja")
sls("a: test.nop\n", line="#!stateconf yaml.jinja")

# What is no high data.
sls("[a]\n")
sls("text\n")
sls("a: 1\n")
sls("a: [test]\n")
sls("a:\n")
sls("1: test.nop\n")
sls(".a:\n  test.nop:\n")
sls(".a:\n  test.nop: 5\n")
sls(".a:\n  test.nop:\n    - require: 5\n")
sls(".a:\n  test.nop:\n    - require: [{test: 5}]\n")
sls("a:\n  1: []\n")
sls("include: plain\n.a: test.nop\n")
sls("include: 5\n.a: test.nop\n")
sls("include: [5]\n.a: test.nop\n")
sls("extend: 5\n.a: test.nop\n")
sls("exclude: [p]\n.a: test.nop\n")
sls("exclude: 5\n.a: test.nop\n")
sls(".a: {{ no( }}\n")
sls(".a: b: c\n")
sls(".p:\n  stateconf.set: 5\n")

# States that run.
file("run.sls", "#!stateconf -so yaml . jinja\n.params:\n  stateconf.set:\n    - word: hello\n" + END + ".one:\n  test.configurable_test_state:\n    - changes: true\n    - result: true\n    - comment: {{ params.word }}\n.two:\n  test.nop: []\n")
for one in CALLS + [("state.sls", "run"), ("state.sls", "confext")]:
    call(*one)
