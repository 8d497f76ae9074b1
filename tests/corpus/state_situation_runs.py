"""Situations of whole trees, as operators write them: the family `tree` of state_situation_cases.py."""

CASES = []


def tree(name, sls, **more):
    CASES.append((f"tree.{name}", sls, more))


tree("requisites across files, by name and by ID", """
    include: [web, db]
    site:
      file.managed:
        - name: @@/site
        - contents: site
        - require: [{sls: db}, {test: web pkg}]
    """, tree={
    "web/init.sls": "web pkg:\n  test.nop: []\nweb conf:\n  file.managed:\n    - name: @@/web.conf\n    - contents: '{{ sls }} {{ tpldir }}'\n    - require:\n      - test: web pkg\n    - watch_in:\n      - cmd: web restart\nweb restart:\n  cmd.wait:\n    - name: echo restarted >> @@/log\n",
    "db.sls": "db:\n  test.succeed_with_changes:\n    - require_in:\n      - test: after db\nafter db:\n  test.nop: []\n",
})
tree("watch, watch_any and watch of a failure", """
    conf:
      file.managed: {name: @@/conf, contents: x}
    same:
      test.succeed_without_changes: []
    broken:
      test.fail_without_changes: []
    one of them:
      cmd.wait:
        - name: echo one >> @@/log
        - watch_any: [{file: conf}, {test: broken}]
    none changed:
      cmd.wait:
        - name: echo none >> @@/log
        - watch: [{test: same}]
    of a failure:
      cmd.wait:
        - name: echo never >> @@/log
        - watch: [{test: broken}, {file: conf}]
    """)
tree("require_any, onchanges_any, onfail_any, onfail_all", """
    good:
      test.succeed_with_changes: []
    still:
      test.succeed_without_changes: []
    bad:
      test.fail_without_changes: []
    bad too:
      test.fail_with_changes: []
    r any:
      test.nop: {require_any: [{test: bad}, {test: good}]}
    r none:
      test.nop: {require_any: [{test: bad}, {test: bad too}]}
    c any:
      test.nop: {onchanges_any: [{test: still}, {test: good}]}
    c none:
      test.nop: {onchanges_any: [{test: still}, {test: bad}]}
    f any:
      test.nop: {onfail_any: [{test: good}, {test: bad}]}
    f all:
      test.nop: {onfail_all: [{test: bad}, {test: bad too}]}
    f not all:
      test.nop: {onfail_all: [{test: bad}, {test: good}]}
    """)
tree("a chain of prereq", """
    drain:
      cmd.run: {name: echo drain >> @@/log, prereq: [{cmd: stop}]}
    stop:
      cmd.run: {name: echo stop >> @@/log, prereq: [{file: conf}]}
    conf:
      file.managed: {name: @@/conf, contents: new}
    start:
      cmd.run: {name: echo start >> @@/log, onchanges: [{file: conf}]}
    """)
tree("names with arguments of their own, and what listens to them", """
    confs:
      file.managed:
        - makedirs: true
        - names:
          - @@/d/a: {contents: aa}
          - @@/d/b: [{contents: bb}, {mode: '0600'}]
          - @@/d/c
        - contents: cc
        - listen_in: [{cmd: reload}]
    reload:
      cmd.wait: {name: cat @@/d/a @@/d/b @@/d/c >> @@/log}
    again:
      cmd.wait: {name: echo again >> @@/log, listen: [{file: confs}]}
    """)
tree("use, and use_in", """
    shared:
      file.managed: {name: @@/shared, contents: one, mode: '0640'}
    taken:
      file.managed: {name: @@/taken, use: [{file: shared}]}
    own:
      file.managed: {name: @@/own, contents: mine, use: [{file: shared}]}
    given:
      file.managed:
        - name: @@/given
        - mode: '0600'
        - contents: given
        - use_in: [{file: gets}]
    gets:
      file.managed: {name: @@/gets}
    """)
tree("failhard in the middle, with what was done before", """
    include: [before, after]
    breaks:
      cmd.run: {name: exit 4, failhard: true, order: 2}
    """, tree={
    "before.sls": "before:\n  file.managed: {name: @@/before, contents: x, order: 1}\n",
    "after.sls": "after:\n  file.managed: {name: @@/after, contents: x, order: 3}\n",
})
tree("failhard of the minion", """
    a:
      test.succeed_with_changes: []
    b:
      test.fail_without_changes: []
    c:
      test.nop: []
    """, options={"failhard": True})
tree("retry until a file is there", """
    counted:
      cmd.run:
        - name: echo x >> @@/count; test $(wc -l < @@/count) -ge 3
        - retry: {attempts: 5, interval: 0, until: true}
    never:
      cmd.run:
        - name: exit 1
        - retry: {attempts: 2, interval: 0}
    wanted false:
      test.fail_without_changes:
        - retry: {attempts: 3, interval: 0, until: false}
    """)
tree("unless and onlyif by functions of modules", """
    there:
      file.managed: {name: @@/there, contents: x}
    by file:
      test.succeed_with_changes:
        - unless: [{fun: file.file_exists, args: [@@/there]}]
    by result:
      test.succeed_with_changes:
        - onlyif: [{fun: test.echo, text: ''}]
    by part:
      test.succeed_with_changes:
        - onlyif: [{fun: test.arg, args: [1], kw: 2, get_return: 'kwargs:kw'}]
    by both:
      test.succeed_with_changes:
        - onlyif: ['true', {fun: test.true}]
        - unless: ['false', {fun: test.false}]
    """)
tree("exclude of a file and of an ID", """
    include: [one, two]
    exclude: [{sls: two}, {id: left out}]
    mine:
      test.nop: []
    """, tree={"one.sls": "kept:\n  test.nop: []\nleft out:\n  test.nop: []\n", "two.sls": "gone:\n  test.nop: []\n"})
tree("order: first, last, numbers and requisites", """
    z:
      test.nop: {order: last}
    y:
      test.nop: {order: 2}
    x:
      test.nop: {require: [{test: z}]}
    w:
      test.nop: {order: 1}
    v:
      test.nop: []
    u:
      test.nop: {order: first}
    t:
      test.nop: {order: -1}
    """)
tree("pillar in templates, with defaults and loops", """
    {% set users = salt['pillar.get']('users', {}) %}
    {% for name, user in users|dictsort %}
    user {{ name }}:
      file.managed:
        - name: @@/home/{{ name }}
        - makedirs: true
        - contents: {{ user.get('shell', '/bin/sh')|yaml_dquote }}
    {% else %}
    nobody:
      test.nop: []
    {% endfor %}
    deep:
      file.serialize:
        - name: @@/deep.yaml
        - dataset_pillar: users
        - serializer: yaml
    """, pillar={"users": {"tom": {"shell": "/bin/bash"}, "ann": {}}})
tree("a map of defaults, merged with pillar", """
    {% from "app/map.jinja" import app with context %}
    {{ app.name }}:
      file.managed:
        - name: @@/{{ app.name }}.conf
        - contents: '{{ app.options|json }}'
    """, tree={
    "app/map.jinja": "{% import_yaml 'app/defaults.yaml' as defaults %}{% set app = salt['grains.filter_by'](defaults, grain='os_family', merge=salt['pillar.get']('app')) %}",
    "app/defaults.yaml": "Debian: {name: app-deb, options: {a: 1, b: [1, 2]}}\ndefault: {name: app}\n",
}, pillar={"app": {"options": {"c": 3}}})
tree("macros of another file, with context and without", """
    {% from 'lib.jinja' import conf, greet with context %}
    {% import 'lib.jinja' as lib %}
    {{ conf('one', 1) }}
    {{ conf('two') }}
    {{ lib.conf('three', mode='0600') }}
    said:
      test.show_notification: {text: "{{ greet('you') }}"}
    """, tree={"lib.jinja": "{% macro conf(name, value=0, mode='0644') %}\nconf {{ name }}:\n  file.managed: {name: @@/{{ name }}, contents: '{{ value }}', mode: '{{ mode }}'}\n{% endmacro %}\n{% macro greet(who) -%}\nhello {{ who }} of {{ sls|default('nowhere') }}\n{%- endmacro %}\n"})
tree("include of a directory, relative includes, and the same file twice", """
    include: [app, app.sub, .app]
    end:
      test.nop: {require: [{sls: app}]}
    """, tree={
    "app/init.sls": "include: [.sub, ..common]\napp:\n  test.nop: {require: [{test: common}]}\n",
    "app/sub.sls": "sub:\n  test.nop: []\n", "common.sls": "common:\n  test.nop: []\n",
})
tree("extend: other arguments, and a requisite more", """
    include: [base]
    extend:
      conf:
        file:
          - contents: extended
          - require: [{test: first}]
      run:
        cmd.wait:
          - watch: [{file: conf}]
    first:
      test.nop: []
    """, tree={"base.sls": "conf:\n  file.managed: {name: @@/conf, contents: base}\nrun:\n  cmd.wait: {name: echo run >> @@/log}\n"})
tree("parallel states, and one that requires them", """
    {% for n in range(4) %}
    p{{ n }}:
      cmd.run: {name: echo {{ n }} > @@/p{{ n }}, parallel: true}
    {% endfor %}
    all:
      cmd.run:
        - name: cat @@/p0 @@/p1 @@/p2 @@/p3 > @@/all
        - require: [{cmd: p0}, {cmd: p1}, {cmd: p2}, {cmd: p3}]
    """)
tree("slots: of a name, in a list, and with a part", """
    written:
      file.managed:
        - name: @@/written
        - contents: __slot__:salt:test.echo(from slot)
    part:
      test.configurable_test_state:
        - changes: false
        - comment: __slot__:salt:test.arg(a, k=v).kwargs.k ~ !
    """)
tree("accumulators of several states in one template", """
    head:
      file.accumulated:
        - filename: @@/hosts
        - text: [one, two]
        - require_in: [{file: hosts}]
    more:
      file.accumulated: {name: head, filename: @@/hosts, text: three, require_in: [{file: hosts}]}
    hosts:
      file.managed:
        - name: @@/hosts
        - source: salt://hosts.j2
        - template: jinja
        - context: {title: t}
    """, tree={"hosts.j2": "{{ title }}{% for name in accumulator['head'] %}\n{{ name }}{% endfor %}\n"})
tree("a template with a context, defaults and the state's own variables", """
    conf:
      file.managed:
        - name: @@/conf
        - source: salt://conf.j2
        - template: jinja
        - defaults: {a: 1, b: 2}
        - context: {b: 3, list: [x, y]}
        - mode: '0600'
        - makedirs: true
        - backup: minion
    """, tree={"conf.j2": "a={{ a }} b={{ b }} {{ list|join(',') }} {{ sls }} {{ source }}\n{%- if grains.os_family == 'Debian' %}\ndebian\n{%- endif %}\n"})
tree("onchanges of a directory, recursion and clean", """
    dir:
      file.recurse:
        - name: @@/dir
        - source: salt://dir
        - clean: true
        - file_mode: '0640'
        - dir_mode: '0750'
    told:
      cmd.run: {name: ls -R @@/dir | sort >> @@/log, onchanges: [{file: dir}]}
    """, tree={"dir/a": "a\n", "dir/sub/b": "b\n"}, before={"dir/old": "old\n", "dir/sub/b": "other\n"})
tree("editing one file by several states", """
    line:
      file.replace: {name: @@/conf, pattern: '^port.*', repl: 'port 80', append_if_not_found: true}
    block:
      file.blockreplace:
        - name: @@/conf
        - marker_start: '# begin'
        - marker_end: '# end'
        - content: "x\\ny"
        - append_if_not_found: true
        - require: [{file: line}]
    added:
      file.append: {name: @@/conf, text: [last, port 80], require: [{file: block}]}
    comment:
      file.comment: {name: @@/conf, regex: ^user, require: [{file: added}]}
    """, before={"conf": "user me\nport 8080\n"})
tree("errors of rendering in an included file", """
    include: [broken]
    a:
      test.nop: []
    """, tree={"broken.sls": "{{ salt['no.such']() }}\n"})
tree("two files with the same ID, and a requisite of nothing", """
    include: [other]
    same:
      test.nop: []
    """, tree={"other.sls": "same:\n  test.nop: []\n"})
tree("a circle of requisites", """
    a:
      test.nop: {require: [{test: b}]}
    b:
      test.nop: {require: [{test: c}]}
    c:
      test.nop: {require: [{test: a}]}
    """)
tree("module.run of several functions, and what watches them", """
    both:
      module.run:
        - test.echo: [{text: hi}]
        - test.arg: [1, {k: 2}]
    changed:
      test.succeed_with_changes: []
    waits:
      module.wait:
        - name: test.echo
        - text: told
        - watch: [{test: changed}]
    """)
tree("several saltenvs: sources, includes, templates", """
    include:
      - dev: app
      - common
    argument:
      file.managed:
        - name: @@/argument
        - source: salt://conf
        - saltenv: dev
    query:
      file.managed:
        - name: @@/query
        - source: salt://conf?saltenv=dev
    own:
      file.managed:
        - name: @@/own
        - source: salt://conf
    of both:
      file.managed:
        - name: @@/both
        - source: [salt://only_dev, 'salt://only_dev?saltenv=dev']
    not here:
      file.managed:
        - name: @@/nothere
        - source: salt://only_dev
    no such:
      file.managed:
        - name: @@/nosuch
        - source: salt://conf?saltenv=qa
    tree:
      file.recurse:
        - name: @@/tree
        - source: salt://files?saltenv=dev
    asked:
      test.show_notification:
        - text: "{{ saltenv }} {{ salt['cp.get_file_str']('salt://conf', saltenv='dev') }} {{ salt['cp.list_states']('dev')|join(' ') }}"
    """, tree={"conf": "of base\n", "common.sls": "common:\n  test.show_notification: {text: 'common of {{ saltenv }}'}\n"},
    environments={"dev": {
        "conf": "of dev\n", "only_dev": "d\n", "files/a": "a\n", "files/sub/b": "b\n", "part.jinja": "part of dev",
        "app/init.sls": "include: [common, .more]\napp:\n  file.managed: {name: @@/app, source: salt://conf}\n",
        "app/more.sls": "more:\n  test.show_notification: {text: \"{{ saltenv }} {{ sls }} {% include 'part.jinja' %}\"}\n",
        "common.sls": "common of dev:\n  test.show_notification: {text: 'common of {{ saltenv }}'}\n",
    }})
tree("a saltenv that there is not, and an SLS that only another has", """
    include: [only]
    """, environments={"dev": {"only.sls": "a:\n  test.nop: []\n"}})
