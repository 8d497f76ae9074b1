"""Rosters of salt-ssh: `targets(tgt, tgt_type)`."""

file("ext/utils/br_part.py", "def part(): return ['part', __opts__['id']]\n")
file("ext/modules/br.py", "def ping(): return ['pong', __opts__['__role']]\n")
file("ext/runners/br_runs.py", "def run(a=1): return ['ran', a, __opts__['__role']]\n")
file("ext/roster/br_known.py", '''
NAMES = ("__salt__", "__grains__", "__pillar__", "__opts__", "__context__", "__utils__", "__proxy__", "__runner__", "__runners__", "__states__")
def tried(call):
    try:
        return call()
    except BaseException as error:
        return [type(error).__name__, str(error)]
def targets(tgt, tgt_type="glob", **kwargs):
    known = [name for name in NAMES if name in globals()]
    return {"web1": {
        "host": "10.0.0.1", "told": [
            tgt, tgt_type, sorted(kwargs), known, __opts__["id"], __opts__["__role"], __opts__.get("own_setting"), __name__,
            tried(lambda: __utils__["br_part.part"]()), tried(lambda: __runner__["br_runs.run"](2)), tried(lambda: __runner__["no.such"]),
            tried(lambda: __salt__["test.echo"]("x")), tried(lambda: __grains__.get("id")),
        ],
    }}
''')
file("ext/roster/br_plain.py", "def targets(tgt, tgt_type='glob'): return {'web1': {'host': '10.0.0.1', 'port': 22, 'minion_opts': {'a': [1]}}} if tgt == '*' else {}\n")
file("ext/roster/br_other.py", "def targets(tgt, tgt_type='glob'): return {'web1': {'host': '10.0.0.2', 'user': 'ann'}, 'web2': {'host': '10.0.0.3'}}\n")
file("ext/roster/br_bare.py", "def targets(tgt): return {'web1': {}}\n")
file("ext/roster/br_list.py", "def targets(tgt, tgt_type='glob'): return ['web1']\n")
file("ext/roster/br_none.py", "def targets(tgt, tgt_type='glob'): return None\n")
file("ext/roster/br_raises.py", "def targets(tgt, tgt_type='glob'): raise ValueError('went wrong')\n")
file("ext/roster/br_nothing.py", "def other(): pass\n")
file("ext/roster/br_refused.py", "def __virtual__(): return (False, 'needs the moon')\ndef targets(tgt, tgt_type='glob'): return {'web1': {}}\n")
file("ext/roster/br_syntax.py", "def targets(:\n")
file("ext/roster/br_virtual.py", "__virtualname__ = 'br_called'\ndef __virtual__(): return __virtualname__\ndef targets(tgt, tgt_type='glob'): return {tgt_type: {'host': tgt}}\n")
file("ext/roster/br_uses.py", '''
import salt.utils.minions
import salt.roster
from salt.roster import get_roster_file
def targets(tgt, tgt_type="glob", **kwargs):
    return {"web1": {"host": get_roster_file(__opts__)}}
''')
file("ext/roster/br_helps.py", '''
import salt.roster
def targets(tgt, tgt_type="glob", **kwargs):
    raw = {"web1": {"host": "1.1.1.1"}, "web2": "2.2.2.2", "db1": {"host": "3.3.3.3", "grains": {"os": "Debian"}}}
    return salt.utils.roster_matcher.targets(raw, tgt, tgt_type, "ipv4")
import salt.utils.roster_matcher
''')
for name in ("br_known", "br_plain", "br_other", "br_bare", "br_list", "br_none", "br_raises", "br_nothing", "br_refused", "br_syntax", "br_called", "br_virtual", "nothing_here"):
    master(roster=name, own_setting=7)
    roster("*")
master(roster="br_called")
roster("a and b", "compound")
roster("a,b", "list")
roster("os:Debian", "grain")
master(roster="br_plain")
roster("none")
master(roster="br_uses", roster_file="{ROOT}/own_roster")
file("own_roster", "web1: 10.0.0.9\n")
roster("*")
master(roster="br_helps")
for tgt, kind in (("*", "glob"), ("web*", "glob"), ("web1,db1", "list"), ("w.*2", "pcre"), ("os:Debian", "grain"), ("web*", "compound"), ("x", "pillar")):
    roster(tgt, kind)
