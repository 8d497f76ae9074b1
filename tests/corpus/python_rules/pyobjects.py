"""The renderer `pyobjects`: what high data, low data and results SLS files make."""

pillar({"port": 8080, "users": {"ada": 1001, "bob": 1002}})
CALLS = []


def sls(name, text, line="#!pyobjects", shows=("state.show_sls",)):
    """Writes an SLS file, and shows its high data."""
    file(name.replace(".", "/") + ".sls", line + "\n" + text)
    CALLS.extend((fun, name) for fun in shows)


BOTH = ("state.show_sls", "state.show_low_sls")
file("_modules/br.py", "def echo(x):\n    return x\ndef raises():\n    raise ValueError('went wrong')\n")
file("_states/brst.py", "def done(name, value=1):\n    return {'name': name, 'result': True, 'changes': {'value': value}, 'comment': 'done'}\n")
sls("simple", "Test.nop('a')\nTest.nop('b', x=1, y=[1, 2], z={'k': None})\n", shows=BOTH)
sls("withs", "with Test.nop('a'):\n    Test.nop('b')\n    with Test('b', 'watch'):\n        Test.nop('c', name='named')\nwith Test('a'), Test('b', 'onchanges_in'):\n    Test.nop('d')\n", shows=BOTH)
sls("requisites", "Test.nop('a', require=Test('b'), watch=[Test('c'), {'test': 'd'}], onfail_in=Test('e'))\nfor name in 'bcde':\n    Test.nop(name)\n", shows=BOTH)
sls("facts", "Test.nop('a', name=' '.join(str(one) for one in [grains('own'), grains('no', 'none'), pillar('port'), pillar('users:ada'), pillar('no', 5), config('own'), mine('*', 'no.such'), __sls__, __salt__['br.echo']('x'), salt.br.echo([1])]))\n")
sls("loops", "for name, uid in sorted(pillar('users').items()):\n    Test.nop('user-%s' % name, uid=uid)\n    if uid > 1001:\n        Test.nop('large-%s' % name, require=Test('user-%s' % name))\n")
sls("functions", "import os.path\nfrom string import ascii_lowercase as letters\ndef states(names, **kwargs):\n    for name in names:\n        Test.nop(os.path.join('/srv', name), **kwargs)\nstates(letters[:2], order=1)\n")
sls("included", "include('simple')\nTest.nop('own', require=Test('a'))\n", shows=BOTH)
sls("includes_two", "include('simple', 'loops')\nTest.nop('own')\n")
sls("plain", "p: {test.nop: []}\n", line="#!yaml", shows=())
sls("mixed", "include('plain')\nTest.nop('own', require_in=Test('p'))\n", shows=BOTH)
sls("from_yaml", "include: [simple]\nextend: {a: {test: [{x: 2}]}}\nown: {test.nop: [{require: [{test: a}]}]}\n", line="#!yaml", shows=BOTH)
sls("extends", "include('simple')\nTest.nop(extend('a'), x=5)\nTest.nop(extend('b'), require=Test('own'))\nTest.nop('own')\n", shows=BOTH)
sls("lib.maps", "class Web(Map):\n    port = 80\n    name = 'web'\n    class Debian:\n        name = 'apache2'\n    class Own:\n        __grain__ = 'own'\n        __match__ = 'grain'\n        port = 81\nclass Merged(Map):\n    merge = 'users'\n    cleo = 1003\ndef helper(x):\n    return 2 * x\nVALUE = 7\n", shows=())
sls("maps", "import salt://lib/maps.sls\nTest.nop('a', name='%s %s %s' % (maps.Web.port, maps.Web.name, maps.VALUE))\n")
sls("maps_from", "from salt://lib/maps.sls import Web, helper as double\nTest.nop('a', name='%s %s' % (Web.name, double(4)))\n")
sls("merged", "from salt://lib/maps.sls import Merged\nTest.nop('a', name='%s %s' % (Merged.ada, Merged.cleo))\n")
sls("import_all", "from salt://lib/maps.sls import *\nTest.nop('a', name=str(VALUE))\n")
sls("import_absent", "import salt://lib/absent.sls\nTest.nop('a')\n")
sls("own_state", "Brst.done('a', value=2)\nwith Brst('a', 'onchanges'):\n    Brst.done('b')\n", shows=("state.show_sls", "state.sls"))
sls("two_of_one", "Test.nop('a')\nCmd.run('a', name='true')\n", shows=BOTH)
sls("again", "Test.nop('a')\nTest.nop('a')\n")
sls("unknown_module", "Nothing.here('a')\n")
sls("unknown_function", "Test.nothing('a')\n")
sls("raises", "x = 1\nraise ValueError('went wrong')\n")
sls("call_raises", "Test.nop('a')\nsalt.br.raises()\n")
sls("key", "Test.nop('a', name=__pillar__['absent'])\n")
sls("syntax", "Test.nop('a'\nx = 1\n")
sls("nothing", "x = 1\n")
sls("piped", "Test.nop('{{ pillar.port }}')\n", line="#!jinja|pyobjects")
sls("unicode", "Test.nop('é', name='日本')\n")
sls("names", "Test.nop('a', names=['x', 'y'])\nTest.nop('b', names=[{'x': [{'k': 1}]}])\n", shows=BOTH)
sls("unless", "Test.nop('a', unless='true', onlyif=['false'], failhard=True, order='last', reload_modules=True)\n")
sls("tuples", "Test.nop('a', pair=(1, 2), one={1}, none=None, text=b'bytes')\n")
sls("run", "with Test.configurable_test_state('a', changes=True, result=True, comment=str(pillar('port'))):\n    Test.nop('b')\nwith Test('a', 'onchanges'):\n    Test.nop('c')\n", shows=("state.sls",))
for one in CALLS:
    call(*one)
call("slsutil.renderer", "salt://simple.sls")
