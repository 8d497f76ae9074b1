/**
 * Plugins in Python that import a part of Salt without a stand-in: they run in a process with the real Salt, where the
 * Python has it, beside those with stand-ins.
 * @module
 */

import { isMap, map, str, type Value } from "#lib/values/value.ts";
import { pythonSalt } from "#tests/interop/python_salt.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { type PluginFiles, PythonPool, pythonWith } from "./python_pool.ts";

const installed = await pythonSalt("3008.3");
const missing = "missing" in installed ? installed.missing : undefined;

const PLUGINS: PluginFiles = {
  "modules/real.py": `
import os
import sys
import salt.cloud
import salt.exceptions
import salt.ext.six
import salt.utils.vt
import salt.version
from salt.utils.decorators import depends
import own_part

def version():
    return [salt.version.__version__, salt.cloud.CloudClient.__name__, "standins" in salt.__file__]
def echo(*args, **kwargs):
    """Says it again."""
    return __salt__["test.echo"](list(args))
def knows(a, b=2, *rest, c=3):
    return [__grains__["own"], __pillar__["key"], __opts__["id"], sorted(__context__), own_part.part(), __name__, __utils__["own_part.part"]()]
def across():
    return [__salt__["plain.back"](["x"]), __salt__["real.echo"](1), "plain.back" in __salt__, "no.such" in __salt__]
def fails():
    raise salt.exceptions.CommandExecutionError("went wrong")
def catches():
    try:
        __salt__["plain.fails"]()
    except salt.exceptions.CommandExecutionError as error:
        return "caught " + str(error)
def pid():
    return [os.getpid(), os.getppid()]
def ends():
    print("ending")
    os._exit(7)
@depends("no_such_name")
def lacks(): return 1
@depends("own_part")
def has(): return 2
__func_alias__ = {"list_": "list"}
def list_(): return []
`,
  "modules/inside.py": "def f():\n    import salt.daemons\n    return 'daemons'\n",
  "modules/guarded.py":
    "try:\n    import salt.cloud\n    HAS = True\nexcept ImportError:\n    HAS = False\ndef f(): return HAS\n",
  "modules/plain.py": `
import salt.exceptions
def back(value): return ["plain", value, "standins" in salt.__file__]
def fails(): raise salt.exceptions.CommandExecutionError("in plain")
def calls(): return __salt__["real.echo"]("y")
def catches():
    try:
        __salt__["real.fails"]()
    except salt.exceptions.CommandExecutionError as error:
        return "caught " + str(error)
`,
  "modules/broken_real.py": "import salt.cloud\nimport no_such_library\ndef f(): pass\n",
  "states/real_state.py": `
import salt.cloud
def made(name, value=None):
    return {"name": name, "result": None if __opts__["test"] else True, "changes": {"a": value}, "comment": __low__["name"]}
`,
  "grains/real_grains.py": "import salt.cloud\ndef real_grain(): return {'real_grain': salt.cloud.__name__}\n",
  "utils/own_part.py": "def part(): return 'part'\n",
};

Deno.test({
  name: `plugins that need the real Salt run with it${missing === undefined ? "" : ` (ignored: ${missing})`}`,
  ignore: missing !== undefined,
  fn: async (t) => {
    const python = "bin" in installed ? `${installed.bin}/python` : "";
    await using pool = new PythonPool(PLUGINS, {
      options: { python, id: "m1", file_client: "local" },
      grains: map({ own: "grain" }),
      pillar: map({ key: "value" }),
    });
    const run = (fun: string, ...args: Value[]) => pool.run(fun, ...args);
    await t.step("with the names of all plugins", async () => {
      assertEquals(await run("real.version"), ["3008.3", "CloudClient", false]);
      assertEquals(await run("real.echo", 1, "b"), [1, "b"]);
      assertEquals(
        await run("real.knows", 1),
        ["grain", "value", "m1", [], "part", "salt.loaded.ext.module.real", "part"],
      );
      assertEquals([await run("real.list"), await run("real.has")], [[], 2]);
      assertMatch(str(await run("real.lacks")), /^'real.lacks' is not available/);
      assertEquals(await run("inside.f"), "daemons");
      // A file that can do without runs with the stand-ins.
      assertEquals(await run("guarded.f"), false);
    });
    await t.step("they and others call each other", async () => {
      assertEquals(await run("real.across"), [["plain", ["x"], true], [1], true, false]);
      assertEquals(await run("plain.calls"), ["y"]);
      assertEquals([await run("plain.catches"), await run("real.catches")], ["caught went wrong", "caught in plain"]);
      assertEquals(str(await run("real.fails")), "ERROR: went wrong");
    });
    await t.step("they are described", async () => {
      const spec = await run("sys.argspec", "real.knows");
      assert(isMap(spec));
      assertEquals(
        spec.get("real.knows"),
        map({ args: ["a", "b", "c"], defaults: [2, 3], kwargs: null, varargs: true }),
      );
      const docs = await run("sys.doc", "real.echo");
      assert(isMap(docs));
      assertEquals(docs.get("real.echo"), "Says it again.");
      const problems = await run("sys.list_problems");
      assert(isMap(problems));
      assertEquals([...problems.keys()], ["modules/broken_real"]);
      assertStringIncludes(str(problems.get("modules/broken_real") ?? ""), ":2: ModuleNotFoundError: No module named");
      assertStringIncludes(
        str(await run("broken_real.f")),
        "__virtual__ returned False: No module named 'no_such_library'",
      );
      const checked = await run("bridge.check");
      assert(isMap(checked));
      assertEquals(checked.get(`${pool.root}/ext/modules/real.py`), [
        "works",
        "needs the real salt, which is there: salt.cloud (line 4)",
        "needs the real salt, which is there: salt.utils.vt (line 7)",
        "salt.ext.six works here, and not in Python Salt since 3006 (line 6)",
      ]);
    });
    await t.step("state modules", async () => {
      const made = await run("state.single", "real_state.made", "x", map({ __kwarg__: true, value: 5 }));
      assert(isMap(made), str(made));
      const [result] = made.values();
      assert(isMap(result));
      assertEquals([result.get("result"), result.get("changes"), result.get("comment")], [true, map({ a: 5 }), "x"]);
    });
    await t.step("one that ends ends its job only, and its process starts again", async () => {
      const [long, ended] = [pool.start("real.echo", ["z"]), str(await run("real.ends"))];
      assertEquals(
        ended,
        "ERROR: The module's process ended: it ended with exit code 7; the last line it printed was: ending",
      );
      assertEquals((await long.outcome).get("return"), ["z"]);
      const pids = await run("real.pid");
      assert(Array.isArray(pids));
      Deno.kill(Number(pids[1]), "SIGKILL");
      await eventually(async () => JSON.stringify(await run("real.echo", 5)) === "[5]", { what: "another process" });
    });
  },
});

const isThere = pythonWith("salt") !== undefined;

Deno.test({
  name: `without the real Salt a plugin that needs it says so${
    isThere ? " (ignored: this host's python3 has it)" : ""
  }`,
  ignore: isThere,
  fn: async () => {
    await using pool = new PythonPool(PLUGINS);
    const told = str(await pool.run("real.version"));
    assertMatch(
      told,
      /^'real' __virtual__ returned False: salt\.cloud is not part of the bridge; install the salt package/,
    );
    assertMatch(
      str(await pool.run("inside.f")),
      /ModuleNotFoundError: salt\.daemons is not part of the bridge; install/,
    );
    assertEquals(await pool.run("guarded.f"), false);
    assertEquals(await pool.run("plain.back", 1), ["plain", 1, true]);
  },
});
