"""Sources of master_tops: `top(**kwargs)` of a master, and of a host without one."""

file("srv/top.sls", "base: {'m1': [of_file]}\n")
file("srv/of_file.sls", "of_file: {test.nop: []}\n")
file("srv/from_top.sls", "from_top: {test.nop: []}\n")
file("srv/dev/from_dev.sls", "from_dev: {test.nop: []}\n")
file("ext/modules/br.py", "def ping(): return 'pong'\n")
file("ext/tops/br_known.py", '''
import json
NAMES = ("__salt__", "__grains__", "__pillar__", "__opts__", "__context__", "__utils__", "__proxy__", "__states__", "__runner__")
def top(**kwargs):
    opts = kwargs["opts"]
    known = [name for name in NAMES if name in globals()]
    told = [
        sorted(kwargs), opts["id"], opts.get("__role"), opts.get("own_setting"), opts.get("saltenv"), opts.get("pillarenv"), opts.get("environment"),
        opts.get("master_tops", "none") , opts.get("file_client"), opts.get("test"), "grains" in opts and opts["grains"]["id"], kwargs["grains"]["id"], kwargs["grains"].get("own"),
        known, __opts__["id"], __opts__["__role"], __opts__.get("own_setting"), __opts__["master_tops"], __grains__.get("id") if "__grains__" in globals() else "absent", __name__,
    ]
    return {"base": [json.dumps(told)]}
''')
file("ext/tops/br_dev.py", "def top(**kwargs): return {'dev': ['from_dev']}\n")
file("ext/tops/br_role.py", "def top(**kwargs): return {'base': ['role_' + __opts__['__role']]}\n")
file("ext/tops/br_one.py", "def top(**kwargs): return {'base': ['of_file', 'one']}\n")
file("ext/tops/br_two.py", "def top(**kwargs): return {'base': ['two', 'one'], 'dev': ['d']}\n")
file("ext/tops/br_text.py", "def top(**kwargs): return {'base': 'text'}\n")
file("ext/tops/br_map.py", "def top(**kwargs): return {'base': {'a': 1}}\n")
file("ext/tops/br_list.py", "def top(**kwargs): return ['a']\n")
file("ext/tops/br_none.py", "def top(**kwargs): return None\n")
file("ext/tops/br_empty.py", "def top(**kwargs): return {}\n")
file("ext/tops/br_numbers.py", "def top(**kwargs): return {'base': [1, None, {'dev': 'x'}, {'match': 'glob'}]}\n")
file("ext/tops/br_tuple.py", "def top(**kwargs): return {'base': ('a', 'b')}\n")
file("ext/tops/br_raises.py", "def top(**kwargs): raise ValueError('went wrong')\n")
file("ext/tops/br_bare.py", "def top(): return {'base': ['bare']}\n")
file("ext/tops/br_given.py", "def top(opts, grains): return {'base': ['given_' + opts['id'] + '_' + grains['id']]}\n")
file("ext/tops/br_virtual.py", "__virtualname__ = 'br_called'\ndef __virtual__(): return __virtualname__\ndef top(**kwargs): return {'base': ['called']}\n")
file("ext/tops/br_refused.py", "def __virtual__(): return (False, 'needs the moon')\ndef top(**kwargs): return {'base': ['refused']}\n")
file("ext/tops/br_syntax.py", "def top(:\n")
file("ext/tops/br_calls.py", '''
def top(**kwargs):
    def tried(call):
        try:
            return str(call())
        except BaseException as error:
            return type(error).__name__
    return {"base": [tried(lambda: __salt__["test.echo"]("echoed")), tried(lambda: sorted(dict(__pillar__))), tried(lambda: __utils__ and "utils")]}
''')
file("ext/tops/br_virtual_salt.py", "def __virtual__(): return '__salt__' in globals()\ndef top(**kwargs): return {'base': ['has_salt']}\n")

TOPS = {
    "known": {"br_known": "setting"}, "dev": {"br_dev": None}, "role": {"br_role": 1}, "one": {"br_one": 1}, "two": {"br_one": 1, "br_two": 1}, "back": {"br_two": 1, "br_one": 1},
    "kinds": {"br_text": 1}, "map": {"br_map": 1}, "list": {"br_list": 1, "br_one": 1}, "none": {"br_none": 1, "br_one": 1}, "empty": {"br_empty": 1}, "numbers": {"br_numbers": 1},
    "tuple": {"br_tuple": 1}, "raises": {"br_raises": 1, "br_two": 1}, "bare": {"br_bare": 1}, "given": {"br_given": 1},
    "absent": {"br_virtual": 1, "nothing_here": 1, "br_refused": 1, "br_syntax": 1, "br_one": 1}, "called": {"br_called": 1}, "calls": {"br_calls": 1}, "salt": {"br_virtual_salt": 1}, "text_and_one": {"br_text": 1, "br_two": 1},
}
for name, tops in TOPS.items():
    minion(master_tops=tops, own_setting=5)
    call("state.show_top")
minion(master_tops={"br_one": 1}, master_tops_first=True)
call("state.show_top")
minion(master_tops_first=None, master_tops={"br_two": 1, "br_dev": 1}, file_roots={"base": ["{ROOT}/srv"], "dev": ["{ROOT}/srv/dev"]})
call("state.show_top")
call("state.show_states")
# The highstate would remove plugins that the tree does not have.
minion(master_tops={"br_dev": 1}, autoload_dynamic_modules=False)
call("state.highstate")
call("state.show_top", "saltenv=dev")
minion(master_tops={}, own_setting=5)
file("srv/top.sls", "base: {'m1': [of_file]}\n")
master(master_tops={"br_known": "setting", "br_dev": 1, "br_role": 1, "br_two": 1, "br_raises": 1, "br_given": 1, "br_calls": 1}, own_setting=7)
live()
show("salt-call", "state.show_top")
show("salt-call", "state.show_top", "saltenv=base")
show("salt", "m1", "state.show_top")
