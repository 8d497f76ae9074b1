"""The renderer `pydsl` of Salt 3006.28, which 3008 has no longer."""

pillar({"port": 8080})
CALLS = []


def sls(name, text, line="#!pydsl", shows=("br.high",)):
    """Writes an SLS file, and shows its high data."""
    file(name.replace(".", "/") + ".sls", line + "\n" + text)
    CALLS.extend((fun, name) for fun in shows)


BOTH = ("br.high", "br.low")
# The high data has the file's module in it, which cannot be sent.
file("_modules/br.py", '''
def _sendable(args):
    return [one for one in args if not (isinstance(one, dict) and "slsmod" in one)]
def high(sls):
    given = __salt__["state.show_sls"](sls)
    if not isinstance(given, dict):
        return given
    return {id: {key: _sendable(args) if isinstance(args, list) else args for key, args in body.items() if key != "__sls_included_from__"} if isinstance(body, dict) else body for id, body in given.items()}
def low(sls):
    given = __salt__["state.show_low_sls"](sls)
    if not all(isinstance(chunk, dict) for chunk in given):
        return given
    given.sort(key=lambda chunk: chunk["order"])
    return [{key: value for key, value in chunk.items() if key not in ("slsmod", "__sls_included_from__")} for chunk in given]
''')
sls("simple", "state('a').test.nop()\nstate('b').test.nop('named', x=1, y=[1, 2])\n", shows=BOTH)
sls("tutorial", """
apache = state('apache')
apache.test.nop()
apache.cmd.run('true').watch(test='apache', file='/etc/httpd/conf/httpd.conf', user='apache').require(apache.test)
if __grains__['own'] == 'grain':
    apache.test.nop(name='httpd')
apache.group.present(gid=87).require(apache.test)
apache.user.present(uid=87, home='/var/www').require_in(apache.group, apache.cmd)
state('/etc/httpd/conf/httpd.conf').file.managed(source='salt://apache/httpd.conf', mode=644)
""")
sls("names", """
names = ['__pydsl__', 'include', 'extend', 'state', '__salt__', '__grains__', '__opts__', '__pillar__', '__env__', '__sls__', '__file__', '__name__']
state('a').test.nop(' '.join(n for n in names if n in globals()))
state('b').test.nop(str([__sls__, __env__, __name__, __file__.split('/')[-1:], __pillar__['port'], __salt__['test.echo']((1, 2)) is not None]))
""")
sls("called", "state('a').test('nop', 'x', y=1)\nstate('a').cmd.run('ls')\n", shows=BOTH)
sls("items", "state('a')['test']['nop'] if False else state('a').test.nop()\nstate('b')['cmd'].run('ls')\n")
sls("references", "a = state('a')\na.test.nop()\nstate('b').test.nop().onchanges(a.test).onfail(test='a').use(a.test).use_in(test='c').listen(test='a').listen_in(a.test).prereq(test='c').prereq_in(test='a').watch_in(test='a')\nstate('c').test.nop()\n")
sls("functions", "for m in state('a').test.nop().mod, :\n    state('b').test.nop().require(m)\nfor m in state('a'):\n    state('c').test.nop(str(m) + str(state('a')))\n")
sls("two", "state('a').test.nop()\nstate('a').test.succeed_without_changes()\n")
sls("again", "state('a').test.nop(x=1)\nstate('a').test.nop(y=2)\n")
sls("nofun", "state('a').test.require(test='b')\nstate('b').test.nop()\n")
sls("later", "state('a').test.require(test='b')\nstate('a').test.nop()\nstate('b').test.nop()\n")
sls("notref", "state('a').test.nop().require('b')\n")
sls("emptyref", "state('a').test.nop().require(test='')\n")
sls("empty", "x = 1\n")
sls("ordered", "__pydsl__.set(ordered=True)\nstate('a').test.nop()\nstate('b').test.nop()\nstate('a').cmd.run('ls')\nstate('c').test.nop().require(test='b')\n", shows=BOTH)
sls("ordered_late", "state('a').test.nop()\n__pydsl__.set(ordered=True)\nstate('b').test.nop()\nstate('c').test.nop()\n")
sls("ordered_extend", "__pydsl__.set(ordered=True)\nstate('a').test.nop()\nextend(state('b').test.require(test='a'))\n")
sls("option", "state(str(__pydsl__.options.ordered)).test.nop()\n")
sls("loaded", "__pydsl__.load_highstate({'a': {'test.nop': [{'name': 'x'}, {'y': 1}]}, 'b': {'test': ['nop', {'z': [1]}]}})\n")
sls("delayed", "include('simple', delayed=True)\nstate('c').test.nop()\n")
sls("delayed_env", "include('simple', delayed=True, saltenv='base')\nstate('c').test.nop()\n")
sls("extends", "include('simple', delayed=True)\nextend(state('a').test.nop(z=3), state('b').test.require(test='c'))\nstate('c').test.nop()\n", shows=BOTH)
sls("extends_only", "include('simple', delayed=True)\nextend(state('a').test.require(test='c'))\nstate('c').test.nop()\n")
sls("part", "VALUE = 5\ndef double(x):\n    return 2 * x\nstate('p').test.nop()\n")
sls("now", "part = include('part')\nstate('n').test.nop(str(part.double(part.VALUE)))\n")
sls("now_two", "one, two = include('part', 'simple')\nstate('n').test.nop(str([one.VALUE, two.__sls__]))\n")
sls("plainly", "p: {test.nop: []}\n", line="#!yaml", shows=())
sls("now_yaml", "x = include('plainly')\nstate('n').test.nop(str(x))\n")
sls("nested.inner", "inner = include('part')\nVALUE = inner.VALUE + 1\nstate('i').test.nop()\n")
sls("nested.outer", "inner = include('nested.inner')\npart = include('part')\nstate('o').test.nop(str([inner.VALUE, part is inner.inner]))\n")
sls("included", "include:\n  - part\nq:\n  test.nop:\n    - require: [{test: p}]\n", line="#!yaml", shows=BOTH)
sls("raises", "x = 1\nraise ValueError('went wrong')\n")
sls("syntax", "state('a'\nx = 1\n")
sls("unknown", "state('a').nothing.here()\n")
sls("deep.conf", "state('.a').test.nop()\nstate('b').test.nop().require(test='.a')\n", line="#!pydsl|stateconf -p", shows=BOTH)
sls("deep.conf_start", "state('.a').test.nop()\nstate('b').test.nop()\n", line="#!pydsl|stateconf -ps")
sls("piped", "state('{{ 1 + 1 }}').test.nop()\n", line="#!jinja|pydsl")
sls("compiled", "early = state('early')\nearly.test.succeed_with_changes()\nresult = early()\nstate('a').test.nop(str([one[1]['comment'] for one in result]))\n")
sls("compiled_fails", "early = state('early')\nearly.test.fail_without_changes()\nearly()\nstate('a').test.nop()\n")
sls("compiled_unchecked", "early = state('early')\nearly.test.fail_without_changes()\nearly(check=False)\nstate('a').test.nop()\n")
sls("compiled_ordered", "__pydsl__.set(ordered=True)\nstate('a').test.nop()\nearly = state('early')\nearly.test.nop()\nearly()\nstate('b').test.nop()\n")
sls("compiled_late", "__pydsl__.set(ordered=True)\nearly = state('early')\nearly.test.nop()\nstate('a').test.nop()\nearly()\n")
sls("run", "state('a').test.configurable_test_state(changes=True, result=True, comment='hello')\nstate('b').test.nop().require(test='a')\n", shows=("state.sls",))
for one in CALLS:
    call(*one)
