"""The cases of `module`: read by make_state_runs.py."""
TWICE = ("test", "run")


def run(**args):
    case("module.run", args, steps=TWICE, drop=["pid"])


# the new form
run(**{"name": "n", "test.echo": [{"text": "hi"}]}), run(**{"name": "n", "test.arg": [1, {"k": 2}]}), run(**{"name": "n", "test.ping": None}), run(**{"name": "n", "test.ping": []})
run(**{"name": "n", "test.echo": ["hi"]}), run(**{"name": "n", "test.echo": []}), run(**{"name": "n", "test.echo": [{"nope": 1}]}), run(**{"name": "n", "test.echo": "hi"}), run(**{"name": "n", "test.echo": 5})
run(**{"name": "n", "test.echo": {"text": "hi"}}), run(**{"name": "n", "test.echo": [{"text": "hi"}], "test.ping": []}), run(**{"name": "n", "test.echo": [{"text": "hi"}], "no.such": []})
run(**{"name": "n", "no.such": []}), run(**{"name": "n", "no.such": [], "nor.this": None}), run(**{"name": "n", "test.false": []}), run(**{"name": "n", "test.false": [], "test.ping": [], "test.none": []})
run(**{"name": "n", "test.echo:1": ["a"], "test.echo:2": ["b"]}), run(**{"name": "n", "test.kwarg": [{"a": 1}, {"b": [1, None]}]}), run(**{"name": "n", "test.arg": [1, 2, {"x": 1, "y": {"z": 2}}]})
run(**{"name": "n", "test.echo": [{"text": {"result": False}}]}), run(**{"name": "n", "test.echo": [{"text": {"result": False, "comment": "no"}}]}), run(**{"name": "n", "test.echo": [{"text": {"result": True, "comment": "yes"}}]})
run(**{"name": "n", "test.echo": [{"text": {"retcode": 2}}]}), run(**{"name": "n", "test.echo": [{"text": {"retcode": 0}}]}), run(**{"name": "n", "test.echo": [{"text": {"a": {"b": {"result": False}}}}]}), run(**{"name": "n", "test.echo": [{"text": {}}]})
run(**{"name": "n", "test.echo": [{"text": None}]}), run(**{"name": "n", "test.echo": [{"text": [1, "two", None, True, 2.5]}]}), run(**{"name": "n", "test.echo": [{"text": 0}]}), run(**{"name": "n", "test.echo": [{"text": ""}]})
run(**{"name": "n", "test.rand_sleep": [{"max": 0}]}), run(**{"name": "n", "file.touch": [f"{R}/f"]}), run(**{"name": "n", "file.touch": [{"name": f"{R}/f"}]}), run(**{"name": "n", "file.touch": [f"{R}/f", 5]})
run(**{"name": "n", "file.file_exists": [{"path": f"{R}/f"}]}), run(**{"name": "n", "file.write": [f"{R}/f", "a", "b"]}), run(**{"name": "n", "cmd.run_all": ["echo x; exit 3", {"python_shell": True}]}), run(**{"name": "n", "cmd.run": [{"cmd": "echo x"}, {"cwd": R}]})
run(**{"name": "n", "file.symlink": [{"src": "a", "path": f"{R}/l"}]}), run(**{"name": "n", "file.symlink": [{"src": "a"}]}), run(**{"name": "n", "file.symlink": ["a", {"path": f"{R}/l"}]}), run(**{"name": "n", "file.symlink": [{"path": f"{R}/l"}, "a"]})
run(**{"name": "n", "test.exception": [{"message": "oops"}]}), run(**{"name": "n", "file.read": [f"{R}/none"]}), run(**{"name": "n", "file.remove": ["relative"]})

# the old form
run(name="test.echo", text="hi"), run(name="test.echo"), run(name="no.such"), run(name="test.false"), run(name="test.ping"), run(name="test.arg", args=[1, 2], kwargs={"k": "v"}), run(name="test.arg", args="x"), run(name="test.arg", kwargs="x")
run(name="test.arg", args=[1], other=3), run(name="test.kwarg", kwargs={"a": 1}), run(name="test.exception", message="oops"), run(name="file.touch", m_name=f"{R}/f"), run(name="file.touch"), run(name="file.touch", m_name=f"{R}/f", atime=5, mtime=6)
run(name="file.symlink", src="a", path=f"{R}/l"), run(name="file.symlink", src="a", path="rel"), run(name="test.echo", text={"result": False, "comment": "no"}), run(name="test.echo", text={"retcode": 1}), run(name="test.echo", text={}), run(name="test.echo", text=None)
run(name="cmd.run_all", cmd="exit 3", python_shell=True), run(name="cmd.run", cmd="echo x", cwd=R), run(name="file.join", args=["a", "b"]), run(name="config.get", key="id"), run(name="no_dot"), run(name="test.echo", text="a", **{"test.ping": []})
run(name="cp.get_file_str", path="salt://none"), run(name="cp.get_file_str", path="salt://none", m_saltenv="dev"), run(name="environ.get", key="NO_SUCH_KEY", default="d")

for fun in ("wait", "watch"):
    case(f"module.{fun}", {"name": "test.ping", "text": 1}, steps=TWICE)
case("module.mod_watch", {"name": "test.echo", "text": "hi", "sfun": "wait", "__reqs__": {}}, steps=TWICE)
case("module.mod_watch", {"name": "n", "test.echo": ["hi"], "sfun": "wait", "__reqs__": {}}, steps=TWICE)
