"""The cases of `cmd`: read by make_state_runs.py."""
D = ["pid"]


def cmd(fun, name, **given):
    fields = {key: given.pop(key) for key in ("tree", "setup", "steps", "drop") if key in given}
    case(f"cmd.{fun}", {"name": name, **given}, **{"drop": D, **fields})


TWICE = ("test", "run")
for name in ["echo hello", "echo out; echo err >&2; exit 3", "nosuchprogram_", "true", f"cd {R}; echo x >> f", "printf 'a\\n\\n'"]:
    cmd("run", name, steps=TWICE)
cmd("run", "pwd", cwd=R, steps=TWICE), cmd("run", "pwd", cwd=f"{R}/none", steps=TWICE), cmd("run", "id -un", runas="nobody", cwd="/", steps=TWICE), cmd("run", "id", runas="nosuch_user", steps=TWICE)
for env in [{"A": "1"}, [{"A": "1"}, {"B": "two"}], "A=1", 5, [], {"A": None}]:
    cmd("run", "echo $A-$B", env=env, steps=TWICE)
for more in [dict(hide_output=True), dict(success_retcodes=[3]), dict(success_retcodes="3"), dict(success_stdout=["out"]), dict(success_stderr=["err"]), dict(success_stderr=["no"])]:
    cmd("run", "echo out; echo err >&2; exit 3", steps=TWICE, **more)
cmd("run", "sleep 5", timeout=0.2, steps=("run",)), cmd("run", "sleep 5", timeout=0.2, ignore_timeout=True, steps=("run",)), cmd("run", "echo x", timeout=5, ignore_timeout=True, steps=("run",))
cmd("run", "true", bg=True, steps=TWICE), cmd("run", "cat", stdin="a\\nb", steps=("run",)), cmd("run", "echo $0", shell="/bin/bash", steps=("run",)), cmd("run", "echo hi", shell="/no/shell", steps=TWICE)
cmd("run", "tool", prepend_path=f"{R}/bin", tree={"bin": {"dir": {"tool": {"text": "#!/bin/sh\necho tool\n", "mode": "0755"}}}}, steps=("run",))
cmd("run", "echo {{ 1 + 1 }}", template="jinja", steps=("run",)), cmd("run", "echo a b  c", python_shell=False, steps=("run",)), cmd("run", "echo a", cmd="echo b", steps=("run",)), cmd("script", "salt://s.sh", python_shell=True, steps=("run",))
cmd("run", "printf 'x  '", rstrip=False, steps=("run",)), cmd("run", "echo \u00e4", steps=("run",)), cmd("run", "printf '\\344'", output_encoding="latin-1", steps=("run",))

# stateful
OUTPUTS = [
    "changed=yes", "changed=yes comment='it was'", "line one\nline two\nchanged=yes comment='it was' key=value", "changed=no comment='nothing'", "changed=True x=1", "changed=1",
    "changed=false", "comment=only", "changed=maybe", "no pairs", "a=b=c", "changed=yes comment='open", '{"changed": true, "comment": "json", "n": 1}', '{"changed": false, "comment": "json"}',
    '{"changed": "yes", "stdout": "own"}', '{"comment": "x"}', "[1]", "5", '{"changed": 1, "comment": ["a", "b"]}', "first\nchanged=yes\n\n", '{"changed": null}', '{"changed": "nope"}', "changed=",
]
for output in OUTPUTS:
    cmd("run", f"cat {R}/out", stateful=True, tree={"out": output}, steps=TWICE)
cmd("run", "true", stateful=True, steps=TWICE), cmd("run", "echo oops >&2; exit 2", stateful=True, steps=TWICE), cmd("run", "echo changed=yes comment=c; exit 2", stateful=True, steps=TWICE)
for stateful in [[], [{"test_name": "echo changed=yes comment=would"}], [{"test_name": "echo changed=no"}], [{"other": 1}], "yes", 1, "true", [{"test_name": "echo changed=yes; exit 4"}], [{"test_name": ""}]]:
    if stateful != []:  # Salt looks at its first element
        cmd("run", "echo changed=yes comment=did", stateful=stateful, steps=TWICE)
cmd("run", "exit 3", success_retcodes=[3], stateful=True, steps=("run",))

# scripts
S = {"srv": {"dir": {"s.sh": "#!/bin/sh\necho script $# \"$@\"\n", "fail.sh": "#!/bin/sh\necho out; echo err >&2; exit 4\n", "t.sh": "#!/bin/sh\necho {{ who }} {{ what }}\n", "st.sh": "#!/bin/sh\necho changed=yes comment=$1\n", "bad.sh": "#!/bin/sh\necho {{ nope }\n", "pwd.sh": "#!/bin/sh\npwd\n"}}, "local.sh": "#!/bin/sh\necho local\n"}
for name, more in [
    ("salt://s.sh", {}), ("salt://s.sh", dict(args="a 'b c'")), ("salt://s.sh", dict(args=["a", "b c"])), ("s.sh one two", dict(source="salt://s.sh")), ("s.sh  'one  two'", dict(source="salt://s.sh")), ("salt://s.sh one", {}),
    ("x", dict(source="salt://fail.sh")), ("salt://fail.sh", dict(success_retcodes=[4])), ("salt://fail.sh", dict(hide_output=True)), ("salt://none.sh", {}), ("x", dict(source="salt://none.sh")), (f"{R}/local.sh", {}),
    ("salt://t.sh", dict(template="jinja", context={"who": "me"}, defaults={"who": "you", "what": "it"})), ("salt://t.sh", dict(template="jinja", defaults={"who": "you", "what": "it"})), ("salt://t.sh", dict(template="jinja", context="who")),
    ("salt://t.sh", dict(template="jinja", defaults=["who"])), ("salt://s.sh", dict(env="A=1")), ("salt://s.sh", dict(context={"a": 1})), ("salt://pwd.sh", dict(cwd=R)), ("salt://pwd.sh", dict(cwd=f"{R}/none")),
    ("salt://st.sh", dict(stateful=True, args="yes")), ("salt://st.sh", dict(stateful=[{"test_name": "salt://s.sh"}], args="yes")), ("salt://s.sh", dict(stateful=True)),
    ("salt://s.sh", dict(shell="/bin/bash")), ("rel.sh", {}), ("salt://s.sh", dict(timeout=5, use_vt=False, bg=False)),
]:
    # Ours writes to stderr why the script is not available.
    missing = "none" in name or "none" in more.get("source", "") or " " in name and "source" not in more
    cmd("script", name, tree=S, steps=TWICE, **({"drop": [*D, "stderr"]} if missing else {}), **more)

# waiting, calling
for fun in ["wait", "watch", "wait_script", "wait_call"]:
    cmd(fun, "echo x", steps=TWICE, **({"func": "f"} if fun == "wait_call" else {}))
cmd("call", "x", func="f", steps=("run",))
for sfun in ["wait", "run", "watch", "script", "wait_script", "call", "wait_call", "other"]:
    cmd("mod_watch", "salt://st.sh" if "script" in sfun else "echo changed=yes comment=c", sfun=sfun, tree=S, steps=TWICE)
    cmd("mod_watch", "salt://st.sh" if "script" in sfun else "echo changed=yes comment=c", sfun=sfun, tree=S, stateful=True, steps=TWICE)
cmd("mod_watch", "exit 1", sfun="run", steps=TWICE, env={"A": "b"})
