#!/usr/bin/env python3
"""Writes python_calls/RULE.json: what `salt-call` and `salt-call --local` of Salt 3008.3 show for the cases of
python_rules/RULE.py, in their order. Run it with the Python of an environment that has Salt:
`python make_python_calls.py RULE`.

The files of a rule are synchronized by a live minion; then each job of the rule is a command. Recorded are its standard
output (JSON if it is), its standard error, and its exit code; `local` is absent where it is the same. Of a traceback
only the frames of plugins are kept, and no lines of carets. Each command is a fork of this process, which has loaded
Salt."""
import json
import logging
import os
import pathlib
import re
import runpy
import sys
import tempfile
import warnings

# Before Salt is loaded: its modules warn of Python's.
warnings.simplefilter("ignore")

import salt.cli.call
import salt.loader
import salt.minion
import salt.modules.cmdmod
import salt.output
import salt.version

from make_python_rules import Cases, Site, own_frames

HERE = pathlib.Path(__file__).parent / "python_calls"
#: What the Python of the recording says about Salt's own files.
DEPRECATED = re.compile(r'^/[^\n]*\.py:\d+: DeprecationWarning: .*\n  .*\n', re.M)
#: The frame of this file in a traceback.
OWN_FRAME = re.compile(r'^  File "[^"]*/make_python_calls\.py", line .*\n    .*\n', re.M)
RULES = pathlib.Path(__file__).parent / "python_rules"


def run_forked(words):
    """Runs `salt-call` in a fork.

    :returns: its standard output, standard error, and exit code."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
                os.dup2(out.fileno(), 1)
                os.dup2(err.fileno(), 2)
                logging.disable(logging.NOTSET)
                forget_loop()
                sys.argv = ["salt-call", *words]
                code = exit_code(salt.cli.call.SaltCall().run)
                sys.stdout.flush()
                sys.stderr.flush()
            finally:
                os._exit(code)
        _, status = os.waitpid(pid, 0)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode("utf-8", "replace"))
        return (*texts, os.waitstatus_to_exitcode(status))


def forget_loop():
    """The client of this process has closed the loop that Salt 3006 keeps for all."""
    try:
        from salt.ext.tornado.ioloop import IOLoop
    except ImportError:  # a later Salt has no loop of its own
        return
    IOLoop.clear_current()
    IOLoop.clear_instance()


def refuse(name):
    """JSON of others has no such number: it stays text."""
    raise ValueError(name)


def exit_code(run):
    """Runs it, and does what Python does at the end of a program."""
    try:
        run()
    except SystemExit as error:
        if isinstance(error.code, int) or error.code is None:
            return (error.code or 0) & 255
        print(error.code, file=sys.stderr)
        return 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
        return 1
    return 0


class Calls(Cases):
    def record(self):
        site = Site(self.options, self.pillar)
        config = pathlib.Path(site.root, "minion", "minion")
        roots = {"file_roots": {"base": [site.srv]}, "pillar_roots": {"base": [f"{site.root}/pillar"]}}
        config.write_text(json.dumps({**json.loads(config.read_text()), **roots, "log_level": "quiet"}))
        self.places = site.places()
        calls = []
        try:
            changed = False
            for step in self.steps:
                if "write" in step:
                    path = pathlib.Path(site.srv, step["write"])
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(step["text"])
                    changed = True
                elif "remove" in step:
                    os.unlink(f"{site.srv}/{step['remove']}")
                    changed = True
                elif not step["fun"].startswith("saltutil."):
                    if changed:
                        site.run("saltutil.sync_all", [])
                    changed = False
                    calls.append(self.shown(step, site))
        finally:
            site.close()
        return calls

    def shown(self, step, site):
        by = [f"--module-executors={json.dumps(step['executors'])}"] if "executors" in step else []
        words = ["-c", f"{site.root}/minion", "--out=json", *by, step["fun"], *step["words"]]
        live, local = (self.told(*run_forked(given)) for given in (words, ["--local", *words]))
        call = {"fun": step["fun"], "words": step["words"], "live": live}
        return call if live == local else {**call, "local": local}

    def told(self, out, err, code):
        try:
            out = json.loads(out, parse_constant=refuse)
        except ValueError:
            pass
        said = re.sub(r"^\[(?:WARNING|ERROR|CRITICAL) *\] .*\n", "", err, flags=re.M)
        said = DEPRECATED.sub("", said)
        told = {"out": self.masked(out)}
        if said:
            told["err"] = OWN_FRAME.sub("", own_frames(self.masked(said)))
        if code:
            told["code"] = code
        return told


    def masked(self, value):
        value = super().masked(value)
        if not isinstance(value, str):
            return value
        # Addresses differ from run to run, job ids too, and the directory of a Python from host to host.
        value = re.sub(r"\b(20\d{18})\b", "{JID}", re.sub(r"\b0x[0-9a-f]{8,}", "0x0", value))
        return re.sub(r"(?<=')/[^']*/lib/python", "/usr/lib/python", value)


def main():
    logging.disable(logging.CRITICAL)
    for path in sys.argv[1:] or sorted(HERE.glob("*.json")):
        name = pathlib.Path(path).stem
        cases = Calls()
        runpy.run_path(str(RULES / f"{name}.py"), cases.names())
        out = {"salt": salt.version.__version__, "calls": cases.record()}
        (HERE / f"{name}.json").write_text(json.dumps(out, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
