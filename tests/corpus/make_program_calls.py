#!/usr/bin/env python3
"""Records how Salt's execution modules use the output of programs: the programs that they run, with arguments, and the
results. Run it with the Python of an environment that has the Salt that the file names: `python make_program_calls.py
program_calls/pkg_yum.json …`. It reads the cases of each file, and rewrites the file with `calls`, `result` or `error`,
and `files_after` of each case.

With `"family": "states"` the functions are those of state modules, `kwargs` has their arguments, and a case with `"test": true` is
in test mode; the files of tests/corpus/state_program_calls are such.

A file is a map: `salt` (the version), `module` (the file of Salt's module), `grains`, `opts`, `programs` (those that
are in PATH), `outputs`, `once` (whether repeated calls count once), `places` and `cases`. A case has `fun`, `args`,
`kwargs`, and may have `outputs`, `opts` and `files` of its own. `places` are directories of the host: in each case they
contain only those of its `files` whose names begin with a slash, which are texts, or `{"link": target}`, `{"block": [major, minor]}` for a device, or null for a
directory; a file of /proc is bound over the real one. `real` are programs that run, and do not count as calls: Salt
reads and edits files with them. Such a file runs in a mount namespace of its own: `unshare -m python
make_program_calls.py …`. The keys of `outputs` are command lines joined with blanks, without the directory of the
program; a key that ends in `*` is a prefix. An output is a text, or a map of `stdout`, `stderr`, `retcode`, and `files`
that the program writes; a list of them is for one call after the other. `{root}` is a directory of the case's own,
and `{python}` in a recorded call is the interpreter of this script, `{temporary}` a temporary file of Salt's."""
import json
import logging
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import types
import warnings

warnings.simplefilter("ignore")
os.environ["SHELL"] = "/bin/sh"
import salt.config
import salt.loader
import salt.utils.args
import salt.utils.path
import salt.utils.systemd
import salt.utils.timed_subprocess
import salt.version

sys.modules["virtualenv"] = None  # so that its program is used
sys.modules.setdefault("ethtool", types.ModuleType("ethtool"))  # without it Salt's module of this name does not load
logging.disable(logging.CRITICAL)
# Only for this process: two of them may run at once.
ROOT = f"/tmp/salt_program_calls_{os.getpid()}"
BIN = f"{ROOT}_bin"
# Names of Salt's temporary files, which are new each time.
TEMPORARY = re.compile(r"[^\s'\"]*__salt\.tmp\.\w+")


def within(value, root):
    """The value with the path of the root, or its placeholder."""
    if isinstance(value, str):
        return value.replace("{root}", root)
    if isinstance(value, list):
        return [within(one, root) for one in value]
    if isinstance(value, dict):
        return {within(key, root): within(one, root) for key, one in value.items()}
    return value


def without(value, root):
    if isinstance(value, Exception):  # some states have an error as their comment
        value = f"{value}"
    if isinstance(value, str):
        return TEMPORARY.sub("{temporary}", value.replace(root, "{root}").replace(sys.executable, "{python}"))
    if isinstance(value, (list, tuple)):
        return [without(one, root) for one in value]
    if isinstance(value, type({}.keys())):
        return without(list(value), root)
    if isinstance(value, (set, frozenset)):
        return sorted(without(one, root) for one in value)
    if hasattr(value, "items"):
        return {key if not isinstance(key, str) else without(key, root): without(one, root) for key, one in value.items()}
    return value


def host_path(name):
    return name if name.startswith("/") else f"{ROOT}/{name}"


def cover(places):
    """Puts empty file systems over directories of the host, and a root user into /etc."""
    if places and os.readlink("/proc/self/ns/mnt") == os.readlink(f"/proc/{os.getppid()}/ns/mnt"):
        sys.exit("files with `places` want a mount namespace of their own: unshare -m python make_program_calls.py …")
    for place in places:
        subprocess.run(["/usr/bin/mount", "-n", "-t", "tmpfs", "none", place], check=True)
    if "/etc" in places:
        for name, text in (("passwd", "root:x:0:0:root:/root:/bin/sh\n"), ("group", "root:x:0:\n")):
            with open(f"/etc/{name}", "w", encoding="utf-8") as file:
                file.write(text)


def write_file(name, contents):
    path = host_path(name)
    if path.startswith("/proc/"):
        path = os.path.realpath(path)
        if os.access(path, os.W_OK) and os.path.getsize(path) > 0:
            with open(path, "w", encoding="utf-8") as bound:
                bound.write(contents)
            return
        file, one = tempfile.mkstemp()
        os.write(file, contents.encode())
        os.close(file)
        subprocess.run(["/usr/bin/mount", "-n", "--bind", one, path], check=True)
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if contents is None:
        os.makedirs(path, exist_ok=True)
    elif isinstance(contents, dict) and "block" in contents:
        os.mknod(path, stat.S_IFBLK | 0o600, os.makedev(*contents["block"]))
    elif isinstance(contents, dict):
        os.symlink(contents["link"], path)
    else:
        with open(path, "w", encoding="utf-8") as file:
            file.write(within(contents, ROOT))
        if contents.startswith("#!") or "bin/" in name or name.startswith(("/etc/init.d/", "/etc/rc.d/")):
            os.chmod(path, 0o755)


def files_there(places):
    """The files of the case's directory, and of the places, by name."""
    found = {}
    for top in (ROOT, *places):
        for directory, _, names in os.walk(top):
            for one in names:
                full = os.path.join(directory, one)
                if stat.S_ISBLK(os.lstat(full).st_mode):
                    continue
                if top == "/etc" and full in ("/etc/passwd", "/etc/group"):
                    continue
                name = os.path.relpath(full, ROOT) if top == ROOT else full
                if os.path.islink(full):
                    found[name] = {"link": without(os.readlink(full), ROOT)}
                    continue
                with open(full, encoding="utf-8", errors="replace") as file:
                    found[name] = without(file.read(), ROOT)
    return found


class NoProgram:
    """Stands for Salt's process: a copy of the module of commands that has no answers yet may start nothing on this host."""

    def __init__(self, args, **_):
        raise OSError(f"{args} is not answered")


salt.utils.timed_subprocess.TimedProc = NoProgram


class Programs:
    """Answers instead of programs."""

    def __init__(self, outputs, context, real):
        self.real, self.outputs, self.context, self.calls, self.counts = real, outputs, context, [], {}

    def key(self, line):
        if line in self.outputs:
            return line
        return next((one for one in self.outputs if one.endswith("*") and line.startswith(one[:-1])), None)

    def run(self, cmd, stdin=None, python_shell=False, rstrip=True, runas=None, stderr=None, ignore_retcode=False, success_retcodes=None, **_):
        words = [str(one) for one in cmd] if isinstance(cmd, (list, tuple)) else salt.utils.args.shlex_split(cmd)
        if python_shell:
            words = ["/bin/sh", "-c", cmd if isinstance(cmd, str) else " ".join(cmd)]
        if self.real and " ".join(words).startswith(tuple(self.real)):
            done = subprocess.run(words, capture_output=True, text=True, check=False, env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})
            return {"pid": 1, "retcode": done.returncode, "stdout": done.stdout.rstrip(), "stderr": done.stderr.rstrip()}
        joined = stderr == subprocess.STDOUT
        words[0] = words[0].replace(f"{BIN}/", "/usr/bin/")
        if words[0] in self.real:
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            return {"pid": 1, "retcode": done.returncode, "stdout": done.stdout.rstrip(), "stderr": done.stderr.rstrip()}
        call = {"words": words}
        if stdin is not None:
            call["stdin"] = stdin
        if runas is not None:
            call["runas"] = runas
        self.calls.append(call)
        line = " ".join(words)
        key = self.key(line)
        if key is None:
            # Without a shell, and without the directory of the program.
            plain = salt.utils.args.shlex_split(words[2]) if words[:2] == ["/bin/sh", "-c"] else words
            key = self.key(" ".join([plain[0].removeprefix("/usr/bin/"), *plain[1:]]))
        output = self.outputs.get(key, "") if key is not None else ""
        if isinstance(output, list):
            at = self.counts.get(key, 0)
            self.counts[key] = at + 1
            output = output[min(at, len(output) - 1)]
        if isinstance(output, str):
            output = {"stdout": output}
        for name, contents in output.get("files", {}).items():
            write_file(name, contents)
        out, err = output.get("stdout", ""), output.get("stderr", "")
        if joined:
            out, err = out + err, ""
        retcode = output.get("retcode", 0)
        if rstrip:
            out, err = out.rstrip(), err.rstrip()
        if retcode in (success_retcodes or []):
            retcode = 0
        self.context["retcode"] = 0 if ignore_retcode else retcode
        return {"pid": 1, "retcode": retcode, "stdout": out, "stderr": err}


def main(path):
    with open(path, encoding="utf-8") as file:
        table = json.load(file)
    if not salt.version.__version__.startswith(table["salt"]):
        sys.exit(f"{path} wants Salt {table['salt']}")
    state = {"programs": table.get("programs", [])}

    def which(name=None):
        base = os.path.basename(name or "")
        return f"/usr/bin/{base}" if base in state["programs"] else None

    salt.utils.path.which = which
    salt.utils.path.which_bin = lambda names: next((found for found in map(which, names) if found), None)
    salt.utils.systemd.has_scope = lambda context=None: False
    os.environ["PATH"] = f"{BIN}:{os.environ['PATH']}"
    root = tempfile.mkdtemp()
    opts = salt.config.minion_config(None)
    opts.update({"root_dir": root, "cachedir": f"{root}/cache", "extension_modules": f"{root}/ext", "id": "m1", "file_client": "local"})
    opts["grains"] = {"id": "m1", "kernel": "Linux", **table.get("grains", {})}
    opts.update(table.get("opts", {}))
    if "virtual" in table:
        opts["providers"] = {table["virtual"]: table["module"]}
    context = {}
    utils = salt.loader.utils(opts, context=context)
    functions = salt.loader.minion_mods(opts, context=context, utils=utils)
    utils["path.which"]
    utils._dict["path.which"] = which
    called = functions
    if table.get("family") == "states":
        called = salt.loader.states(opts, functions, utils, salt.loader.serializers(opts), context=context)
    usual = {**opts, "test": False}
    # Each is called twice: the first call may load another copy of the module of commands.
    for case in [one for one in table["cases"] for _ in range(2)]:
        shutil.rmtree(ROOT, ignore_errors=True)
        os.makedirs(ROOT)
        cover(table.get("places", []))
        for name, text in case.get("files", {}).items():
            write_file(name, text)
        # The functions of a provider have a loader of their own.
        loaders = {id(loader): loader for loader in (functions, called, getattr(called[case["fun"]], "loader", None)) if loader}
        for loader in loaders.values():
            if isinstance(loader.pack.get("__context__"), dict):
                loader.pack["__context__"].clear()
            for known in (loader.opts, loader.pack["__opts__"]):
                for key in [key for key in known if key not in usual]:
                    del known[key]
                known.update(usual)
                known.update(within(case.get("opts", {}), ROOT))
                known["test"] = case.get("test", case.get("opts", {}).get("test", False))
        programs = Programs(within({**case.get("outputs", {}), **{k: v for k, v in table.get("outputs", {}).items() if k not in case.get("outputs", {})}}, ROOT), functions.pack["__context__"], table.get("real", []))
        functions["cmd.run"]
        called[case["fun"]]
        for loaded, module in list(sys.modules.items()):
            if loaded.startswith("salt.loaded") and loaded.endswith("module.cmdmod"):
                module._run = programs.run
            if loaded.startswith("salt.loaded") and ".states." in loaded:
                # The data that a run passes to its functions.
                vars(module).update(__instance_id__="recorded", __env__="base", __running__={}, __lowstate__=[], __low__={})
        state["programs"] = case.get("programs", table.get("programs", []))
        shutil.rmtree(BIN, ignore_errors=True)
        os.makedirs(BIN)
        for program in state["programs"]:
            with open(f"{BIN}/{program}", "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\n")
                os.chmod(f"{BIN}/{program}", 0o755)
        for key in ("result", "error", "error_type", "calls", "files_after"):
            case.pop(key, None)
        name = case["fun"]
        try:
            case["result"] = without(called[name](*within(case.get("args", []), ROOT), **within(case.get("kwargs", {}), ROOT)), ROOT)
        except Exception as exc:  # an error is a result, too
            case["error"] = without(f"{exc}", ROOT)
            case["error_type"] = type(exc).__name__
        case["calls"] = without(programs.calls, ROOT)
        if "files" in case:
            after = files_there(table.get("places", []))
            if after != {name: text for name, text in case["files"].items() if text is not None and not (isinstance(text, dict) and "block" in text) and not name.startswith("/proc/")}:
                case["files_after"] = dict(sorted(after.items()))
        if case.get("error_type") not in (None, "CommandExecutionError", "SaltInvocationError", "CommandNotFoundError", "MinionError"):
            print(f"{os.path.basename(path)}: {name}: {case['error_type']}: {case['error']}", file=sys.stderr)
    cases = table.pop("cases")
    head = json.dumps(table, indent=1, ensure_ascii=False)[:-2]
    body = ",\n".join("  " + json.dumps(case, ensure_ascii=False) for case in cases)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'{head},\n "cases": [\n{body}\n ]\n}}\n')


try:
    for one in sys.argv[1:]:
        main(one)
finally:
    for place in (ROOT, BIN):
        shutil.rmtree(place, ignore_errors=True)
