"""Systems of external_auth: `auth(username, password)`, `groups(username)`, `acl(username)`."""

file("ext/utils/br_part.py", "def part(): return 'part'\n")
file("ext/auth/br_known.py", '''
import json, os
NAMES = ("__salt__", "__grains__", "__pillar__", "__opts__", "__context__", "__utils__", "__proxy__", "__runner__", "__states__")
def tried(call):
    try:
        return call()
    except BaseException as error:
        return [type(error).__name__, str(error)]
def told(name, value):
    path = "{ROOT}/%s" % name
    with open(path + ".new", "w") as file:
        file.write(json.dumps(value) + "\\n")
    os.rename(path + ".new", path)
def auth(username, password, **kwargs):
    known = [name for name in NAMES if name in globals()]
    told("auth", [
        username, password, sorted(kwargs), known, __opts__["id"], __opts__["__role"], __opts__.get("own_setting"), __name__, dict(__context__), sorted(__grains__) == [], sorted(__pillar__) == [],
        tried(lambda: __utils__["br_part.part"]()), tried(lambda: __salt__["test.echo"]("x")), tried(lambda: __salt__["config.get"]("own_setting")), tried(lambda: __salt__["br_helps.twice"]("x")), tried(lambda: __salt__.br_helps.twice("y")),
        tried(lambda: __salt__["cmd.run"]("echo said")), tried(lambda: __salt__["cmd.run_all"]("sh -c 'exit 3'")["retcode"]), tried(lambda: __salt__["no.such"]), tried(lambda: __salt__["test.raise_exception"]("ValueError", "no")), "test.ping" in __salt__, "no.such" in __salt__, "br_helps.twice" in __salt__,
        tried(lambda: __salt__["file.file_exists"]("{ROOT}/ext/auth/br_known.py")), tried(lambda: __salt__["test.ping"](no=1)), __salt__["test.ping"].__name__, sorted(__opts__["external_auth"]["br_known"]),
    ])
    return password == "right"
def groups(username, **kwargs):
    told("groups", [username, sorted(kwargs)])
    return ["ops"] if username == "bob" else []
def acl(username, **kwargs):
    told("acl", [username, sorted(kwargs)])
    return {"eve": ["test.echo"], "all": [".*"], "map": [{"m1": ["test.ping"]}], "empty": [], "text": "test.ping"}.get(username)
''')
file("ext/modules/br_helps.py", "def twice(text): return [text, text, __opts__['__role'], __opts__['id'], __opts__.get('own_setting')]\n")
file("ext/auth/br_shared.py", '''
SEEN = []
def auth(username, password):
    __context__["user"] = username
    SEEN.append(username)
    return True
def groups(username, **kwargs):
    __context__["asked"] = True
    return ["ops"]
def acl(username, **kwargs):
    return ["test.ping"] if __context__.get("user") == username == SEEN[-1] else []
''')
file("ext/auth/br_processed.py", "def auth(username, password): return True\ndef process_acl(auth_list, opts): return [one for one in auth_list if one != 'test.arg'] + ['test.echo'] * (opts['id'] == 'ma')\n")
file("ext/auth/br_fails.py", "def auth(username, password): return True\ndef groups(username, **kwargs): raise ValueError(kwargs)\ndef acl(username, **kwargs): raise ValueError(kwargs)\n")
file("ext/auth/br_plain.py", "def auth(username, password): return (username, password) == ('ann', 'right')\n")
file("ext/auth/br_more.py", "def auth(username, password, token=None, eauth=None): return [username, token] == ['ann', None] and {'any': 'map'}\n")
file("ext/auth/br_given.py", "def auth(**kwargs): return kwargs['username'] == 'ann' and sorted(kwargs) == ['password', 'username']\n")
file("ext/auth/br_raises.py", "def auth(username, password): raise ValueError('went wrong')\n")
file("ext/auth/br_exits.py", "import sys\ndef auth(username, password): sys.exit(0)\n")
file("ext/auth/br_truth.py", "def auth(username, password): return {'one': 1, 'zero': 0, 'text': 'yes', 'none': None, 'empty': '', 'list': [0]}[username]\n")
file("ext/auth/br_virtual.py", "__virtualname__ = 'br_called'\ndef __virtual__(): return __virtualname__\ndef auth(username, password): return True\n")
file("ext/auth/br_refused.py", "def __virtual__(): return (False, 'needs the moon')\ndef auth(username, password): return True\n")
file("ext/auth/br_nothing.py", "def groups(username): return ['ops']\n")
file("ext/auth/br_groups.py", '''
def auth(username, password): return True
def groups(username, **kwargs):
    return {"text": "ops", "none": None, "tuple": ("ops",), "set": {"ops"}, "number": 5, "list": ["other", "ops"], "map": {"ops": 1}}[username]
''')
file("ext/auth/br_acl.py", '''
def auth(username, password): return True
def acl(username, **kwargs):
    return {"text": "test.ping", "none": None, "tuple": ("test.ping",), "list": ["test.ping"], "maps": [{"m1": ["test.ping"]}], "map": {"m1": ["test.ping"]}, "empty": []}[username]
''')
file("ext/auth/br_strict.py", "def auth(username, password): return True\ndef groups(username): return ['ops']\ndef acl(username): return ['test.ping']\n")
LISTED = {"ann": ["test.ping"], "eve": ["test.arg"], "text": ["test.echo"], "none": ["test.echo"], "list": ["test.echo"], "tuple": ["test.echo"], "maps": ["test.echo"], "map": ["test.echo"], "empty": ["test.echo"]}
ANYONE = {"*": ["test.ping"], "ops%": ["test.echo"]}
master(own_setting=7, external_auth={
    "br_known": {"ann": ["test.ping"], "ops%": ["test.arg"], "map": ["test.arg"]}, "br_plain": {"ann": ["test.ping", "@runner", "@wheel"]}, "br_more": ANYONE, "br_given": ANYONE, "br_raises": ANYONE, "br_exits": ANYONE, "br_truth": ANYONE,
    "br_virtual": ANYONE, "br_called": ANYONE, "br_refused": ANYONE, "br_nothing": ANYONE, "br_groups": {"ops%": ["test.ping"]}, "br_acl": LISTED, "br_strict": ANYONE,
    "br_shared": ANYONE, "br_processed": {"ann": ["test.ping", "test.arg"]}, "br_fails": {"ann": ["test.ping"], "ops%": ["test.echo"]}, "nothing_here": ANYONE,
})
live()
def ask(eauth, user, password, *words):
    show("salt", "m1", *words, "-a", eauth, f"--username={user}", f"--password={password}")
ask("br_known", "ann", "right", "test.ping")
wait("auth")
ask("br_known", "ann", "wrong", "test.ping")
ask("br_known", "bob", "right", "test.arg", "1")
wait("groups")
ask("br_known", "bob", "right", "test.ping")
ask("br_known", "eve", "right", "test.echo", "x")
wait("acl")
ask("br_known", "all", "right", "test.arg", "1")
ask("br_known", "map", "right", "test.ping")
ask("br_known", "map", "right", "test.arg")
ask("br_known", "empty", "right", "test.ping")
ask("br_known", "nobody", "right", "test.ping")
ask("br_plain", "ann", "right", "test.ping")
ask("br_plain", "ann", "wrong", "test.ping")
ask("br_plain", "ann", "right", "test.echo", "x")
for eauth in ("br_more", "br_given", "br_raises", "br_virtual", "br_called", "br_refused", "br_nothing", "br_strict", "br_shared", "nothing_here"):
    ask(eauth, "ann", "right", "test.ping")
for words in (["test.ping"], ["test.arg"], ["test.echo", "x"]):
    ask("br_processed", "ann", "right", *words)
    ask("br_fails", "ann", "right", *words)
ask("br_shared", "bob", "right", "test.ping")
ask("br_shared", "bob", "right", "test.echo", "x")
for user in ("one", "zero", "text", "none", "empty", "list"):
    ask("br_truth", user, "x", "test.ping")
for user in ("text", "none", "tuple", "set", "number", "list", "map"):
    ask("br_groups", user, "x", "test.ping")
for user in ("text", "none", "tuple", "list", "maps", "map", "empty"):
    ask("br_acl", user, "x", "test.ping")
    ask("br_acl", user, "x", "test.echo", "x")
show("salt-run", "test.arg", "1", "-a", "br_plain", "--username=ann", "--password=right")
show("salt-run", "test.arg", "1", "-a", "br_plain", "--username=ann", "--password=wrong")
# Salt's worker may end with it.
ask("br_exits", "ann", "right", "test.ping")
