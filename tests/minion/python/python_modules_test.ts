/**
 * Execution modules in Python: which functions a file gives under which names, what they get and give, the words for
 * what fails, and how their processes end. The words are those of Salt 3008.3, recorded with these files.
 * @module
 */

import { isMap, map, str, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "#tests/support/assert.ts";
import { PythonPool } from "./python_pool.ts";
import { eventually } from "#tests/support/eventually.ts";

/** Calls each function; the returns by name. */
async function returns(pool: PythonPool, calls: readonly (readonly [string, ...Value[]])[]): Promise<Value[]> {
  const given: Value[] = [];
  for (const [fun, ...args] of calls) given.push(await pool.run(fun, ...args));
  return given;
}

const BR = `
import collections, os, sys
from os.path import join
import br_plain
__func_alias__ = {"list_": "list"}
VALUE = 1
class Kind: pass
def ping():
    """Answer.

    CLI Example:

    .. code-block:: bash

        salt '*' br.ping
    """
    return br_plain.answer()
def list_():
    return ["list"]
def nopub(a):
    return a
def both(a, b=2, *args, **kwargs):
    return [a, b, list(args), sorted(key for key in kwargs if not key.startswith("__pub_"))]
def pub(**kwargs):
    return sorted(kwargs)
lam = lambda: "lambda"
def _hidden(): return 1
def cross(x): return __salt__["test.echo"](x)
def dotted(): return __salt__.test.ping()
def absent():
    try:
        return __salt__["no.such"]
    except KeyError as error:
        return str(error)
def facts(): return [__grains__["os"], __pillar__["key"], __opts__["id"], __opts__["test"], __opts__["grains"] == __grains__]
def change():
    __grains__["os"] = "Changed"
    return __salt__["grains.get"]("os")
def count():
    __context__["n"] = __context__.get("n", 0) + 1
    return __context__["n"]
def code():
    __context__["retcode"] = 3
    return "fine"
`;

Deno.test("a module in Python gives its functions, with Salt's names, documentation and arguments", async () => {
  await using pool = new PythonPool({ "modules/br.py": BR, "modules/br_plain.py": "def answer(): return True\n" });
  assertEquals(await returns(pool, [["br.ping"], ["br.list"], ["br.lam"], ["br.nopub", "a=1"]]), [
    true,
    ["list"],
    "lambda",
    1,
  ]);
  assertEquals(await pool.run("br.both", 1, "2", "x=5", 3), [1, "2", [3], ["x"]]);
  assertEquals(await returns(pool, [["br.cross", "hi"], ["br.dotted"], ["br.absent"]]), ["hi", true, "'no.such'"]);
  for (const name of ["list_", "join", "VALUE", "Kind", "_hidden"]) {
    assertMatch(str(await pool.run(`br.${name}`)), /^'br\..*' is not available\./);
  }
  const docs = await pool.run("sys.doc", "br.ping", "br.nopub");
  assert(isMap(docs));
  assertEquals([...docs], [
    ["br.ping", "Answer.\n\n    CLI Example:\n\n        salt '*' br.ping\n    "],
    ["br.nopub", null],
  ]);
  const specs = await pool.run("sys.argspec", "br.both");
  assert(isMap(specs));
  assertEquals(specs.get("br.both"), map({ args: ["a", "b"], defaults: [2], varargs: true, kwargs: true }));
});

Deno.test("a module in Python gets grains, pillar, options and its context, and changes only its own job's", async () => {
  await using pool = new PythonPool(
    { "modules/br.py": BR, "modules/br_plain.py": "def answer(): return True\n" },
    { options: { id: "m1" }, grains: map({ os: "Debian" }), pillar: map({ key: "secret" }) },
  );
  assertEquals(await pool.run("br.facts"), ["Debian", "secret", "m1", false, true]);
  assertEquals(await returns(pool, [["br.change"], ["grains.get", "os"]]), ["Changed", "Debian"]);
  assertEquals(await returns(pool, [["br.count"], ["br.count"]]), [1, 1]);
  const outcome = await pool.job("br.code");
  assertEquals([outcome.get("return"), outcome.get("retcode"), outcome.get("success")], ["fine", 3, false]);
});

const REFUSED = {
  br_vname: "__virtualname__ = 'other'\ndef __virtual__(): return True\ndef f(): return 'f'\n",
  br_ignored: "__virtualname__ = 'nothing'\ndef f(): return 'f'\n",
  br_text: "def __virtual__(): return 'texted'\ndef f(): return 'f'\n",
  br_aliases: "__virtual_aliases__ = ('br_second',)\ndef f(): return 'f'\n",
  br_vfalse: "def __virtual__(): return False\ndef f(): pass\n",
  br_vreason: "def __virtual__(): return (False, 'needs the moon', 'more')\ndef f(): pass\n",
  br_vraise: "def __virtual__(): raise ValueError('virtual broke')\ndef f(): pass\n",
  br_syntax: "\n\n\ndef f(:\n    pass\n",
  br_import: "import no_such_library\ndef f(): pass\n",
  br_zero: "1 / 0\n",
  br_exit: "import sys\nsys.exit(3)\n",
  br_top: "__salt__['test.ping']()\n",
  br_init: "def __init__(opts): raise ValueError('no')\ndef f(): pass\n",
  br_crypt: "import salt.daemons\n",
  "br-dash": "def f(): return 'dash'\n",
  _br_hidden: "def f(): pass\n",
  br_load: "__load__ = ['f']\ndef f(): return 'f'\ndef g(): pass\n",
};
const FILES = Object.fromEntries(Object.entries(REFUSED).map(([name, text]) => [`modules/${name}.py`, text]));

Deno.test("__virtual__ and a file that does not load have Salt's words", async () => {
  await using pool = new PythonPool(FILES);
  const working = ["other.f", "br_ignored.f", "texted.f", "br_aliases.f", "br_second.f", "br_load.f"];
  for (const fun of working) assertEquals(await pool.run(fun), "f", fun);
  assertEquals(await pool.run("br-dash.f"), "dash");
  for (const fun of ["br_vname.f", "nothing.f", "br_text.f", "_br_hidden.f", "br_load.g"]) {
    assertMatch(str(await pool.run(fun)), new RegExp(`^'${fun}' is not available\\.`));
  }
  const broke = "Exception raised when processing __virtual__ function for salt.loaded.ext.module.br_vraise. Module " +
    "will not be loaded: virtual broke";
  const reasons = {
    br_vfalse: "",
    br_vreason: ": needs the moon",
    br_vraise: `: ${broke}`,
    br_import: ": No module named 'no_such_library'",
    br_zero: ": division by zero",
    br_exit: ": 3",
    br_top: ": name '__salt__' is not defined",
    br_init: ": __init__ failed",
  };
  for (const [name, reason] of Object.entries(reasons)) {
    assertEquals(await pool.run(`${name}.f`), `'${name}' __virtual__ returned False${reason}`);
  }
  assertMatch(
    str(await pool.run("br_syntax.f")),
    /^'br_syntax' __virtual__ returned False: .* \(br_syntax\.py, line 4\)$/,
  );
  assertMatch(
    str(await pool.run("br_crypt.f")),
    /returned False: salt\.daemons is not part of the bridge; install the salt package for \/.*python/,
  );
  await pool.run("sys.list_functions");
  assert(pool.lines.some((line) => /A plugin does not load: .*\/br_zero\.py:1: ZeroDivisionError/.test(line)));
});

const FAILING = `
import collections, decimal, datetime, sys
from salt.exceptions import CommandExecutionError, CommandNotFoundError, SaltInvocationError
import salt.utils.decorators.path
def command(): raise CommandExecutionError("went wrong")
def info(): raise CommandExecutionError("went wrong", info={"a": 1})
def invocation(): raise SaltInvocationError("went wrong")
def missing(): raise CommandNotFoundError("went wrong")
def deep():
    """Help."""
    return int([])
def value(): raise ValueError("went wrong")
def leave(): sys.exit(3)
@salt.utils.decorators.path.which("no_such_program_here")
def whiched(): pass
def caught():
    try:
        __salt__["br_other.command"]()
    except CommandExecutionError as error:
        return ["caught", str(error)]
def builtin():
    try:
        __salt__["file.remove"]("relative")
    except Exception as error:
        return type(error).__name__
def values(): return [(1, 2), {3}, collections.OrderedDict(a=1), 2**70, b"\\xff", range(2), collections.deque([1])]
def unsendable(): return {"a": [decimal.Decimal("1.5")]}
def generated():
    yield {"a": 1}
    yield {"b": 2}
`;

Deno.test("what a function raises is told in Salt's words, and its class survives calls", async () => {
  await using pool = new PythonPool({
    "modules/br.py": FAILING,
    "modules/br_other.py": "from salt.exceptions import CommandExecutionError\n" +
      "def command(): raise CommandExecutionError('of another')\n",
  });
  const words: Record<string, string> = {
    command: "ERROR: went wrong",
    info: "ERROR: went wrong. Additional info follows:\n\na:\n    1",
    invocation: "ERROR executing 'br.invocation': went wrong",
    missing: "Command required for 'br.missing' not found: went wrong",
    whiched: "Command required for 'br.whiched' not found: The 'no_such_program_here' binary was not found in $PATH.",
  };
  for (const [name, text] of Object.entries(words)) {
    const outcome = await pool.job(`br.${name}`);
    assertEquals([outcome.get("return"), outcome.get("retcode")], [text, 1]);
  }
  assertMatch(str(await pool.run("br.deep")), /^Passed invalid arguments to br\.deep: int\(\) .*\nHelp\.$/);
  assertEquals(
    await pool.run("br_other.command", "c=3"),
    "ERROR executing 'br_other.command': The following keyword arguments are not valid: c=3",
  );
  const trace = str(await pool.run("br.value"));
  assertStringIncludes(trace, "The minion function caused an exception: Traceback (most recent call last):\n");
  assertMatch(trace, /modules\/br\.py", line 12, in value\n[^]*ValueError: went wrong\n$/);
  assertMatch(str(await pool.run("br.leave")), /SystemExit: 3/);
  assertEquals(await returns(pool, [["br.caught"], ["br.builtin"]]), [["caught", "of another"], "SaltInvocationError"]);
});

Deno.test("values of Python are sent as Salt sends them, and what cannot be sent is named", async () => {
  await using pool = new PythonPool({ "modules/br.py": FAILING });
  assertEquals(await pool.run("br.values"), [
    [1, 2],
    [3],
    map({ a: 1 }),
    "1180591620717411303424",
    new Uint8Array([255]),
    [0, 1],
    [1],
  ]);
  assertEquals(
    await pool.run("br.unsendable"),
    "ERROR: br.unsendable returned {'a': [Decimal('1.5')]}: Decimal at a:0 cannot be sent",
  );
  assertEquals(await pool.run("br.generated"), map({ a: 1, b: 2 }));
});

const ENDING = `
import os, signal, subprocess, sys, time
def die():
    print("last words")
    os._exit(7)
def crash(): os.kill(os.getpid(), signal.SIGSEGV)
def greedy():
    kept = []
    while True: kept.append(bytearray(10**7))
def shout():
    sys.stdout.write("x" * 10_000_000 + "\\n" + "y\\n" * 3000)
    os.write(1, b"raw\\n")
    return "done"
def secret():
    print("hidden words")
    return 1
def long(): return "x" * 10_000_000
def spin():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    subprocess.Popen(["sleep", "300"])
    while True: time.sleep(0.01)
def pid(): return os.getpid()
`;

Deno.test("a module in Python that crashes, needs too much memory or prints 10 MB ends its job only", async () => {
  await using pool = new PythonPool({ "modules/br.py": ENDING }, { options: { custom_module_memory: 200_000_000 } });
  const words = {
    die: "it ended with exit code 7; the last line it printed was: last words",
    crash: "it was ended by SIGSEGV",
    greedy: "it needed more memory than it may have (custom_module_memory: 200000000)",
  };
  for (const [name, why] of Object.entries(words)) {
    const outcome = await pool.job(`br.${name}`);
    assertEquals([outcome.get("return"), outcome.get("retcode")], [`ERROR: The module's process ended: ${why}`, 1]);
  }
  assertEquals(await pool.run("br.shout"), "done");
  assertEquals(str(await pool.run("br.long")).length, 10_000_000);
  assertEquals(await pool.start("br.secret", [], { no_log: true }).outcome.then((outcome) => outcome.get("return")), 1);
  await eventually(() => pool.printed.some((line) => line.includes("further output is left out")), {
    what: "the limit",
  });
  assert(pool.printed.length < 1100 && pool.printed.every((line) => line.length <= 2000), "the output is limited");
  assert(!pool.printed.includes("hidden words"), "a no_log job hides what it prints");
  const pids = await Promise.all([1, 2, 3, 4].map(() => pool.run("br.pid")));
  assertEquals(new Set(pids.map((pid) => str(pid))).size, 4, "each job has a process of its own");
});

Deno.test("a job in Python that ignores SIGTERM is killed with the programs that it started", async () => {
  await using pool = new PythonPool({ "modules/br.py": ENDING });
  const { jid, outcome } = pool.start("br.spin");
  const pidOf = () => pool.pool.running().find((job) => job.jid === jid)?.pid ?? null;
  await eventually(() => pidOf() !== null && childrenOf(pidOf()).length > 0, { what: "the start of the job" });
  const all = [pidOf(), ...childrenOf(pidOf())];
  assert(pool.pool.signal(jid, 9));
  assertEquals((await outcome).get("return"), "The job was ended by signal 9");
  await eventually(() => all.every((pid) => !isAlive(pid)), { what: "the end of the processes" });
  assertEquals(await pool.run("test.ping"), true);
});

function childrenOf(pid: number | null): number[] {
  if (pid === null) return [];
  try {
    return Deno.readTextFileSync(`/proc/${pid}/task/${pid}/children`).split(" ").filter((word) => word !== "").map(
      Number,
    );
  } catch {
    return [];
  }
}

function isAlive(pid: number | null): boolean {
  try {
    return !/^State:\s+Z/m.test(Deno.readTextFileSync(`/proc/${pid}/status`));
  } catch {
    return false;
  }
}

Deno.test("an own module in Python replaces the built-in one; one with its virtual name adds to it", async () => {
  await using pool = new PythonPool({
    "modules/hashutil.py": "def own(): return 'own'\n",
    "modules/more_test.py": "__virtualname__ = 'test'\ndef __virtual__(): return True\ndef own(): return 'added'\n",
    "modules/off.py": "def f(): return 1\n",
  }, { options: { disable_modules: ["off"] } });
  assertEquals(await returns(pool, [["hashutil.own"], ["test.own"], ["test.ping"]]), ["own", "added", true]);
  for (const fun of ["hashutil.digest", "off.f"]) assertMatch(str(await pool.run(fun)), /^'.*' is not available/);
});

Deno.test("a changed module in Python runs at once, a new one after a refresh", async () => {
  await using pool = new PythonPool({ "modules/br.py": "def f(): return 1\n" });
  assertEquals(await pool.run("br.f"), 1);
  pool.write({ "modules/br.py": "def f(): return 'changed'\n", "modules/late.py": "def f(): return 'late'\n" });
  assertEquals(await pool.run("br.f"), "changed");
  await pool.pool.reload();
  assertEquals(await pool.run("late.f"), "late");
});

Deno.test("without a Python, or with plugins switched off, a function says so", async (t) => {
  const files = { "modules/br.py": "def f(): return 1\n" };
  await t.step("no such program", async () => {
    await using pool = new PythonPool(files, { options: { python: "/nowhere/python3" } });
    assertEquals(
      await pool.run("br.f"),
      "ERROR: it is in Python, and there is no program /nowhere/python3 (option python)",
    );
    assertEquals(await pool.run("test.ping"), true);
  });
  await t.step("a program that is no Python", async () => {
    await using pool = new PythonPool(files, { options: { python: "/bin/false" } });
    assertEquals(await pool.run("br.f"), "ERROR: /bin/false cannot run plugins: it has ended at once");
  });
  await t.step("a program that prints without end", async () => {
    await using pool = new PythonPool({ ...files, "no_python": "#!/bin/sh\nexec yes\n" }, {
      configure: (root) => ({ python: `${root}/ext/no_python` }),
    });
    Deno.chmodSync(`${pool.root}/ext/no_python`, 0o755);
    assertEquals(
      await pool.run("br.f"),
      `ERROR: ${pool.root}/ext/no_python cannot run plugins: it prints what no Python prints`,
    );
    assertEquals([await pool.run("test.ping"), pool.printed], [true, []]);
  });
  await t.step("python_plugins: false", async () => {
    await using pool = new PythonPool(files, { options: { python_plugins: false } });
    assertMatch(str(await pool.run("br.f")), /^'br\.f' is not available\./);
  });
});

const EXECUTORS = {
  "executors/passes.py": "def execute(opts, data, func, args, kwargs): return None\n",
  "executors/tells.py": "def execute(opts, data, func, args, kwargs): return [data['fun'], func(*args, **kwargs)]\n",
};

Deno.test("the option module_executors holds for jobs that name no executors", async () => {
  await using pool = new PythonPool(EXECUTORS, { options: { module_executors: ["passes", "tells"] } });
  assertEquals(await pool.run("test.echo", "x"), ["test.echo", "x"]);
  const named = await pool.start("test.echo", ["x"], { module_executors: ["direct_call"] }).outcome;
  assertEquals(named.get("return"), "x");
});
