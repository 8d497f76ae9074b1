"""The situations of make_state_situations.py.

A situation: `name`; `sls`, the states to apply; `tree`, more files of the file server; `pillar`; `before`, files (paths with entries of
directory_tree.py; null is a directory); `setup`, a shell script that makes more files; `options` of the minion;
`environments`, trees of saltenvs beside base by their names; `unordered`, whether Salt iterates over a set, so that lines and lists of the return
have no order; `unseen`, files that are not compared. `@@` is the directory of the files.
"""

import textwrap

import state_situation_runs
import state_situation_x509

FAMILIES = {}


def situation(name, sls, **more):
    """Adds a situation to the family that its name begins with. `ours`: by run, fields of results (`return`) and files that must differ from Salt's,
    with the reason `why`."""
    case = {"name": name, **{k: v for k, v in more.items()}, "sls": textwrap.dedent(sls).lstrip("\n")}
    FAMILIES.setdefault(name.split(".")[0], []).append(case)


# --- requisites and what every state may have ------------------------------------------------------------------------------

situation("run.require, and what depends on a failure", """
    good:
      test.succeed_with_changes
    bad:
      test.fail_without_changes
    needs good:
      test.nop:
        - require: [test: good]
    needs bad:
      test.nop:
        - require: [test: bad]
    needs what needs bad:
      test.nop:
        - require: [test: needs bad]
    """)
situation("run.watch: mod_watch of cmd.wait", """
    conf:
      file.managed:
        - name: @@/conf
        - contents: x
    reload:
      cmd.wait:
        - name: echo reloaded >> @@/log
        - watch: [file: conf]
    """)
situation("run.onchanges, onfail, prereq, listen", """
    changed:
      test.succeed_with_changes
    still:
      test.succeed_without_changes
    failed:
      test.fail_without_changes
    on changed:
      test.nop:
        - onchanges: [test: changed]
    on still:
      test.nop:
        - onchanges: [test: still]
    on failed:
      test.nop:
        - onfail: [test: failed]
    on no failure:
      test.nop:
        - onfail: [test: still]
    before change:
      test.nop:
        - prereq: [test: changed]
    before nothing:
      test.nop:
        - prereq: [test: still]
    listener:
      cmd.wait:
        - name: echo heard
        - listen: [test: changed]
    """)
situation("run.unless, onlyif, creates, check_cmd", """
    {% for n, c in {'u0': 'unless: "true"', 'u1': 'unless: "false"', 'o0': 'onlyif: "true"', 'o1': 'onlyif: "false"'}.items() %}
    {{ n }}:
      cmd.run:
        - name: echo {{ n }} >> @@/log
        - {{ c }}
    {% endfor %}
    both:
      test.nop:
        - unless: 'true'
        - onlyif: ['true', 'true']
    several:
      test.nop:
        - unless: ['true', 'false']
    module:
      test.nop:
        - onlyif:
          - fun: test.true
          - fun: test.echo
            args: [hi]
    made:
      cmd.run:
        - name: touch @@/made
        - creates: @@/made
    made both:
      cmd.run:
        - name: touch @@/made @@/made2
        - creates: [@@/made, @@/made2]
    checked:
      test.nop:
        - check_cmd: ['true']
    checked and failed:
      test.nop:
        - check_cmd: ['true', 'false']
    """)
situation("run.names, order, use, and IDs of several modules", """
    three:
      test.nop:
        - names: [b, a, {c: [{order: 1}]}]
    last:
      test.nop:
        - order: last
    first:
      test.nop:
        - order: first
    both:
      test.nop: []
      cmd.run:
        - name: echo hi
    pattern:
      cmd.run:
        - name: pwd
        - cwd: @@
    user:
      cmd.run:
        - name: pwd; true
        - use: [cmd: pattern]
    """)
situation("run.failhard of a state", """
    a:
      test.nop
    b:
      test.fail_without_changes:
        - failhard: true
    c:
      test.nop
    """)
situation("run.retry in test mode and with an end that comes", """
    a:
      test.configurable_test_state:
        - result: false
        - changes: false
        - comment: no
        - retry: {attempts: 2, interval: 0}
    """)
situation("run.comments that are no text", """
    no text:
      test.succeed_without_changes:
        - comment: {a: [1, b]}
    nothing:
      test.fail_without_changes:
        - comment: null
    with changes:
      test.succeed_with_changes:
        - comment: 0.5
    notification:
      test.show_notification:
        - text: 7
    list:
      test.configurable_test_state:
        - comment: [one, two]
    number:
      test.configurable_test_state:
        - comment: 5
    found in the end:
      test.configurable_test_state:
        - result: false
        - changes: false
        - comment: null
        - retry: {attempts: 2, interval: 0}
    """)
situation("run.errors of the compiler", """
    a:
      test.nop:
        - require: [test: nothere]
    """)
situation("run.an unknown function, and a missing argument", """
    a:
      test.nosuch: []
    b:
      file.symlink:
        - name: @@/x
    """)
situation("run.slots, no_log, warnings", """
    slot:
      cmd.run:
        - name: __slot__:salt:test.echo(echo hi) ~ there
    secret:
      cmd.run:
        - name: echo secret
        - no_log: true
    warned:
      test.configurable_test_state:
        - changes: false
        - warnings: [one, two]
    """)
situation("run.global_state_conditions", """
    a:
      test.nop: []
    b:
      cmd.run:
        - name: echo b
    """, options={"global_state_conditions": {"test.nop": ["not m1"], "cmd": ["m1"]}})
situation("run.includes, extend and exclude", """
    include: [other]
    extend:
      other one:
        cmd.run:
          - name: echo extended
    exclude:
      - id: other two
    mine:
      test.nop: []
    """, tree={"other.sls": "other one:\n  cmd.run:\n    - name: echo first\nother two:\n  test.nop: []\n"})
situation("run.state_aggregate and parallel", """
    a:
      test.nop:
        - parallel: true
    b:
      test.nop:
        - parallel: true
        - require: [test: a]
    """)

# --- test --------------------------------------------------------------------------------------------------------------------

situation("test.every function", """
    {% for fun in ['nop', 'succeed_without_changes', 'fail_without_changes', 'succeed_with_changes', 'fail_with_changes'] %}
    {{ fun }}:
      test.{{ fun }}: []
    {% endfor %}
    commented:
      test.succeed_with_changes:
        - comment: my own
    show:
      test.show_notification:
        - text: seen
    """)
situation("test.configurable_test_state in its forms", """
    {% for changes in [true, false] %}
    {% for result in [true, false] %}
    {{ changes }} {{ result }}:
      test.configurable_test_state:
        - changes: {{ changes }}
        - result: {{ result }}
        - comment: said
    {% endfor %}
    {% endfor %}
    warned:
      test.configurable_test_state:
        - changes: false
        - warnings: careful
    wrong:
      test.configurable_test_state:
        - changes: neither
    """)
situation("test.check_pillar", """
    there:
      test.check_pillar:
        - present: [a, b:c]
        - string: a
        - integer: b:c
    gone:
      test.check_pillar:
        - present: [nope]
        - boolean: [a, nope]
        - listing: a
        - dictionary: b
        - integer: a
        - string: b
    """, pillar={"a": "text", "b": {"c": 1}})
situation("test.configurable_test_state after a change", """
    a:
      test.succeed_with_changes
    b:
      test.configurable_test_state:
        - changes: false
        - onchanges: [test: a]
    """)

# --- cmd ---------------------------------------------------------------------------------------------------------------------

situation("cmd.run: output, errors, exit codes", """
    out:
      cmd.run:
        - name: echo out; echo err >&2
    bad:
      cmd.run:
        - name: echo why; exit 3
    allowed:
      cmd.run:
        - name: exit 3
        - success_retcodes: [3]
    hidden:
      cmd.run:
        - name: echo hidden
        - hide_output: true
    quiet:
      cmd.run:
        - name: printf 'a\\n\\n'
        - output_loglevel: quiet
    """)
situation("cmd.run: cwd, env, shell, umask", """
    where:
      cmd.run:
        - name: pwd > where
        - cwd: @@
    nowhere:
      cmd.run:
        - name: pwd
        - cwd: @@/nosuch
    with env:
      cmd.run:
        - name: echo "$A $B"
        - env: [{A: one}, {B: 'two'}]
    env map:
      cmd.run:
        - name: echo "$A"
        - env: {A: 'yes'}
    bash:
      cmd.run:
        - name: '[[ a == a ]] && echo bash'
        - shell: /bin/bash
    masked:
      cmd.run:
        - name: touch @@/masked
        - umask: '077'
    """)
situation("cmd.run: stateful", """
    changes:
      cmd.run:
        - name: echo; echo "changed=yes comment='it was' k=v"
        - stateful: true
    does not:
      cmd.run:
        - name: echo "changed=no comment=same"
        - stateful: true
    json:
      cmd.run:
        - name: 'echo ''{"changed": true, "comment": "json", "n": 1}'''
        - stateful: true
    broken:
      cmd.run:
        - name: echo nothing
        - stateful: true
    tested:
      cmd.run:
        - name: echo "changed=yes comment=real"
        - stateful: [{test_name: 'echo "changed=yes comment=tested"'}]
    """)
situation("cmd.script: a script of the file server", """
    plain:
      cmd.script:
        - source: salt://s.sh
        - args: one 'two words'
        - cwd: /
    as template:
      cmd.script:
        - name: salt://t.sh
        - template: jinja
        - context: {who: you}
    missing:
      cmd.script:
        - source: salt://nope.sh
    fails:
      cmd.script:
        - source: salt://f.sh
    once:
      cmd.script:
        - source: salt://m.sh
        - creates: @@/once
    """, tree={
    "s.sh": "#!/bin/sh\necho \"$# $2\"\n", "t.sh": "#!/bin/sh\necho hello {{ who }}\n", "f.sh": "#!/bin/sh\nexit 7\n",
    "m.sh": "#!/bin/sh\ntouch @@/once\n",
}, why="stderr says why nothing was fetched", ours={run: {"return": {"cmd_|-missing_|-missing_|-script": {"changes": {
    "pid": 0, "retcode": 1, "stdout": "", "stderr": "Cannot fetch salt://nope.sh: the file server has no such file", "cache_error": True,
}}}} for run in ("did", "again")})
situation("cmd.wait and cmd.wait_script that wait", """
    alone:
      cmd.wait:
        - name: echo never
    change:
      test.succeed_with_changes
    told:
      cmd.wait_script:
        - source: salt://s.sh
        - watch: [test: change]
    """, tree={"s.sh": "#!/bin/sh\necho told\n"})
situation("cmd.run: timeout, and a program that is not there", """
    slow:
      cmd.run:
        - name: sleep 5
        - timeout: 1
    none:
      cmd.run:
        - name: /nosuch/program
    """)
situation("cmd.run_all by module.run", """
    a:
      module.run:
        - name: cmd.run_all
        - cmd: sh -c 'echo why >&2; exit 2'
    """)

# --- environ -----------------------------------------------------------------------------------------------------------------

situation("environ.setenv", """
    one:
      environ.setenv:
        - name: SITUATION_A
        - value: a
    map:
      environ.setenv:
        - name: ignored
        - value: {SITUATION_B: b, SITUATION_C: 'c d'}
    gone:
      environ.setenv:
        - name: ignored
        - value: {SITUATION_NONE: false}
        - false_unsets: true
    wrong:
      environ.setenv:
        - name: SITUATION_D
        - value: [1]
    """)

# --- module ------------------------------------------------------------------------------------------------------------------

situation("module.run: both forms", """
    old:
      module.run:
        - name: test.echo
        - text: hi
    new:
      module.run:
        - test.echo: [{text: hi}]
    several:
      module.run:
        - test.arg: [1, {k: 2}]
        - test.echo: [there]
    untrue:
      module.run:
        - name: test.false
    new untrue:
      module.run:
        - test.false: []
    """)
situation("module.run: what is wrong", """
    none:
      module.run:
        - name: no.such
    new none:
      module.run:
        - no.such: []
    missing:
      module.run:
        - name: test.echo
    waits:
      module.wait:
        - name: test.echo
        - text: hi
    """)

# --- file: managed -----------------------------------------------------------------------------------------------------------

situation("file.managed: contents", """
    text:
      file.managed:
        - name: @@/text
        - contents: one line
    lines:
      file.managed:
        - name: @@/lines
        - contents: [a, b, {{ 'c' }}]
    block:
      file.managed:
        - name: @@/block
        - contents: |
            a
              b
    bare:
      file.managed:
        - name: @@/bare
        - contents: no newline
        - contents_newline: false
    empty:
      file.managed:
        - name: @@/empty
    pillar:
      file.managed:
        - name: @@/pillar
        - contents_pillar: a:b
    no pillar:
      file.managed:
        - name: @@/nopillar
        - contents_pillar: a:nope
    number:
      file.managed:
        - name: @@/number
        - contents: 17
    """, pillar={"a": {"b": "from pillar\n"}})
situation("file.managed: a diff, modes, a directory in the way", """
    changed:
      file.managed:
        - name: @@/changed
        - source: salt://new
        - mode: '0640'
    mode:
      file.managed:
        - name: @@/mode
        - contents: same
        - mode: 600
    hidden:
      file.managed:
        - name: @@/hidden
        - contents: new
        - show_changes: false
    same:
      file.managed:
        - name: @@/same
        - source: salt://new
    kept:
      file.managed:
        - name: @@/kept
        - contents: other
        - replace: false
        - mode: 600
    folder:
      file.managed:
        - name: @@/folder
        - contents: x
    relative:
      file.managed:
        - name: relative
        - contents: x
    orphan:
      file.managed:
        - name: @@/no/such/orphan
        - contents: x
    made:
      file.managed:
        - name: @@/made/dirs/x
        - contents: x
        - makedirs: true
        - dir_mode: 750
    not created:
      file.managed:
        - name: @@/notcreated
        - contents: x
        - create: false
    """, tree={"new": "a\nB\nc\nd\n"}, before={
    "changed": "a\nb\nc\nd\n", "mode": "same\n", "hidden": "old\n", "same": "a\nB\nc\nd\n", "kept": "mine\n", "folder/x": "",
})
situation("file.managed: sources", """
    server:
      file.managed:
        - name: @@/server
        - source: salt://src/a
        - mode: keep
    list:
      file.managed:
        - name: @@/list
        - source: [salt://nope, salt://src/a]
    none of a list:
      file.managed:
        - name: @@/none
        - source: [salt://nope, salt://nope2]
    local:
      file.managed:
        - name: @@/local
        - source: @@/from
    hashed:
      file.managed:
        - name: @@/hashed
        - source: @@/from
        - source_hash: sha256=5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03
    wrongly hashed:
      file.managed:
        - name: @@/wrong
        - source: @@/from
        - source_hash: sha256=0000000000000000000000000000000000000000000000000000000000000000
    missing:
      file.managed:
        - name: @@/missing
        - source: salt://nope
    no hash:
      file.managed:
        - name: @@/nohash
        - source: http://127.0.0.1:1/x
    """, tree={"src/a": "from the server\n"}, before={"from": "hello\n"})
situation("file.managed: templates", """
    jinja:
      file.managed:
        - name: @@/jinja
        - source: salt://t
        - template: jinja
        - defaults: {a: default a, b: default b}
        - context: {a: own a}
    contents:
      file.managed:
        - name: @@/contents
        - contents: "{{ '{{' }} pillar.x {{ '}}' }}"
        - template: jinja
    undefined:
      file.managed:
        - name: @@/undefined
        - source: salt://bad
        - template: jinja
    wrong engine:
      file.managed:
        - name: @@/engine
        - source: salt://t
        - template: nosuch
    """, tree={"t": "{{ a }} {{ b }} {{ pillar.x }} {{ name }}\n", "bad": "one\n{{ nope }}\n"}, pillar={"x": "px"})
situation("file.managed: check_cmd", """
    good:
      file.managed:
        - name: @@/good
        - contents: x
        - check_cmd: grep -q x
    bad:
      file.managed:
        - name: @@/bad
        - contents: y
        - check_cmd: grep -q x
    """, before={"bad": "x\n"})
situation("file.managed: links, binary content, encodings", """
    link:
      file.managed:
        - name: @@/link
        - contents: through
    followed not:
      file.managed:
        - name: @@/link2
        - contents: in place
        - follow_symlinks: false
    binary:
      file.managed:
        - name: @@/binary
        - source: salt://bin
    latin:
      file.managed:
        - name: @@/latin
        - contents: grün
        - encoding: latin-1
    """, tree={"bin": "\x00\x01\x02"}, before={
    "target": "t\n", "target2": "t2\n", "link": {"link": "@@/target"}, "link2": {"link": "@@/target2"}, "binary": {"hex": "00ff01"},
})
situation("file.managed: what Salt's diff says of final newlines and long files", """
    a:
      file.managed:
        - name: @@/a
        - contents: with
        - contents_newline: true
    b:
      file.managed:
        - name: @@/b
        - contents: without
        - contents_newline: false
    long:
      file.managed:
        - name: @@/long
        - contents: |
            {% for n in range(60) %}line {{ n if n not in (10, 40) else 'changed' }}
            {% endfor %}
    emptied:
      file.managed:
        - name: @@/emptied
        - contents: ''
        - allow_empty: true
    not emptied:
      file.managed:
        - name: @@/kept
        - contents: ''
        - allow_empty: false
    """, before={
    "a": "with", "b": "without\n", "long": "".join(f"line {n}\n" for n in range(60)), "emptied": "x\n", "kept": "x\n",
})
situation("file.managed, append: texts that are maps", """
    {% import_yaml "map.yaml" as m %}
    imported:
      file.managed:
        - name: @@/imported
        - contents: {{ m }}
    part:
      file.managed:
        - name: @@/part
        - contents: {{ m.deep }}
    written:
      file.managed:
        - name: @@/written
        - contents:
            a: 1
            b: [x, {c: null}, {}]
    listed:
      file.managed:
        - name: @@/listed
        - contents: [{a: 1}, {b: [2, true]}, [3]]
    appended:
      file.append:
        - name: @@/appended
        - text: {a: {b: 1}}
    appended list:
      file.append:
        - name: @@/appended
        - text: [line, {c: 1}]
    """, tree={"map.yaml": "b: 1\na: [x, {y: z}]\ndeep: {p: {q: r}}\n"}, before={"appended": "first\n"})
situation("file.managed: backup", """
    a:
      file.managed:
        - name: @@/a
        - contents: new
        - backup: '.old'
    """, before={"a": "old\n"})

# --- file: directories, links, what is there -------------------------------------------------------------------------------------

situation("file.directory", """
    new:
      file.directory:
        - name: @@/new
    deep:
      file.directory:
        - name: @@/deep/er
        - makedirs: true
        - mode: 700
    no parent:
      file.directory:
        - name: @@/no/parent
    file:
      file.directory:
        - name: @@/file
    forced:
      file.directory:
        - name: @@/forced
        - force: true
    there:
      file.directory:
        - name: @@/there
    mode:
      file.directory:
        - name: @@/mode
        - mode: 711
    """, before={"file": "x", "forced": "x", "there": None, "mode": None})
situation("file.directory: recurse and clean", """
    recurse:
      file.directory:
        - name: @@/tree
        - dir_mode: 711
        - file_mode: 600
        - recurse: [mode]
    clean:
      file.directory:
        - name: @@/clean
        - clean: true
        - exclude_pat: 'keep*'
        - require: [file: managed]
    managed:
      file.managed:
        - name: @@/clean/sub/managed
        - contents: x
        - makedirs: true
    depth:
      file.directory:
        - name: @@/depth
        - file_mode: 600
        - recurse: [mode]
        - max_depth: 0
    files only:
      file.directory:
        - name: @@/ignore
        - file_mode: 600
        - dir_mode: 700
        - recurse: [mode, ignore_dirs]
    """, before={
    "tree/a": "", "tree/sub/b": "", "clean/junk": "j", "clean/keep1": "k", "clean/old/file": "o", "depth/a": "", "depth/sub/b": "",
    "ignore/sub/a": "",
}, unordered=True)
situation("file.absent, exists, missing", """
    file:
      file.absent:
        - name: @@/file
    tree:
      file.absent:
        - name: @@/tree
    link:
      file.absent:
        - name: @@/link
    gone:
      file.absent:
        - name: @@/gone
    relative:
      file.absent:
        - name: relative
    exists:
      file.exists:
        - name: @@/kept
    exists not:
      file.exists:
        - name: @@/gone
    missing:
      file.missing:
        - name: @@/gone
    missing not:
      file.missing:
        - name: @@/kept
    """, before={"file": "x", "tree/sub/x": "", "link": {"link": "@@/kept"}, "kept": "k"})
situation("file.symlink", """
    new:
      file.symlink:
        - name: @@/new
        - target: @@/target
    same:
      file.symlink:
        - name: @@/same
        - target: @@/target
    other:
      file.symlink:
        - name: @@/other
        - target: @@/target
    file:
      file.symlink:
        - name: @@/file
        - target: @@/target
    forced:
      file.symlink:
        - name: @@/forced
        - target: @@/target
        - force: true
    backed up:
      file.symlink:
        - name: @@/backed
        - target: @@/target
        - backupname: @@/backed.old
    deep:
      file.symlink:
        - name: @@/deep/link
        - target: ../target
        - makedirs: true
    no parent:
      file.symlink:
        - name: @@/no/link
        - target: x
    """, before={
    "target": "t", "same": {"link": "@@/target"}, "other": {"link": "@@/elsewhere"}, "file": "f", "forced": "f", "backed": "b",
})
situation("file.hardlink, touch, rename, copy", """
    hard:
      file.hardlink:
        - name: @@/hard
        - target: @@/one
    touched:
      file.touch:
        - name: @@/touched
    deep:
      file.touch:
        - name: @@/deep/touched
        - makedirs: true
    moved:
      file.rename:
        - name: @@/moved
        - source: @@/two
    taken:
      file.rename:
        - name: @@/taken
        - source: @@/three
    copied:
      file.copy:
        - name: @@/copied
        - source: @@/one
    copied over:
      file.copy:
        - name: @@/taken
        - source: @@/one
    forced:
      file.copy:
        - name: @@/forced
        - source: @@/one
        - force: true
        - preserve: true
    no source:
      file.copy:
        - name: @@/nosource
        - source: @@/nope
    """, before={"one": {"text": "1", "mode": "0600"}, "two": "2", "three": "3", "taken": "taken", "forced": "f"})
situation("file.recurse", """
    all:
      file.recurse:
        - name: @@/all
        - source: salt://src
    modes:
      file.recurse:
        - name: @@/modes
        - source: salt://src
        - file_mode: 600
        - dir_mode: 700
    clean:
      file.recurse:
        - name: @@/clean
        - source: salt://src
        - clean: true
    some:
      file.recurse:
        - name: @@/some
        - source: salt://src
        - include_pat: '*.txt'
    others:
      file.recurse:
        - name: @@/others
        - source: salt://src
        - exclude_pat: 'E@sub/.*'
    none:
      file.recurse:
        - name: @@/none
        - source: salt://nope
    template:
      file.recurse:
        - name: @@/template
        - source: salt://tpl
        - template: jinja
        - context: {v: value}
    """, tree={"src/a.txt": "a\n", "src/sub/b.txt": "b\n", "src/sub/c.conf": "c\n", "tpl/t": "{{ v }}\n"},
    before={"clean/junk": "j", "clean/a.txt": "other\n"}, unordered=True)

situation("file.directory: what requisites keep, and that are not looked at", """
    clean:
      file.directory:
        - name: @@/clean
        - clean: true
        - require: [file: elsewhere, file: gone, file: odd, file: tree]
    elsewhere:
      file.directory:
        - name: @@/elsewhere
    gone:
      file.recurse:
        - name: @@/clean/gone
        - source: salt://nosuch
        - onlyif: 'false'
    odd:
      file.managed:
        - name: clean/odd
        - onlyif: 'false'
    tree:
      file.recurse:
        - name: @@/clean/tree
        - source: salt://t
    """, tree={"t/a": "a", "t/s/b": "b"}, before={"elsewhere/x": "x", "clean/gone/x": "x", "clean/junk": "j", "clean/odd": "o"}, unordered=True)
situation("file.managed: contents that are bytes", """
    text:
      file.managed: [name: "@@/text", contents: !!binary aGVsbG8K]
    bytes:
      file.managed: [name: "@@/bytes", contents: !!binary /wD+]
    rendered:
      file.managed: [name: "@@/rendered", contents: !!binary aGVsbG8K, template: jinja]
    bytes, rendered:
      file.managed: [name: "@@/refused", contents: !!binary /wD+, template: jinja]
    none:
      file.managed: [name: "@@/none", contents: [], allow_empty: false]
    nothing:
      file.managed: [name: "@@/nothing", contents: "", allow_empty: false]
    nothing of the pillar:
      file.managed: [name: "@@/pillar", contents_pillar: empty, allow_empty: false]
    nothing of the grains:
      file.managed: [name: "@@/grains", contents_grains: nosuch, allow_empty: false]
    """, pillar={"empty": ""})
situation("file.recurse: links of links", """
    links:
      file.recurse: [name: "@@/d", source: "salt://t", keep_symlinks: true]
    two sources:
      file.recurse: [name: "@@/e", source: ["salt://t", "salt://u"], keep_symlinks: true, merge: true]
    cleaned:
      file.recurse: [name: "@@/c", source: "salt://t", clean: true, keep_symlinks: true]
    in order but for old files:
      file.recurse: [name: "@@/o", source: "salt://v", clean: true]
    above:
      file.recurse: [name: "@@/p/..", source: "salt://v"]
    link that a file of the other source follows:
      file.recurse: [name: "@@/q", source: ["salt://w", "salt://x"], keep_symlinks: true, merge: true]
    link to a file that is a directory of the other source:
      file.recurse: [name: "@@/z", source: ["salt://x", "salt://y"], keep_symlinks: true, merge: true]
    """, tree={"t/a": "a", "t/l": {"link": "a"}, "t/m": {"link": "l"}, "t/dl": {"link": "s"}, "t/s/x": "x", "t/e": None, "t/el": {"link": "e"},
    "t/ell": {"link": "el"}, "u/s/y": "y", "u/dl": "no link", "u/a": {"link": "b"}, "u/b": "b", "u/l/in": "in", "u/x": {"link": "s"},
    "v/a": "a", "w/s": "file", "x/s/f": "f", "x/k": {"link": "s"},
    "y/s": "file", "y/j": {"link": "s"}},
    before={"c/old": "o", "o/a": "a", "o/old": "x", "p": None}, unordered=True)

# --- file: edits -------------------------------------------------------------------------------------------------------------

situation("file.append, prepend", """
    text:
      file.append:
        - name: @@/a
        - text: added
    lines:
      file.append:
        - name: @@/a
        - text: [one, 'two  words', added]
    new:
      file.append:
        - name: @@/new
        - text: first
    no parent:
      file.append:
        - name: @@/no/a
        - text: x
    made:
      file.append:
        - name: @@/made/a
        - text: x
        - makedirs: true
    source:
      file.append:
        - name: @@/source
        - source: salt://t
    before:
      file.prepend:
        - name: @@/p
        - text: [top, second]
    header:
      file.prepend:
        - name: @@/h
        - text: |
            top
        - header: true
    """, tree={"t": "from {{ grains.id }}\n"}, before={"a": "zero\ntwo words\n", "source": "s", "p": "a\nb\n", "h": "x\ntop\n"})
situation("file.replace", """
    all:
      file.replace:
        - name: @@/a
        - pattern: 'b(\\d)'
        - repl: 'B\\1'
        - backup: false
    count:
      file.replace:
        - name: @@/count
        - pattern: x
        - repl: y
        - count: 1
        - backup: false
    append:
      file.replace:
        - name: @@/append
        - pattern: ^key=.*
        - repl: key=1
        - append_if_not_found: true
        - backup: false
    prepend:
      file.replace:
        - name: @@/prepend
        - pattern: ^key=.*
        - repl: key=1
        - prepend_if_not_found: true
        - not_found_content: '# key'
        - backup: false
    flags:
      file.replace:
        - name: @@/flags
        - pattern: 'A.C'
        - repl: done
        - flags: [IGNORECASE, DOTALL]
        - backup: false
    hidden:
      file.replace:
        - name: @@/hidden
        - pattern: a
        - repl: b
        - show_changes: false
        - backup: .bak
    literal:
      file.replace:
        - name: @@/literal
        - pattern: a
        - repl: '\\1'
        - backslash_literal: true
        - backup: false
    nothing:
      file.replace:
        - name: @@/nothing
        - pattern: nope
        - repl: x
    missing:
      file.replace:
        - name: @@/missing
        - pattern: a
        - repl: b
    missing is fine:
      file.replace:
        - name: @@/missing
        - pattern: a
        - repl: b
        - ignore_if_missing: true
    """, before={
    "a": "a\nb1\nb2\n", "count": "x x\nx\n", "append": "a\n", "prepend": "a\n", "flags": "a\nc\n", "hidden": "a\n", "literal": "a\n",
    "nothing": "a\n",
})
situation("file.blockreplace", """
    there:
      file.blockreplace:
        - name: @@/there
        - marker_start: '# start'
        - marker_end: '# end'
        - content: |
            new
            lines
        - backup: false
    append:
      file.blockreplace:
        - name: @@/append
        - marker_start: '# start'
        - marker_end: '# end'
        - content: x
        - append_if_not_found: true
        - backup: false
    prepend:
      file.blockreplace:
        - name: @@/prepend
        - marker_start: '# start'
        - marker_end: '# end'
        - content: x
        - prepend_if_not_found: true
        - backup: false
    none:
      file.blockreplace:
        - name: @@/none
        - marker_start: '# start'
        - marker_end: '# end'
        - content: x
    no end:
      file.blockreplace:
        - name: @@/noend
        - marker_start: '# start'
        - marker_end: '# end'
        - content: x
    accumulated:
      file.blockreplace:
        - name: @@/acc
        - marker_start: '# start'
        - marker_end: '# end'
        - content: 'first'
        - backup: false
    acc one:
      file.accumulated:
        - name: acc
        - filename: @@/acc
        - text: gathered
        - require_in: [file: accumulated]
    inserted:
      file.blockreplace:
        - name: @@/after
        - marker_start: '# start'
        - marker_end: '# end'
        - content: x
        - insert_after_match: ^b
        - backup: false
    """, before={
    "there": "a\n# start\nold\n# end\nz\n", "append": "a\n", "prepend": "a\n", "none": "a\n", "noend": "# start\nx\n",
    "acc": "# start\n# end\n", "after": "a\nb\nc\n",
})
situation("file.line", """
    ensure after:
      file.line:
        - name: @@/ensure
        - mode: ensure
        - content: new
        - after: ^a
    ensure before:
      file.line:
        - name: @@/ensureb
        - mode: ensure
        - content: new
        - before: ^b
    insert end:
      file.line:
        - name: @@/insert
        - mode: insert
        - content: last
        - location: end
    replace:
      file.line:
        - name: @@/replace
        - mode: replace
        - match: ^b
        - content: B
    delete:
      file.line:
        - name: @@/delete
        - mode: delete
        - content: b
        - match: b
    indented:
      file.line:
        - name: @@/indent
        - mode: ensure
        - content: new
        - after: one
    no mode:
      file.line:
        - name: @@/ensure
        - content: x
    missing:
      file.line:
        - name: @@/missing
        - mode: ensure
        - content: x
        - after: a
    """, before={
    "ensure": "a\nb\n", "ensureb": "a\nb\n", "insert": "a\n", "replace": "a\nb\nc\n", "delete": "a\nb\nc\n", "indent": "top\n  one\n  two\n",
})
situation("file.comment, uncomment", """
    comment:
      file.comment:
        - name: @@/c
        - regex: ^b
        - backup: false
    again:
      file.comment:
        - name: @@/done
        - regex: ^b
    none:
      file.comment:
        - name: @@/c2
        - regex: ^nope
    ignored:
      file.comment:
        - name: @@/gone
        - regex: ^a
        - ignore_missing: true
    missing:
      file.comment:
        - name: @@/gone
        - regex: ^a
    char:
      file.comment:
        - name: @@/char
        - regex: ^a
        - char: ';; '
        - backup: false
    uncomment:
      file.uncomment:
        - name: @@/u
        - regex: b
        - backup: false
    uncommented:
      file.uncomment:
        - name: @@/u2
        - regex: b
    """, before={"c": "a\nbb\n", "done": "a\n#bb\n", "c2": "a\n", "char": "a\n", "u": "a\n#  b\n", "u2": "b\n"})
situation("file.keyvalue", """
    one:
      file.keyvalue:
        - name: @@/sshd
        - key: Port
        - value: 2222
        - separator: ' '
        - uncomment: '#'
        - append_if_not_found: true
    several:
      file.keyvalue:
        - name: @@/conf
        - key_values: {a: '1', b: '2', new: '3'}
        - separator: '='
        - append_if_not_found: true
    not found:
      file.keyvalue:
        - name: @@/other
        - key: nope
        - value: x
    hidden:
      file.keyvalue:
        - name: @@/hidden
        - key: a
        - value: secret
        - show_changes: false
    missing:
      file.keyvalue:
        - name: @@/missing
        - key: a
        - value: b
    """, before={"sshd": "#Port 22\nX yes\n", "conf": "a=0\nb = 2\n", "other": "a=1\n", "hidden": "a=1\n"})
situation("file.serialize", """
    {% for s in ['json', 'yaml', 'configparser', 'python'] %}
    {{ s }}:
      file.serialize:
        - name: @@/{{ s }}
        - serializer: {{ s }}
        - dataset: {main: {b: 1, a: 'two'}}
    {% endfor %}
    merged:
      file.serialize:
        - name: @@/merged
        - serializer: json
        - merge_if_exists: true
        - dataset: {b: 2}
    from pillar:
      file.serialize:
        - name: @@/frompillar
        - serializer: json
        - dataset_pillar: data
        - serializer_opts: [{indent: 4}]
    both:
      file.serialize:
        - name: @@/both
        - dataset: {}
        - dataset_pillar: data
    unknown:
      file.serialize:
        - name: @@/unknown
        - serializer: nosuch
        - dataset: {a: 1}
    """, before={"merged": '{"a": 1}\n', "json": '{"main": {"b": 0}}\n'}, pillar={"data": {"list": [1, "x"]}})
situation("file.patch, decode, cached, not_cached, pruned, tidied", """
    decoded:
      file.decode:
        - name: @@/decoded
        - encoded_data: aGVsbG8K
        - encoding_type: base64
    patched:
      file.patch:
        - name: @@/patched
        - source: salt://p.patch
    pruned:
      file.pruned:
        - name: @@/pruned
    not empty:
      file.pruned:
        - name: @@/full
    recursively:
      file.pruned:
        - name: @@/deep
        - recurse: true
    tidied:
      file.tidied:
        - name: @@/tidy
        - matches: ['.*\\.tmp']
    """, tree={"p.patch": "--- a\n+++ b\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n"}, before={
    "patched": "a\nb\n", "pruned": None, "full/x": "", "deep/a/b": None, "tidy/a.tmp": "x", "tidy/b": "y",
})
situation("file.mknod, and users that are not there", """
    pipe:
      file.mknod:
        - name: @@/pipe
        - ntype: p
        - mode: '0660'
    wrong:
      file.mknod:
        - name: @@/wrong
        - ntype: x
    nobody:
      file.managed:
        - name: @@/nobody
        - contents: x
        - user: nosuchuser
    no group:
      file.directory:
        - name: @@/nogroup
        - group: nosuchgroup
    owner:
      file.managed:
        - name: @@/owned
        - contents: x
        - user: root
        - group: root
    """)

# --- ini ---------------------------------------------------------------------------------------------------------------------

situation("ini.options", """
    present:
      ini.options_present:
        - name: @@/a.ini
        - sections:
            main: {a: '1', b: new}
            fresh: {k: v}
    strict:
      ini.options_present:
        - name: @@/strict.ini
        - strict: true
        - sections:
            main: {a: '1'}
    absent:
      ini.options_absent:
        - name: @@/b.ini
        - sections:
            main: [a, nope]
    separator:
      ini.options_present:
        - name: @@/c.ini
        - separator: ': '
        - sections:
            main: {a: '1'}
    no section:
      ini.options_present:
        - name: @@/top.ini
        - sections: {top: level}
    new file:
      ini.options_present:
        - name: @@/new.ini
        - sections:
            main: {a: 1}
    """, before={
    "a.ini": "[main]\na = 0\n", "strict.ini": "[main]\na = 1\nb = 2\n[old]\nx = 1\n", "b.ini": "[main]\na = 1\nb = 2\n",
    "c.ini": "[main]\na: 0\n", "top.ini": "top=0\n",
})
situation("ini.sections", """
    present:
      ini.sections_present:
        - name: @@/a.ini
        - sections: [fresh]
    absent:
      ini.sections_absent:
        - name: @@/a.ini
        - sections: [old, nope]
    """, before={"a.ini": "[main]\na = 0\n[old]\nb = 1\n"}, why="sections_present of a new section is a stack trace in Salt", ours={
    "did": {
        "return": {"ini_|-present_|-@@/a.ini_|-sections_present": {
            "result": True, "comment": "Changes take effect", "changes": {"fresh": {"before": None, "after": {}}},
        }},
        "files": {"a.ini": "[main]\na = 0\n\n[fresh]\n"},
    },
    "again": {"return": {"ini_|-present_|-@@/a.ini_|-sections_present": {
        "result": True, "comment": "No anomaly detected", "changes": {},
    }}},
    "would again": {"return": {"ini_|-present_|-@@/a.ini_|-sections_present": {
        "result": True, "comment": "Section unchanged fresh.\n", "changes": {},
    }}},
})

# --- archive -----------------------------------------------------------------------------------------------------------------

MAKE_ARCHIVES = """
    mkdir -p top/sub; echo f > top/f; echo s > top/sub/s; chmod 644 top/f top/sub/s
    tar --owner=0 --group=0 --mtime=@0 -czf a.tar.gz top; tar --owner=0 --group=0 --mtime=@0 -cf a.tar top
    tar --owner=0 --group=0 --mtime=@0 -cf loose.tar -C top f sub
    python3 -c 'import zipfile; z = zipfile.ZipFile("a.zip", "w"); z.writestr("top/f", "f\\n"); z.writestr("top/sub/s", "s\\n")'
    rm -r top
"""
ARCHIVES = ["a.tar.gz", "a.tar", "loose.tar", "a.zip"]
situation("archive.extracted: what is there", """
    gz:
      archive.extracted:
        - name: @@/gz
        - source: @@/a.tar.gz
    plain:
      archive.extracted:
        - name: @@/plain
        - source: @@/a.tar
        - archive_format: tar
        - options: --strip-components=1
        - enforce_toplevel: false
    zip:
      archive.extracted:
        - name: @@/zip
        - source: @@/a.zip
        - use_cmd_unzip: false
    loose:
      archive.extracted:
        - name: @@/loose
        - source: @@/loose.tar
    loose allowed:
      archive.extracted:
        - name: @@/loose2
        - source: @@/loose.tar
        - enforce_toplevel: false
    there:
      archive.extracted:
        - name: @@/there
        - source: @@/a.tar.gz
    """, setup=MAKE_ARCHIVES + "mkdir there; tar -xzf a.tar.gz -C there", unseen=ARCHIVES)
situation("archive.extracted: what is wrong, and if_missing, overwrite, clean", """
    none:
      archive.extracted:
        - name: @@/none
        - source: @@/nope.tar.gz
    unknown:
      archive.extracted:
        - name: @@/unknown
        - source: @@/text
    server:
      archive.extracted:
        - name: @@/server
        - source: salt://nope.tar.gz
    missing:
      archive.extracted:
        - name: @@/missing
        - source: @@/a.tar.gz
        - if_missing: @@/marker
    wrong hash:
      archive.extracted:
        - name: @@/hash
        - source: @@/a.tar.gz
        - source_hash: md5=00000000000000000000000000000000
    over:
      archive.extracted:
        - name: @@/over
        - source: @@/a.tar
        - overwrite: true
    clean:
      archive.extracted:
        - name: @@/clean
        - source: @@/a.tar
        - clean: true
    relative:
      archive.extracted:
        - name: relative
        - source: @@/a.tar
    """, setup=MAKE_ARCHIVES + "mkdir over clean; tar -xf a.tar -C over; echo o > over/top/f; echo j > clean/junk",
    before={"marker": "", "text": "x"}, unseen=ARCHIVES)

# --- git ---------------------------------------------------------------------------------------------------------------------

MAKE_REPOSITORY = """
    git init -q -b main up; cd up; echo 1 > f; git add f; git commit -q -m one; git tag v1; git branch side
    echo 2 > f; git commit -q -a -m two; cd ..
"""
situation("git.latest and cloned", """
    latest:
      git.latest:
        - name: file://@@/up
        - target: @@/latest
        - rev: main
        - branch: main
    tagged:
      git.latest:
        - name: file://@@/up
        - target: @@/tagged
        - rev: v1
    behind:
      git.latest:
        - name: file://@@/up
        - target: @@/behind
        - rev: main
        - branch: main
    cloned:
      git.cloned:
        - name: file://@@/up
        - target: @@/cloned
        - branch: side
    no rev:
      git.latest:
        - name: file://@@/up
        - target: @@/norev
        - rev: nosuch
    no repository:
      git.latest:
        - name: file://@@/nope
        - target: @@/norepo
    relative:
      git.latest:
        - name: file://@@/up
        - target: relative
    """, setup=MAKE_REPOSITORY + "git clone -q file://@@/up behind; cd behind; git reset -q --hard v1")
situation("git.present, detached, config", """
    present:
      git.present:
        - name: @@/new
        - bare: false
    bare:
      git.present:
        - name: @@/bare
    there:
      git.present:
        - name: @@/up
        - bare: false
    detached:
      git.detached:
        - name: file://@@/up
        - target: @@/detached
        - rev: v1
    set:
      git.config_set:
        - name: user.name
        - value: someone
        - repo: @@/up
    set several:
      git.config_set:
        - name: remote.o.fetch
        - multivar: [a, b]
        - repo: @@/up
    unset:
      git.config_unset:
        - name: core.logallrefupdates
        - repo: @@/up
    unset nothing:
      git.config_unset:
        - name: no.such
        - repo: @@/up
    """, setup=MAKE_REPOSITORY, unseen=["bare"], why="config_unset is a stack trace in Salt where nothing is left of the option", ours={
    "did": {"return": {"git_|-unset_|-core.logallrefupdates_|-config_unset": {
        "result": True, "comment": "Value(s) successfully unset", "changes": {"core.logallrefupdates": ["true"]},
    }}},
})

situation("git.latest: what the remote lacks, and what a clone has", """
    tag that the clone lacks:
      git.latest: [name: "file://@@/up", target: "@@/untagged", rev: v1]
    head of nothing:
      git.latest: [name: "file://@@/headless", target: "@@/headless_new", rev: main]
    clone without head:
      git.latest: [name: "file://@@/headless", target: "@@/headless_clone", rev: main]
    detached head:
      git.latest: [name: "file://@@/up", target: "@@/loose", rev: HEAD]
    other branch:
      git.latest: [name: "file://@@/up", target: "@@/other", rev: HEAD]
    other branch, by name:
      git.latest: [name: "file://@@/up", target: "@@/other", rev: main]
    dirty:
      git.latest: [name: "file://@@/up", target: "@@/dirty", rev: side, branch: side, force_reset: true]
    tag ahead:
      git.latest: [name: "file://@@/up", target: "@@/behind", rev: v2, branch: main]
    moved and ahead:
      git.latest: [name: "file://@@/up", target: "@@/moved", rev: main, branch: main, force_reset: true]
    no submodule:
      git.latest: [name: "file://@@/up3", target: "@@/sub", rev: main, submodules: true]
    empty, bare:
      git.latest: [name: "file://@@/empty", target: "@@/empty_clone", bare: true]
    empty, bare, mirror of another:
      git.latest: [name: "file://@@/empty", target: "@@/empty_moved", bare: true]
    with a key:
      git.latest: [name: "file://@@/up", target: "@@/keyed", rev: main, identity: ["@@/key"]]
    """, setup=MAKE_REPOSITORY + """
    git -C up tag v2 main
    git clone -q file://@@/up untagged; git -C untagged tag -d v1; git -C untagged checkout -q --detach
    git clone -q --bare up headless; git -C headless symbolic-ref HEAD refs/heads/nosuch
    git clone -q file://@@/headless headless_clone 2>/dev/null
    git clone -q file://@@/up loose; git -C loose checkout -q --detach v1
    git clone -q file://@@/up other; git -C other checkout -q -b mine v1; git -C other commit -q --allow-empty -m mine
    git clone -q file://@@/up dirty; echo changed >> dirty/$(git -C dirty ls-files | head -n 1)
    git clone -q file://@@/up behind; git -C behind reset -q --hard v1
    git clone -q file://@@/up moved; git -C moved commit -q --allow-empty -m mine; git -C moved remote set-url origin file://@@/elsewhere
    git clone -q up up3; cd up3; git config -f .gitmodules submodule.s.path s; git config -f .gitmodules submodule.s.url file://@@/nope
    git add .gitmodules; git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),s; git commit -q -m sub; cd ..
    git init -q --bare empty; git clone -q --bare file://@@/empty empty_clone 2>/dev/null; git clone -q --bare file://@@/empty empty_moved 2>/dev/null
    git -C empty_moved remote set-url origin file://@@/elsewhere; echo key > key; chmod 600 key
    """, unseen=["headless", "empty", "empty_clone", "empty_moved"], why="Salt joins the letters of a comment", ours={run: {"return": {
    f"git_|-{name}_|-file://@@/empty_|-latest": {"comment": f"Repository @@/{clone} is up-to-date\n\nChanges that would be made: Bare repository at @@/{clone} would be fetched"}
    for name, clone in (("empty, bare", "empty_clone"), ("empty, bare, mirror of another", "empty_moved"))
}} for run in ("would", "would again")})
situation("git.detached, config: what is refused, and what test mode says", """
    nowhere:
      git.detached: [name: "file://@@/nope", target: "@@/clone", rev: v1]
    unknown commit:
      git.detached: [name: "file://@@/up", target: "@@/clone2", rev: "00000000000000000000000000000000000000ff"]
    unknown name:
      git.detached: [name: "file://@@/up", target: "@@/clone2", rev: nosuch]
    known commit:
      git.detached: [name: "file://@@/up", target: "@@/clone3", rev: "b7efca056bb8fe3fa46053e270da8a34f30d5093", hard_reset: true]
    tag:
      git.detached: [name: "file://@@/up", target: "@@/clone4", rev: v1]
    tag that is here:
      git.detached: [name: "file://@@/up", target: "@@/clone5", rev: v1, fetch_remote: false]
    locked:
      git.config_unset: [name: core.logallrefupdates, repo: "@@/locked"]
    locked too:
      git.config_set: [name: user.name, value: me, repo: "@@/locked"]
    no value:
      git.config_set: [name: user.name, repo: "@@/up"]
    not removable:
      git.latest: [name: "file://@@/up", target: /proc/sys/fs/epoll, rev: main, force_clone: true]
    not removable, detached:
      git.detached: [name: "file://@@/up", target: /proc/sys/fs/epoll, rev: v1, force_clone: true]
    not removable, init:
      git.present: [name: /proc/sys/fs/epoll, force: true]
    """, setup=MAKE_REPOSITORY + """
    for n in clone clone2 clone3 clone4 clone5 locked; do git clone -q file://@@/up $n; done
    touch locked/.git/config.lock
    """, why="config_set without a value is a stack trace in Salt", ours={**{run: {"return": {
    "git_|-no value_|-user.name_|-config_set": {"comment": "One of 'value' and 'multivar' is required"},
    "git_|-not removable, init_|-/proc/sys/fs/epoll_|-present": {"comment": "Unable to remove /proc/sys/fs/epoll: [Errno 13] Permission denied: '/proc/sys/fs/epoll'"},
}} for run in ("did", "again")}, **{run: {"return": {
    "git_|-no value_|-user.name_|-config_set": {"comment": "One of 'value' and 'multivar' is required"},
}} for run in ("would", "would again")}})

# --- whole trees ---------------------------------------------------------------------------------------------------------------

for _name, _sls, _more in state_situation_runs.CASES + state_situation_x509.CASES:
    situation(_name, _sls, **_more)
