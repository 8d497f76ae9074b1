#!/usr/bin/env python3
"""Writes python_programs/NAME.json: what the programs of Salt 3008.3 show whose plugins are written for the families of
a master and of a host without one. Run it with the Python of an environment that has Salt:
`python make_python_programs.py NAME`.

The cases are in python_programs/NAME.py: `file(path, text)` writes a file below the root: `ext/` has the plugins of
master and minion, `srv/` the states, `pillar/` pillar; `master(**options)` and `minion(**options)` set options from
then on, None removes one; `live()` starts a master and the minion m1; `show(program, *words)` runs `salt`, `salt-run`
or `salt-call`; `call(*words)` is `salt-call --local`; `roster(tgt, tgt_type)` asks the rosters of salt-ssh;
`wait(path)` waits for a file, and shows its text. Each is recorded with what it shows and its exit code; `{ROOT}` stands
for the root. Of a traceback only the frames of plugins are kept, and no lines of carets."""
import json
import os
import pathlib
import re
import runpy
import shutil
import subprocess
import sys
import tempfile
import time

import salt.version

from make_python_rules import free_port, own_frames
from typed import typed

HERE = pathlib.Path(__file__).parent / "python_programs"
BIN = pathlib.Path(sys.executable).parent
#: Time for a live minion, or a file of an engine, in seconds.
WAIT_SECONDS = 120
#: What two runs of a function or a state differ by.
VARIABLE = ("start_time", "duration", "pid")

ROSTER = """
import json, sys
import salt.config, salt.roster
opts = salt.config.master_config(sys.argv[1])
opts["__role"] = "master"
try:
    print(json.dumps(salt.roster.Roster(opts, opts["roster"]).targets(sys.argv[2], sys.argv[3])))
except Exception as error:
    print(json.dumps("%s: %s" % (type(error).__name__, error)))
"""


class Site:
    def __init__(self):
        self.root = os.path.realpath(tempfile.mkdtemp(prefix="programs_"))
        self.services = []
        user = subprocess.check_output(["id", "-un"], text=True).strip()
        publish, request = free_port(), free_port()
        common = {
            "user": user, "enable_fqdns_grains": False, "enable_gpu_grains": False, "log_level_logfile": "warning",
            "extension_modules": f"{self.root}/ext", "file_roots": {"base": [f"{self.root}/srv"]},
            "pillar_roots": {"base": [f"{self.root}/pillar"]}, "fileserver_list_cache_time": 0,
            # Salt puts paths of another root below it.
            "root_dir": self.root,
        }
        self.configs = {
            "master": {
                **common, "id": "ma", "interface": "127.0.0.1", "publish_port": publish,
                "ret_port": request, "auto_accept": True, "worker_threads": 2,
            },
            "minion": {
                **common, "id": "m1", "master": "127.0.0.1", "master_port": request,
                "startup_states": "", "grains": {"own": "grain"},
            },
        }
        for name in ("master", "m1", "ext", "srv", "pillar", "var/cache/salt/master/proc", "var/cache/salt/master/jobs"):
            os.makedirs(f"{self.root}/{name}")
        for name in self.configs:
            self.write(name, {})

    def directory(self, name):
        return f"{self.root}/{'m1' if name == 'minion' else name}"

    def write(self, name, options):
        config = self.configs[name]
        for key, value in options.items():
            if value is None:
                config.pop(key, None)
            else:
                config[key] = json.loads(json.dumps(value).replace("{ROOT}", self.root))
        pathlib.Path(self.directory(name), name).write_text(json.dumps(config))

    def live(self):
        for name in self.configs:
            words = [f"{BIN}/salt-{name}", "-c", self.directory(name)]
            self.services.append(
                subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
            )
        deadline = time.monotonic() + WAIT_SECONDS
        while '"m1": true' not in self.run("salt", ["--out=json", "-t", "2", "m1", "test.ping"]).stdout:
            if time.monotonic() > deadline:
                raise SystemExit("the minion does not answer")

    def run(self, program, words):
        config = self.directory("minion" if program == "salt-call" else "master")
        command = [f"{BIN}/{program}", "-c", config, *words]
        return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)

    def close(self):
        for service in self.services:
            try:
                os.killpg(service.pid, 9)
            except ProcessLookupError:
                pass
            service.wait()
        shutil.rmtree(self.root, ignore_errors=True)


class Cases:
    def __init__(self):
        self.steps = []

    def names(self):
        add = self.steps.append
        return {
            "file": lambda path, text: add({"write": path, "text": text}),
            "master": lambda **options: add({"config": "master", "options": options}),
            "minion": lambda **options: add({"config": "minion", "options": options}),
            "live": lambda: add({"live": True}),
            "show": lambda program, *words: add({"program": program, "words": list(words)}),
            "call": lambda *words: add({"program": "salt-call", "words": ["--local", *words]}),
            "roster": lambda tgt, tgt_type="glob": add({"roster": tgt, "tgt_type": tgt_type}),
            "wait": lambda path: add({"wait": path}),
        }

    def record(self):
        site = Site()
        try:
            for step in self.steps:
                self.take(step, site)
        finally:
            site.close()

    def take(self, step, site):
        if "write" in step:
            path = pathlib.Path(site.root, step["write"])
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(step["text"].replace("{ROOT}", site.root))
        elif "config" in step:
            site.write(step["config"], step["options"])
        elif "live" in step:
            site.live()
        elif "wait" in step:
            path, deadline = pathlib.Path(site.root, step["wait"]), time.monotonic() + WAIT_SECONDS
            while not (path.exists() and path.read_text().endswith("\n")):
                if time.monotonic() > deadline:
                    raise SystemExit(f"{path} does not come")
                time.sleep(0.2)
            step["shows"] = typed(self.masked(json.loads(path.read_text()), site))
        elif "roster" in step:
            config = f"{site.root}/master/master"
            ran = subprocess.run(
                [sys.executable, "-c", ROSTER, config, step["roster"], step["tgt_type"]], capture_output=True, text=True
            )
            step["shows"] = typed(self.masked(json.loads(ran.stdout), site))
        else:
            ran = site.run(step["program"], ["--out=json", *(word.replace("{ROOT}", site.root) for word in step["words"])])
            try:
                shows = json.loads(ran.stdout)
            except ValueError:
                shows = f"{ran.stdout}{ran.stderr}"
            step["shows"] = typed(self.masked(shows, site))
            if ran.returncode:
                step["code"] = ran.returncode
            if os.environ.get("SHOW_ERRORS"):
                sys.stderr.write(f"--- {step['program']} {step['words']}\n{shows}\n{ran.stderr}\n")

    def masked(self, value, site):
        if isinstance(value, str):
            value = value.replace(site.root, "{ROOT}")
            value = re.sub(r"^\[(?:WARNING|ERROR|CRITICAL) *\] .*\n", "", value, flags=re.M)
            return own_frames(value)
        if isinstance(value, list):
            return [self.masked(item, site) for item in value]
        if isinstance(value, dict):
            return {self.masked(key, site): self.masked(item, site) for key, item in value.items() if key not in VARIABLE}
        return value


def main():
    for path in sys.argv[1:] or sorted(HERE.glob("*.json")):
        name = pathlib.Path(path).stem
        cases = Cases()
        runpy.run_path(str(HERE / f"{name}.py"), cases.names())
        cases.record()
        out = {"salt": salt.version.__version__, "steps": cases.steps}
        (HERE / f"{name}.json").write_text(json.dumps(out, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
