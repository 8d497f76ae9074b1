/**
 * State modules and grains in Python.
 * @module
 */

import { loadGrains } from "#lib/minion/agent/grains.ts";
import { CORE_GRAINS } from "#modules/grains/core.ts";
import { isMap, map, str, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertMatch } from "#tests/support/assert.ts";
import { PythonPool } from "./python_pool.ts";
import { testOpts } from "#tests/support/calls/job_context.ts";

const STATES = `
def present(name, value=1, **kwargs):
    """Is there."""
    ret = {"name": name, "result": None if __opts__["test"] else True, "changes": {}, "comment": ""}
    ret["comment"] = "%s %s %s" % (value, __low__["state"], __salt__["br.ping"]())
    if not __opts__["test"]:
        ret["changes"] = {"count": __context__.setdefault("brst", []) and 0 or len(__context__["brst"])}
        __context__["brst"].append(name)
    return ret
def calls(name):
    return __states__["test.succeed_without_changes"](name=name)
def fails(name):
    raise ValueError("went wrong")
def text(name):
    return "text"
def mod_watch(name, sfun=None, **kwargs):
    return {"name": name, "result": True, "changes": {"watched": sfun}, "comment": "watched"}
`;

/** The one result of `state.single`. */
async function single(pool: PythonPool, ...words: Value[]): Promise<Map<Value, Value>> {
  const given = await pool.run("state.single", ...words);
  assert(isMap(given), str(given));
  const [result] = given.values();
  assert(isMap(result), str(result ?? null));
  return result;
}

Deno.test("a state module in Python runs, with its names, in test mode, and with what it calls", async () => {
  await using pool = new PythonPool({
    "states/brst.py": STATES,
    "modules/br.py": "def ping(): return 'pong'\n",
  }, { options: { file_client: "local" } });
  const done = await single(pool, "brst.present", "name=a", "value=5");
  assertEquals([done.get("result"), done.get("comment"), done.get("changes")], [
    true,
    "5 brst pong",
    map({ count: 0 }),
  ]);
  const tested = await single(pool, "brst.present", "name=a", "test=True");
  assertEquals([tested.get("result"), tested.get("changes")], [null, new Map()]);
  assertEquals((await single(pool, "brst.calls", "name=a")).get("result"), true);
  const failed = await single(pool, "brst.fails", "name=a");
  assertEquals(failed.get("result"), false);
  assertMatch(str(failed.get("comment") ?? null), /went wrong/);
  assertEquals((await single(pool, "brst.text", "name=a")).get("result"), false);
  const docs = await pool.run("sys.state_doc", "brst.present");
  assert(isMap(docs));
  assertEquals(docs.get("brst.present"), "Is there.");
});

Deno.test("grains in Python are merged, and one that fails leaves the others", async () => {
  const root = Deno.makeTempDirSync({ prefix: "python_grains_" });
  try {
    Deno.mkdirSync(`${root}/ext/grains`, { recursive: true });
    Deno.writeTextFileSync(
      `${root}/ext/grains/own.py`,
      "def good(grains):\n    return {'own': __opts__['id'], 'core': grains['kernel']}\ndef bad():\n    return 1 / 0\n",
    );
    Deno.writeTextFileSync(`${root}/ext/grains/broken.py`, "def (\n");
    const opts = testOpts({
      id: "m1",
      root_dir: root,
      cachedir: `${root}/cache`,
      sock_dir: `${root}/sock`,
      extension_modules: `${root}/ext`,
    });
    const warnings: string[] = [];
    const grains = await loadGrains(opts, { core: CORE_GRAINS, warn: (text) => warnings.push(text) });
    assertEquals([grains.get("own"), grains.get("core")], ["m1", grains.get("kernel") ?? null]);
    assert(warnings.some((text) => /own\.py:4 are missing: division by zero/.test(text)), warnings.join("\n"));
    assert(warnings.some((text) => /Cannot load the grains of .*broken\.py:1/.test(text)), warnings.join("\n"));
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
});

Deno.test("an SLS file in Python is rendered, and an error has its line", async () => {
  await using pool = new PythonPool({ "modules/br.py": "def ping(): return 'pong'\n" }, {
    grains: map({ os: "Debian" }),
  });
  const path = `${pool.root}/web.sls`;
  Deno.writeTextFileSync(
    path,
    "#!py\ndef run():\n    return {'a': {'test.nop': [{'name': __grains__['os'] + __salt__['br.ping']()}]}}\n",
  );
  const rendered = await pool.run("slsutil.renderer", path);
  assertEquals(rendered, map({ a: map({ "test.nop": [map({ name: "Debianpong" })] }) }));
  Deno.writeTextFileSync(path, "#!py\ndef run():\n    return {}['absent']\n");
  assertMatch(str(await pool.run("slsutil.renderer", path)), /web\.sls", line 3, in run\n[^]*KeyError: 'absent'/);
});
