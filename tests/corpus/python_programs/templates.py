"""Files that Python renders: `template: py`, by salt-call on a host without a master."""

file("pillar/top.sls", "base: {'*': [own]}\n")
file("pillar/own.sls", "{key: secret}\n")
file("srv/known.py", '''
import os.path
AT_TOP = sorted(name for name in globals() if name.startswith("__") and name in ("__salt__", "__grains__", "__pillar__", "__opts__", "__env__", "__sls__"))
NAMES = ("__salt__", "__grains__", "__pillar__", "__opts__", "__env__", "__sls__", "__context__", "__utils__", "salt", "grains", "pillar", "opts", "saltenv", "sls", "slspath", "context", "defaults", "name", "source", "user", "group", "mode", "attrs", "a", "b", "tplfile")
def run():
    known = [one for one in NAMES if one in globals()]
    lines = [
        AT_TOP, known, __name__, os.path.basename(__file__), globals().get("context"), globals().get("name"), globals().get("source"), globals().get("user"), globals().get("group"), globals().get("mode"), globals().get("saltenv"),
        globals().get("__env__"), salt["test.echo"]("x"), __salt__["test.echo"]("y"), grains["id"], __grains__["own"], pillar["key"], __pillar__["key"], opts["id"], __opts__["file_client"], globals().get("a"), globals().get("extra"),
    ]
    return "".join("%s\\n" % (line,) for line in lines)
''')
file("srv/text.py", "def run():\n    return 'text without an end'\n")
file("srv/bytes.py", "def run():\n    return 'b\\xe9\\n'.encode('utf-8')\n")
file("srv/umlaut.py", "# -*- coding: utf-8 -*-\ndef run():\n    return 'ä€\\n'\n")
file("srv/map.py", "def run():\n    return {'a': 1}\n")
file("srv/none.py", "def run():\n    return None\n")
file("srv/number.py", "def run():\n    return 5\n")
file("srv/empty.py", "def run():\n    return ''\n")
file("srv/raises.py", "def run():\n    raise ValueError('went wrong')\n")
file("srv/norun.py", "X = 1\n")
file("srv/syntax.py", "def run(:\n")
file("srv/imports.py", "import no_such_module\ndef run():\n    return 'x'\n")
file("srv/command.py", "from salt.exceptions import CommandExecutionError\ndef run():\n    raise CommandExecutionError('no command')\n")
file("srv/shebang.py", "#!/usr/bin/env python3\ndef run():\n    return '{{ 1 + 1 }} %s\\n' % context['a']\n")
file("srv/script.py", "def run():\n    return '#!/bin/sh\\necho from_py $1\\n'\n")
file("srv/plain.txt", "just text\n")
NAMES = ("text", "bytes", "umlaut", "map", "none", "number", "empty", "raises", "norun", "syntax", "imports", "command", "shebang")
for name in NAMES:
    file(f"srv/m_{name}.sls", f"{{ROOT}}/made_{name}:\n  file.managed:\n    - source: salt://{name}.py\n    - template: py\n    - context: {{a: 1}}\n")
    call("state.apply", f"m_{name}")
    call("file.read", "{ROOT}/made_" + name) if name in ("text", "bytes", "umlaut", "shebang", "empty") else None
file("srv/m_known.sls", '''{ROOT}/made_known:
  file.managed:
    - source: salt://known.py
    - template: py
    - user: root
    - mode: '0640'
    - context: {a: 1, deep: {x: 1}}
    - defaults: {b: 2, a: 0, deep: {y: 2}}
    - extra: more
{ROOT}/made_bare:
  file.managed:
    - source: salt://known.py
    - template: py
''')
call("state.apply", "m_known")
call("state.apply", "m_known", "test=True")
call("file.read", "{ROOT}/made_known")
call("file.read", "{ROOT}/made_bare")
file("srv/m_plain.sls", "{ROOT}/made_plain:\n  file.managed:\n    - source: salt://plain.txt\n    - template: py\n")
call("state.apply", "m_plain")
file("srv/m_contents.sls", "{ROOT}/made_contents:\n  file.managed:\n    - contents: |\n        def run():\n            return 'from contents'\n    - template: py\n")
call("state.apply", "m_contents")
file("srv/m_recurse.sls", "{ROOT}/tree:\n  file.recurse:\n    - source: salt://tree\n    - template: py\n    - context: {a: 7}\n")
file("srv/tree/one.py", "def run():\n    return 'one %s %s\\n' % (context, name.rpartition('/')[2])\n")
call("state.apply", "m_recurse")
call("file.read", "{ROOT}/tree/one.py")
file("srv/m_append.sls", "{ROOT}/appended:\n  file.append:\n    - sources: [salt://text.py]\n    - template: py\n    - makedirs: true\n")
file("appended", "begin\n")
call("state.apply", "m_append")
file("srv/m_blockreplace.sls", "{ROOT}/appended:\n  file.blockreplace:\n    - marker_start: START\n    - marker_end: END\n    - source: salt://text.py\n    - template: py\n    - append_if_not_found: true\n")
call("state.apply", "m_blockreplace")
call("cp.get_template", "salt://known.py", "{ROOT}/got_known", "template=py", "a=5", "context={b: 6}")
call("file.read", "{ROOT}/got_known")
call("cp.get_template", "salt://raises.py", "{ROOT}/got_raises", "template=py")
call("cmd.script", "salt://script.py", "args=word", "template=py")
