"""Engines: `start(**options)` on a master and on a minion."""

KNOWN = '''
import json, os, time
NAMES = ("__salt__", "__grains__", "__pillar__", "__opts__", "__context__", "__utils__", "__proxy__", "__runners__", "__runner__", "__states__")

def tried(call):
    try:
        return call()
    except BaseException as error:
        return [type(error).__name__, str(error)]

def told(name, value):
    path = "{ROOT}/%s_%s" % (name, __opts__["__role"])
    with open(path + ".new", "w") as file:
        file.write(json.dumps(value) + "\\n")
    os.rename(path + ".new", path)
'''
file("pillar/top.sls", "base: {'*': [own]}\n")
file("pillar/own.sls", "{of: file}\n")
file("ext/utils/br_part.py", "def part(): return ['part', __opts__['id']]\n")
file("ext/modules/br.py", "def ping(*args, **kwargs): return ['pong', list(args), __opts__['__role'], __grains__['id'], sorted(k for k in kwargs if k[:2] != '__')]\n")
file("ext/runners/br_runs.py", "def run(a=1): return ['ran', a, __opts__['__role']]\n")
file("ext/engines/br_neighbour.py", "NAME = 'neighbour'\n")
file("ext/engines/br_known.py", KNOWN + '''
import br_neighbour
def start(*args, **kwargs):
    known = [name for name in NAMES if name in globals()]
    told("known", [
        list(args), kwargs, known, __opts__["id"], __opts__["__role"], __opts__.get("own_setting"), __opts__["engines"], __name__, br_neighbour.NAME,
        tried(lambda: __salt__["br.ping"](1)), tried(lambda: __salt__["br.ping"]("x", k=2)), tried(lambda: __salt__["test.echo"]("e")), tried(lambda: __salt__["no.such"]),
        tried(lambda: __utils__["br_part.part"]()), tried(lambda: __salt__["grains.get"]("id")), tried(lambda: __salt__["config.get"]("own_setting")),
        tried(lambda: __runners__["br_runs.run"](2)), tried(lambda: __grains__.get("own")),
        tried(lambda: __salt__["pillar.get"]("of", "none")), tried(lambda: sorted(dict(__pillar__))), tried(lambda: __context__.get("a")), tried(lambda: bool(__proxy__)), "br.ping" in __salt__,
    ])
    while True:
        time.sleep(60)
''')
file("ext/engines/br_named.py", KNOWN + '''
def start(name="none", **kwargs):
    told("named_" + name, [name, kwargs, __name__])
    while True:
        time.sleep(60)
''')
file("ext/engines/br_virtual.py", KNOWN + '''
__virtualname__ = "br_called"
def __virtual__():
    return __virtualname__
def start(interval, tags=None):
    told("virtual", [interval, tags, __name__])
    while True:
        time.sleep(60)
''')
file("ext/engines/br_events.py", KNOWN + '''
import salt.utils.event
def start():
    if __opts__["__role"] == "master":
        bus = salt.utils.event.get_event("master", sock_dir=__opts__["sock_dir"], opts=__opts__, listen=True)
    else:
        bus = salt.utils.event.get_event("minion", sock_dir=__opts__["sock_dir"], opts=__opts__, listen=True)
    seen = []
    for count in range(200):
        bus.fire_event({"n": count}, "own/engine/first") if __opts__["__role"] == "master" else bus.fire_event({"n": count}, "own/engine/first")
        event = bus.get_event(tag="own/engine", wait=1, full=True)
        if event:
            seen = [event["tag"], sorted(event["data"])]
            break
    nothing = bus.get_event(tag="nothing/here", wait=0.1)
    matched = None
    for count in range(200):
        bus.fire_event({"n": count}, "own/engine/second")
        matched = bus.get_event(tag="own/*/second", wait=1, match_type="fnmatch", full=True)
        if matched:
            break
    told("events", [seen, nothing, matched["tag"], "_stamp" in matched["data"]])
    while True:
        time.sleep(60)
''')
file("ext/engines/br_sends.py", KNOWN + '''
def start():
    if __opts__["__role"] == "minion":
        sent = tried(lambda: __salt__["event.fire"]({"a": 1}, "own/sent"))
    else:
        import salt.utils.event
        sent = salt.utils.event.get_master_event(__opts__, __opts__["sock_dir"], listen=False).fire_event({"a": 1}, "own/sent")
    told("sends", [sent])
    while True:
        time.sleep(60)
''')
# What a minion fires on its own bus, its master does not hear.
file("ext/engines/br_fires.py", KNOWN + '''
import salt.utils.event
def start():
    bus = salt.utils.event.get_event("minion", __opts__["sock_dir"], __opts__, False)
    if __opts__["__role"] == "master":
        bus = salt.utils.event.get_event("master", __opts__["sock_dir"], opts=__opts__, listen=False)
    minion = __opts__["__role"] == "minion"
    refused = [tried(lambda: bus.fire_event({"a": 1}, "")), tried(lambda: bus.fire_event(["a"], "own/bus/a")), tried(lambda: bus.fire_event("a", "own/bus/a"))]
    while True:
        fired = [
            bus.fire_event({"a": 1}, "own/bus/a"),
            minion and salt.utils.event.MinionEvent(__opts__, listen=False).fire_event({"a": 1}, "own/bus/b"),
            minion and __salt__["event.fire"]({"a": 1}, "own/bus/c"),
            minion and __salt__["event.fire_master"]({"a": 1}, "own/bus/d"),
            minion and __salt__["event.send"]("own/bus/e", {"a": 1}),
            minion and bus.fire_master({"a": 1}, "own/bus/f"),
            minion and bus.fire_event({"a": 1}, "own/bus/last"),
            minion and __salt__["event.send"]("own/bus/last", {"a": 1}),
        ]
        told("fires", [fired, refused])
        time.sleep(1)
''')
file("ext/engines/br_hears.py", KNOWN + '''
import salt.utils.event
def start():
    bus = salt.utils.event.get_event(__opts__["__role"], sock_dir=__opts__["sock_dir"], opts=__opts__)
    heard, lasts = set(), 0
    while lasts < 2:
        event = bus.get_event(wait=5, tag="own/bus/", full=True)
        if event:
            heard.add(event["tag"])
            lasts += event["tag"] == "own/bus/last"
    told("hears", sorted(heard))
    while True:
        time.sleep(60)
''')
file("ext/engines/br_again.py", KNOWN + '''
def start():
    path = "{ROOT}/again_count_" + __opts__["__role"]
    with open(path, "a") as file:
        file.write("x")
    count = os.path.getsize(path)
    if count == 1:
        raise ValueError("went wrong")
    if count == 2:
        return "ended"
    told("again", [count])
    while True:
        time.sleep(60)
''')
file("ext/engines/br_calls.py", KNOWN + '''
import salt.client, salt.config, salt.runner
def start():
    if __opts__["__role"] != "master":
        told("calls", ["minion"])
    else:
        answer = {}
        client = salt.client.LocalClient(mopts=__opts__)
        for count in range(60):
            answer = tried(lambda: client.cmd("m1", "test.echo", ["from_engine"], timeout=5))
            if isinstance(answer, dict) and answer.get("m1"):
                break
            time.sleep(1)
        runner = salt.runner.RunnerClient(__opts__)
        told("calls", [answer, tried(lambda: runner.cmd("br_runs.run", ["3"], print_event=False)), tried(lambda: runner.cmd("br_runs.run", [], kwarg={"a": 4}, print_event=False))])
    while True:
        time.sleep(60)
''')
file("ext/engines/br_refused.py", KNOWN + "def __virtual__(): return (False, 'needs the moon')\ndef start(): told('refused', [1])\n")
file("ext/engines/br_syntax.py", "def start(:\n")
file("ext/engines/br_nothing.py", "def other(): pass\n")
ENGINES = [
    {"br_known": {"a": 1, "b": ["x", {"c": None}]}}, {"first": {"engine_module": "br_named", "name": "first", "n": 1}}, {"second": {"engine_module": "br_named", "name": "second"}},
    "br_named", {"br_called": {"interval": 5, "tags": ["a"]}}, {"br_events": {}}, {"br_sends": None}, "br_fires", "br_hears", "br_again", "br_calls", "br_refused", "br_syntax", "br_nothing", "nothing_here",
]
master(engines=ENGINES, own_setting=7)
minion(engines=ENGINES, own_setting=5)
live()
for name in ("known", "named_first", "named_second", "named_none", "virtual", "events", "sends", "fires", "hears", "calls", "again"):
    for role in ("master", "minion"):
        wait(f"{name}_{role}")
