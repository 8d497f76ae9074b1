#!/usr/bin/env python3
"""Writes python_rules/RULE.json: what the jobs of a live minion of Salt 3008.3 return whose plugins are written for one
rule of Salt's loader. Run it with the Python of an environment that has Salt: `python make_python_rules.py RULE`.

The cases of a rule are in python_rules/RULE.py: `file(path, text)` writes a file below the tree of the file server,
`remove(path)` removes one, `option(name, value)` is one of the minion's, `pillar(data)` its pillar, and
`call(fun, *words)` runs a job with words of a command line, after `saltutil.sync_all` if a file has changed since the
last job, by the executors `executors` if they are given. `lost(fun)` runs one that may never return. Each job is recorded with its return and its return code; `{EXT}`
stands for the directory of synchronized plugins, `{SRV}` for the tree, `{CACHE}` for the cached files of the tree. Of a
traceback only the frames of such files are kept, and no lines of carets."""
import json
import logging
import os
import pathlib
import re
import runpy
import shutil
import socket
import subprocess
import sys
import tempfile
import time

import salt.client
import salt.exceptions
import salt.utils.args
import salt.version

from typed import typed

HERE = pathlib.Path(__file__).parent / "python_rules"
BIN = pathlib.Path(sys.executable).parent
#: How long a job may take that may never return, in seconds.
LOST_SECONDS = 8
FRAME = re.compile(r'^  File "([^"]*)", line \d+, in .*$')


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Site:
    """A master and its minion in a directory of their own."""

    def __init__(self, options, pillar):
        self.root = tempfile.mkdtemp(prefix="rules_")
        self.srv = f"{self.root}/srv"
        publish, request = free_port(), free_port()
        common = {"root_dir": self.root, "user": subprocess.check_output(["id", "-un"], text=True).strip(), "enable_fqdns_grains": False, "enable_gpu_grains": False}
        master = {
            **common, "interface": "127.0.0.1", "publish_port": publish, "ret_port": request, "auto_accept": True,
            "worker_threads": 2, "file_roots": {"base": [self.srv]}, "pillar_roots": {"base": [f"{self.root}/pillar"]},
            "fileserver_list_cache_time": 0, "log_level_logfile": "warning",
        }
        minion = {**common, "id": "m1", "master": "127.0.0.1", "master_port": request, "startup_states": "", "grains": {"own": "grain"}, **options}
        for name, config in (("master", master), ("minion", minion)):
            os.makedirs(f"{self.root}/{name}", exist_ok=True)
            config = {**config, "root_dir": f"{self.root}/{name}_root"}
            os.makedirs(config["root_dir"])
            pathlib.Path(f"{self.root}/{name}/{name}").write_text(json.dumps(config))
        os.makedirs(self.srv)
        os.makedirs(f"{self.root}/pillar")
        pathlib.Path(f"{self.root}/pillar/top.sls").write_text("base: {'*': [own]}\n")
        pathlib.Path(f"{self.root}/pillar/own.sls").write_text(json.dumps(pillar))
        self.services = [
            subprocess.Popen([f"{BIN}/salt-{name}", "-c", f"{self.root}/{name}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
            for name in ("master", "minion")
        ]
        deadline = time.monotonic() + 120
        # A client reads the key of its user when it is made.
        while not self.answers():
            if time.monotonic() > deadline:
                raise SystemExit("the minion does not answer")
            time.sleep(1)

    def answers(self):
        self.client = salt.client.LocalClient(f"{self.root}/master/master")
        try:
            return self.client.cmd("m1", "test.ping", timeout=5).get("m1")
        except salt.exceptions.SaltException:
            return False

    def close(self):
        for service in self.services:
            try:
                os.killpg(service.pid, 9)
            except ProcessLookupError:
                pass
        for service in self.services:
            service.wait()
        shutil.rmtree(self.root, ignore_errors=True)

    def run(self, fun, args, executors=None):
        more = {"module_executors": executors} if executors is not None else {}
        given = self.client.cmd("m1", fun, args, timeout=60, full_return=True, **more)
        return given["m1"]

    def places(self):
        cache = f"{self.root}/minion_root/var/cache/salt/minion"
        return ((f"{cache}/extmods", "{EXT}"), (f"{cache}/files/base", "{CACHE}"), (self.srv, "{SRV}"), (self.root, "{ROOT}"))


def own_frames(text):
    """A traceback with the frames of plugins only."""
    if "Traceback (most recent call last):" not in text:
        return text
    kept, keeps = [], True
    for line in text.split("\n"):
        frame = FRAME.match(line)
        if frame:
            keeps = not re.search(r"/(site-packages|lib/python[\d.]+)/|<frozen", frame.group(1))
        elif not line.startswith("    "):
            keeps = True
        if keeps and not re.fullmatch(r" {4}[ ~^]+", line):
            kept.append(line)
    return "\n".join(kept)


class Cases:
    def __init__(self):
        self.steps, self.options, self.pillar = [], {}, {}

    def names(self):
        return {
            "file": lambda path, text: self.steps.append({"write": path, "text": text}),
            "remove": lambda path: self.steps.append({"remove": path}),
            "call": lambda fun, *words, **more: self.steps.append({"fun": fun, "words": list(words), **more}),
            "lost": lambda fun, *words: self.steps.append({"fun": fun, "words": list(words), "lost": True}),
            "option": self.options.__setitem__,
            "pillar": self.pillar.update,
        }

    def record(self):
        site = Site(self.options, self.pillar)
        try:
            changed, lost = False, []
            for step in self.steps:
                if "write" in step:
                    path = pathlib.Path(site.srv, step["write"])
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(step["text"])
                    changed = True
                elif "remove" in step:
                    os.unlink(f"{site.srv}/{step['remove']}")
                    changed = True
                else:
                    if changed and not step["fun"].startswith("saltutil.sync"):
                        site.run("saltutil.sync_all", [])
                    changed = False
                    args = salt.utils.args.parse_input(step["words"], condition=False)
                    args, kwargs = args
                    given = [*args, dict(kwargs, __kwarg__=True)] if kwargs else args
                    if step.get("lost"):
                        jid = site.client.run_job("m1", step["fun"], given)["jid"]
                        lost.append((step, jid))
                    else:
                        self.answered(step, site.run(step["fun"], given, step.get("executors")), site)
            if lost:
                time.sleep(LOST_SECONDS)
            for step, jid in lost:
                given = site.client.get_cache_returns(jid)
                if "m1" in given:
                    self.answered(step, given["m1"], site)
        finally:
            site.close()

    def answered(self, step, given, site):
        self.places = site.places()
        step["return"] = typed(self.masked(given["ret"]), lambda value: f"s:{value}")
        if given.get("retcode"):
            step["retcode"] = given["retcode"]

    def masked(self, value):
        if isinstance(value, str):
            for path, name in self.places:
                value = value.replace(path, name)
            return own_frames(value)
        if isinstance(value, (list, tuple)):
            return [self.masked(item) for item in value]
        if isinstance(value, dict):
            return {self.masked(key): self.masked(item) for key, item in value.items() if key not in ("start_time", "duration", "__run_num__")}
        return value


def main():
    logging.disable(logging.CRITICAL)
    for path in sys.argv[1:] or sorted(HERE.glob("*.json")):
        name = pathlib.Path(path).stem
        cases = Cases()
        runpy.run_path(str(HERE / f"{name}.py"), cases.names())
        cases.record()
        out = {"salt": salt.version.__version__, "options": cases.options, "pillar": cases.pillar, "steps": cases.steps}
        (HERE / f"{name}.json").write_text(json.dumps(out, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
