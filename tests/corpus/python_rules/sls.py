"""Rule 25: SLS files in Python, and own renderers."""

pillar({"key": "secret", "list": [1, 2]})
RUN = "#!py\ndef run():\n"
file("_modules/br.py", "def echo(x):\n    return x\ndef ping():\n    return 'pong'\n")
file("_renderers/br_render.py", '''
import salt.utils.yaml
def render(data, saltenv="base", sls="", **kwargs):
    text = data.read() if hasattr(data, "read") else data
    return {"from_%s" % saltenv: {"test.nop": [{"name": text.strip().splitlines()[-1]}]}}
''')
file("_renderers/br_text.py", '''
def render(data, saltenv="base", sls="", argline="", **kwargs):
    text = data.read() if hasattr(data, "read") else data
    return text.replace("UP", "up").replace("ARG", argline.strip() or "none")
''')
file("_renderers/br_known.py", '''
def render(data, saltenv="base", sls="", **kwargs):
    names = [n for n in ("__salt__", "__grains__", "__pillar__", "__opts__", "__context__", "__utils__", "__states__", "__env__", "__sls__") if n in globals()]
    return {"known": {"test.nop": [{"name": " ".join(names)}, {"sls": sls}, {"kwargs": sorted(kwargs)}]}}
''')
file("good.sls", RUN + "    return {'a': {'test.nop': [{'name': __salt__['br.ping']()}]}}\n")
file("names.sls", RUN + '''
    names = ["__salt__", "__grains__", "__pillar__", "__opts__", "__env__", "__sls__", "__context__", "__utils__", "__proxy__",
             "__states__", "salt", "grains", "pillar", "opts", "saltenv", "env", "sls", "slspath", "tplpath", "tpldir", "tplfile",
             "context", "argv", "data", "tag", "__name__", "__file__"]
    return {"a": {"test.nop": [{"name": " ".join(n for n in names if n in globals())}]}}
''')
file("dir/inner.sls", RUN + '''
    return {"a": {"test.nop": [{"name": str([__sls__, sls, __env__, saltenv, __name__, __file__.split("/")[-2:], salt is __salt__, grains is __grains__, opts is __opts__])}]}}
''')
file("facts.sls", RUN + '''
    return {"a": {"test.nop": [{"name": str([__grains__["own"], __pillar__["key"], pillar["list"], __opts__["id"], __opts__["test"], __salt__["pillar.get"]("key"), __salt__["br.echo"]((1, 2))])}]}}
''')
file("bracesun.sls", "#!jinja|py\ndef run():\n    return {'a': {'test.nop': [{'name': '{{ 1 + 1 }}'}]}}\n")
file("order.sls", RUN + '''
    from collections import OrderedDict
    return OrderedDict([("z", {"test.nop": []}), ("a", {"test.nop": []}), ("m", {"test.nop": [{"name": "x"}, {"order": 1}]})])
''')
file("tuples.sls", RUN + "    return {'a': {'test': ('nop', {'name': 'tuple'})}}\n")
file("include.sls", RUN + "    return {'include': ['good'], 'extend': {'a': {'test': [{'extra': 1}]}}, 'b': {'test.nop': [{'require': [{'test': 'a'}]}]}}\n")
file("fail.sls", RUN + "    return {}['absent']\n")
file("raises.sls", RUN + "    raise ValueError('went wrong')\n")
file("norun.sls", "#!py\ndef other():\n    return {}\n")
file("syntax.sls", "#!py\ndef run(:\n    return {}\n")
file("none.sls", RUN + "    return None\n")
file("text.sls", RUN + "    return 'text'\n")
file("listed.sls", RUN + "    return [1]\n")
file("empty.sls", RUN + "    return {}\n")
file("top_level.sls", "#!py\nimport os\nPLACE = os.path.basename(__file__)\nVALUE = __grains__['own']\ndef run():\n    return {'a': {'test.nop': [{'name': PLACE + VALUE}]}}\n")
file("early.sls", "#!py\nraise ValueError('at the top')\n")
file("salt_error.sls", RUN + "    from salt.exceptions import SaltRenderError\n    raise SaltRenderError('went wrong')\n")
file("wrong_fun.sls", RUN + "    return __salt__['no.such']()\n")
file("classes.sls", "#!py\nclass Made:\n    name = 'made'\nclass More(Made):\n    pass\ndef _help():\n    return More.name\ndef run():\n    return {_help(): {'test.nop': []}}\n")
file("renders.sls", "#!br_render\nfirst\nlast line\n")
file("jinja_renders.sls", "#!jinja|br_render\n{{ 1 + 1 }} lines\n")
file("pipes.sls", "#!br_text|yaml\nUP:\n  test.nop:\n    - name: ARG\n")
file("argued.sls", "#!br_text -x 1|jinja|yaml\nUP:\n  test.nop:\n    - name: ARG {{ 2 + 2 }}\n")
file("jinja_then.sls", "#!jinja|br_text|yaml\n{{ 'U' + 'P' }}:\n  test.nop: []\n")
file("known.sls", "#!br_known\nx\n")
file("absent_renderer.sls", "#!no_such_renderer\nx\n")
file("json_py.sls", "#!py\nimport json\nrun = lambda: json.loads('{\"a\": {\"test.nop\": []}}')\n")
file("from_jinja.sls", "{% set x = salt['br.echo']([1, 2]) %}\na:\n  test.nop:\n    - name: {{ x | length }} {{ salt.br.ping() }}\n")
file("encoding.sls", "#!py\n# -*- coding: utf-8 -*-\ndef run():\n    return {'\\u00e4\\u2603': {'test.nop': []}}\n")
file("crossing.sls", RUN + "    return {'a': {'test.nop': [{'name': type(__salt__['br.echo']({1: 2})).__name__}]}}\n")
file("generated.sls", RUN + "    return {'s%d' % i: {'test.nop': []} for i in range(3)}\n")
file("mapped.sls", RUN + "    return {'a': {'test': ['nop', {'name': pillar['key']}]}}\n")
file("jinja_pillar.sls", "a:\n  test.nop:\n    - name: {{ pillar['key'] }} {{ salt['pillar.get']('key') }}\n")
file("slots.sls", RUN + "    return {'a': {'test.nop': [{'name': '__slot__:salt:br.ping()'}]}}\n")
for name in (
    "good names dir.inner facts bracesun order tuples include fail raises norun syntax none text listed empty top_level early salt_error "
    "wrong_fun classes renders jinja_renders pipes argued jinja_then known absent_renderer json_py from_jinja encoding crossing generated slots mapped jinja_pillar"
).split():
    call("state.show_low_sls", name)
file("py_text.txt", "#!py\ndef run():\n    return 'text of ' + __grains__['own']\n")
file("own_file.sls", "/nowhere/x:\n  test.nop: []\n")
call("slsutil.renderer", "salt://good.sls")
call("slsutil.renderer", "salt://py_text.txt", "default_renderer=py")
call("state.show_sls", "good")
