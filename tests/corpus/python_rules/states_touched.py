"""Rule 26a: a state file that uses `__states__` while it is loaded."""

file("_states/br_good.py", '''
def f(name):
    return {"name": name, "result": True, "changes": {}, "comment": "fine"}
''')
file("_states/br_touches.py", '''
__states__["test.nop"]
def f(name):
    return {"name": name, "result": True, "changes": {}, "comment": "fine"}
''')
file("a.sls", "a:\n  br_good.f: []\n")
call("state.sls", "a")
call("sys.state_doc", "br_good.f")
