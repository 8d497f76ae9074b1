"""Runs Salt's functional tests against a program: a pytest plugin whose fixtures call `salt-call` as a process, while Salt's own fixtures load its
modules into the test.

Environment: `SALT_CALL`, the command that starts the program, as JSON; `SALT_SUITE_RESULTS`, a file that gets a line of JSON for
each test: its id, its outcome (passed, failed, skipped), how often it called the program, and why it did not pass.

A test that passes without a call has tested Python's code in its own process: its outcome is `in-process`.
"""

import importlib
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import pytest
import salt.exceptions
import yaml
from saltfactories.utils.functional import MultiStateResult, StateResult

SALT_CALL = json.loads(os.environ["SALT_CALL"])
RESULTS = os.environ["SALT_SUITE_RESULTS"]

# How long a call may take, in seconds: several times what the slowest test takes on a busy machine.
CALL_TIMEOUT = 90

# The functions whose results Salt's own fixtures convert to a MultiStateResult or a StateResult.
MULTI = {"apply", "high", "highstate", "sls", "template", "template_str", "test", "top"}
SINGLE = {"low", "single", "sls_id"}

# Texts that a command line would change: salt-call reads arguments as YAML.
NOT_TYPED = re.compile(r"[\n\r\t#=\"\\]|  |^$|[^\x20-\x7e]")

MARKERS = (
    "core_test", "destructive_test", "flaky_jail", "requires_network", "requires_salt_modules", "requires_salt_states",
    "skip_if_binaries_missing", "skip_if_not_root", "skip_initial_gh_actions_failure", "skip_initial_onedir_failure",
    "skip_on_darwin", "skip_on_fips_enabled_platform", "skip_on_freebsd", "skip_on_windows", "skip_unless_on_darwin",
    "skip_unless_on_linux", "skip_unless_on_windows", "skipif", "slow_test", "timeout", "timeout_unless_on_windows",
    "usefixtures", "windows_whitelisted", "xfail",
)

made = {"calls": 0}


class ProgramFailed(salt.exceptions.CommandExecutionError, salt.exceptions.SaltInvocationError):
    """The program wrote an error instead of a result. Its class in the program is unknown: tests compare the text."""


class BlackBox:
    """The configuration of a minion without a master, and calls of the program with it."""

    def __init__(self, opts, tree):
        self.opts = opts
        self.tree = tree
        self.written = None
        self.config_dir = pathlib.Path(opts["conf_file"]).parent
        self.numbers = itertools.count()

    def write_config(self):
        """A test may have changed the options."""
        text = json.dumps({k: v for k, v in self.opts.items() if k != "conf_file"}, default=str)
        if text != self.written:
            pathlib.Path(self.opts["conf_file"]).write_text(text)
            self.written = text

    def call(self, fun, args, kwargs):
        made["calls"] += 1
        self.write_config()
        words = [typed(value) for value in args]
        words += [f"{name}={typed(value)}" for name, value in kwargs.items()]
        command = [*SALT_CALL, "--local", "-c", str(self.config_dir), "--out=json", "-l", "quiet", fun, *words]
        # In its own session, so that processes that the call leaves behind are not part of this one.
        done = subprocess.run(command, capture_output=True, text=True, timeout=CALL_TIMEOUT, stdin=subprocess.DEVNULL)
        try:
            return json.loads(done.stdout)["local"]
        except (ValueError, KeyError, TypeError):
            error = done.stderr.strip() or done.stdout.strip()
            raise ProgramFailed(f"salt-call ended with {done.returncode}: {error[:2000]}") from None

    def state(self, fun, args, kwargs):
        """Calls one state with `state.single`, or with an SLS file if an argument cannot be on a command line."""
        if args:
            kwargs = {"name": args[0], **kwargs}
        kwargs = {k: v for k, v in kwargs.items() if k != "__env__"}
        kwargs = json.loads(json.dumps(kwargs, default=str))
        if "name" not in kwargs or not any(NOT_TYPED.search(text) for text in texts(kwargs)):
            return self.call("state.single", [fun], kwargs)
        own = {k: kwargs.pop(k) for k in ("test", "pillar") if k in kwargs}
        name = f"black_box_{next(self.numbers)}"
        sls = self.tree / f"{name}.sls"
        sls.write_text("#!yaml\n" + json.dumps({"black_box": {fun: [{k: v} for k, v in kwargs.items()]}}))
        try:
            return self.call("state.sls", [name], own)
        finally:
            sls.unlink()


def typed(value):
    """A value as salt-call reads it from its command line: YAML, in which a `#` is never the begin of a comment."""
    if isinstance(value, pathlib.PurePath):
        value = str(value)
    return json.dumps(value, default=str).replace("#", "\\u0023")


def texts(value):
    """All texts in `value`."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from texts(key)
            yield from texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)
    elif isinstance(value, str):
        yield value


class Functions:
    """The functions of one module: `modules.state`, `states.file`."""

    def __init__(self, module, call):
        self._module = module
        self._call = call

    def __getattr__(self, name):
        return lambda *args, **kwargs: self._call(f"{self._module}.{name}", args, kwargs)


class Family:
    """All modules of a family: `modules`, `states`."""

    def __init__(self, call):
        self._call = call

    def __getattr__(self, module):
        return Functions(module, self._call)

    def __getitem__(self, fun):
        return lambda *args, **kwargs: self._call(fun, args, kwargs)


class Loaders:
    """Replaces the class of that name in pytest-salt-factories."""

    def __init__(self, box):
        self.box = box
        self.opts = box.opts
        self.context = {}
        self.modules = Family(self._module)
        self.states = Family(self._state)

    def _module(self, fun, args, kwargs):
        returned = self.box.call(fun, args, kwargs)
        module, name = fun.split(".", 1)
        if module == "state" and name in SINGLE:
            return StateResult(raw=returned) if isinstance(returned, dict) else MultiStateResult(raw=returned)
        if module == "state" and name in MULTI and isinstance(returned, (dict, list)):
            return MultiStateResult(raw=returned)
        return returned

    def _state(self, fun, args, kwargs):
        return StateResult(raw=self.box.state(fun, args, kwargs))

    def reload_all(self):
        self.reset_state()

    def refresh_pillar(self):
        """Each call compiles its pillar."""

    def reset_state(self):
        shutil.rmtree(self.opts["cachedir"], ignore_errors=True)
        os.makedirs(self.opts["cachedir"])


@pytest.fixture(scope="session", autouse=True)
def scratch(tmp_path_factory):
    """A separate folder for temporary files for each process, for tests that make files with fixed names there."""
    tempfile.tempdir = str(tmp_path_factory.mktemp("scratch"))


@pytest.fixture(scope="module")
def state_tree(tmp_path_factory):
    return tmp_path_factory.mktemp("base")


@pytest.fixture(scope="module")
def state_tree_prod(tmp_path_factory):
    return tmp_path_factory.mktemp("prod")


@pytest.fixture(scope="session")
def minion_id():
    return "func-tests-minion-opts"


@pytest.fixture(scope="module")
def minion_config_defaults():
    return {}


@pytest.fixture(scope="module")
def minion_config_overrides():
    return {}


@pytest.fixture(scope="module")
def minion_opts(
    tmp_path_factory, state_tree, state_tree_prod, minion_id, minion_config_defaults, minion_config_overrides
):
    root = tmp_path_factory.mktemp("root")
    for name in ("etc", "pillar", "cache"):
        (root / name).mkdir()
    return {
        **minion_config_defaults,
        "id": minion_id,
        "root_dir": str(root),
        "cachedir": str(root / "cache"),
        "pki_dir": str(root / "pki"),
        "sock_dir": str(root / "sock"),
        "log_file": str(root / "log"),
        "extension_modules": str(root / "cache/extmods"),
        "file_client": "local",
        "file_roots": {"base": [str(state_tree)], "prod": [str(state_tree_prod)]},
        "pillar_roots": {"base": [str(root / "pillar")]},
        "lazy_loader_strict_matching": True,
        "fileserver_list_cache_time": 0,
        "conf_file": str(root / "etc/minion"),
        **minion_config_overrides,
    }


@pytest.fixture(scope="module")
def loaders(minion_opts, state_tree):
    return Loaders(BlackBox(minion_opts, state_tree))


@pytest.fixture(autouse=True)
def reset_loaders_state(loaders):
    yield
    loaders.reset_state()


@pytest.fixture(scope="module")
def modules(loaders):
    return loaders.modules


@pytest.fixture(scope="module")
def states(loaders):
    return loaders.states


@pytest.fixture(scope="session")
def grains():
    return {"os": "Debian", "os_family": "Debian", "kernel": "Linux", "osarch": "amd64"}


def pytest_configure(config):
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)
    # Salt's own helpers, which register themselves. They are imported only now, because another plugin must prepare for them first.
    helpers = importlib.import_module("tests.support.pytest.helpers")
    helpers.TestAccount = helpers.TestGroup = no_account


def no_account(**_):
    """Replaces the fixtures that make an account or a group for a test."""
    pytest.skip("makes an account on this host")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    before = made["calls"]
    yield
    item.user_properties.append(("calls", made["calls"] - before))


def pytest_runtest_logreport(report):
    """Writes the test's line, in the controlling process, which receives the reports of all others."""
    if os.environ.get("PYTEST_XDIST_WORKER"):
        return
    if report.when != "call" and not (report.when == "setup" and report.outcome != "passed"):
        return
    calls = dict(report.user_properties).get("calls", 0)
    outcome = "in-process" if report.outcome == "passed" and calls == 0 else report.outcome
    line = {"id": report.nodeid, "outcome": outcome, "calls": calls, "seconds": round(report.duration, 2)}
    if report.outcome != "passed":
        line["why"] = str(report.longrepr)[-1500:]
    with open(RESULTS, "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
