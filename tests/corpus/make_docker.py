#!/usr/bin/env python3
"""Completes docker.json: what Salt's execution module `docker` and its states return, one call after the other, with an engine of this host in namespaces of
its own (tests/support/servers/docker_engine.sh). Run it as root with the Python of an environment that has Salt 3006.28 and docker; it needs dockerd, the
command docker, docker-registry, busybox and unshare. `{dir}` in an argument is a directory with the archive of an image. What differs from run to run is
replaced: ids by what has them, times and sizes by their keys. A step with `ours` has the result here where Salt fails because of its own fault, or
differs as docs/differences.md says; one with `unable` is not asked of Salt, for this reason."""
import json
import logging
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import warnings

warnings.simplefilter("ignore")
import docker
import salt.config
import salt.loader
import salt.version

logging.disable(logging.CRITICAL)
HERE = pathlib.Path(__file__).parent
SERVERS = HERE.parent / "support" / "servers"
FILE = HERE / "docker.json"
VOLATILE = {"Time_Elapsed", "Created", "CreatedAt", "Time_Created_Epoch", "Time_Created_Local", "Size", "Size_Human", "VirtualSize", "VirtualSize_Human", "Pid",
            "pid", "PID", "PPID", "STIME", "C", "TIME", "DockerVersion", "ContainersDeleted", "SizeRootFs", "SandboxKey", "LastTagTime", "StartedAt", "FinishedAt", "SpaceReclaimed", "DNSNames"}


class Names:
    """What has an id: containers, images and networks of the engine, also those that are no longer there."""

    def __init__(self, url):
        self.client = docker.APIClient(base_url=url)
        self.known = {}

    def look(self):
        for kind, items in (("container", self.client.containers(all=True)), ("image", self.client.images()), ("network", self.client.networks())):
            for item in items:
                names = item.get("Names") or item.get("RepoTags") or [item.get("Name")]
                self.known.setdefault(item["Id"].replace("sha256:", ""), f"<{kind} {sorted(names)[0].lstrip('/')}>")

    def label(self, match):
        whole = match.group(0)
        if len(whole) == 64:
            return self.known.get(whole, "<id>")
        return next((f"{label}[:12]" for known, label in self.known.items() if known.startswith(whole)), whole)


def in_order(items):
    """Lists that the engine makes of maps have another order each time."""
    if items and all(isinstance(one, dict) and ("Scope" in one or "PrivatePort" in one) for one in items):
        return sorted(items, key=lambda one: "".join(str(one.get(key)) for key in ("Name", "PrivatePort", "IP")))
    return items


def normal(value, names, root):
    if isinstance(value, dict):
        return {normal(str(key), names, root): f"<{key}>" if key in VOLATILE and one else normal(one, names, root) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return in_order([normal(one, names, root) for one in value])
    if value is None or isinstance(value, (bool, int, float)):
        return value
    text = str(value).replace(root, "{dir}")
    text = re.sub(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])", names.label, text)
    text = re.sub(r"(?<![0-9a-f])[0-9a-f]{12}(?![0-9a-f])", names.label, text)
    # Short ids of images have `sha256:` before them, which is a part of them.
    text = re.sub(r"(?<=sha256:)[0-9a-f]{5}(?![0-9a-f])", "<id>", text)
    text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "<time>", text)
    text = re.sub(r"^Up .*", "Up", text)
    return re.sub(r"^(Exited \(\d+\)) .*", r"\1", text)


def start(directory):
    """Starts the engine; its process."""
    subprocess.run(["sh", SERVERS / "docker_image.sh", f"{directory}/files", f"{directory}/image.tar"], check=True)
    child = subprocess.Popen(["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", SERVERS / "docker_engine.sh", directory])
    for _ in range(150):
        if os.path.exists(f"{directory}/docker.sock"):
            try:
                docker.APIClient(base_url=f"unix://{directory}/docker.sock").version()
                return child
            except docker.errors.DockerException:
                pass
        time.sleep(0.2)
    raise SystemExit(pathlib.Path(f"{directory}/engine.log").read_text())


def main():
    directory = tempfile.mkdtemp()
    child = start(directory)
    url = f"unix://{directory}/docker.sock"
    os.environ.update({"DOCKER_HOST": url, "DOCKER_CONFIG": f"{directory}/config"})
    try:
        names = Names(url)
        opts = salt.config.minion_config(None)
        opts.update({"docker.url": url, "docker.update_mine": False, "file_client": "local", "grains": {}, "pillar": {}, "test": False, "root_dir": directory,
                     "cachedir": f"{directory}/cache", "conf_file": f"{directory}/minion", "id": "web1",
                     "docker-registries": {"localhost:5001": {"username": "salt", "password": "secret"}, "localhost:5000": {"username": "a"}, "odd": 1},
                     "my-docker-registries": {"localhost:5001x": {"username": "salt", "password": "wrong"}}})
        context = {}
        utils = salt.loader.utils(opts, context=context)
        functions = salt.loader.minion_mods(opts, context, utils=utils)
        states = salt.loader.states(opts, functions, utils, salt.loader.serializers(opts), context=context)
        cases = json.loads(FILE.read_text())["steps"]
        steps = []
        for step in cases:
            if "unable" in step:  # Salt does not come to an end
                steps.append(step)
                continue
            if "do" in step:
                pathlib.Path(step["do"]["write"].replace("{dir}", directory)).parent.mkdir(parents=True, exist_ok=True)
                pathlib.Path(step["do"]["write"].replace("{dir}", directory)).write_text(step["do"]["text"])
                steps.append(step)
                continue
            if os.environ.get("PROGRESS"):
                print(f"{time.monotonic():.1f} {json.dumps(step)[:160]}", flush=True)
            context.clear()  # as in a new job
            family = functions if step["fun"].startswith("docker.") else states
            args, kwargs = json.loads(json.dumps([step.get("args", []), step.get("kwargs", {})]).replace("{dir}", directory))
            for loader in (functions, states):
                loader.opts["test"] = step.get("test", False)
            try:
                given = family[step["fun"]](*args, **kwargs)
                names.look()
                result = {"result": normal(given, names, directory)}
            except Exception as error:  # pylint: disable=broad-except
                names.look()
                result = {"raises": normal(f"{type(error).__name__}: {error}", names, directory)}
            steps.append({**{key: one for key, one in step.items() if key not in ("result", "raises")}, **result})
        text = "\n".join([f'{{"salt": {json.dumps(salt.version.__version__)}, "steps": [',
                          ",\n".join(f" {json.dumps(one, ensure_ascii=False)}" for one in steps), "]}\n"])
        FILE.write_text(text)
    finally:
        child.kill()
        child.wait()
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
