/**
 * State modules and grains in Python, and renderers of states: Mako where its library is, and files of `pydsl` that
 * belong together.
 * @module
 */

import { loadGrains } from "#lib/minion/agent/grains.ts";
import { CORE_GRAINS } from "#modules/grains/core.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertMatch } from "#tests/support/assert.ts";
import { type PluginFiles, PythonPool, type PythonPoolOptions, pythonWith } from "./python_pool.ts";
import { run } from "#tests/support/processes.ts";
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

const RUN = `
def mod_init(low):
    __context__["initialized"] = __context__.get("initialized", 0) + 1
    return True
def changed(name):
    return {"name": name, "result": True, "changes": {"initialized": __context__["initialized"]}, "comment": ""}
def quiet(name, **kwargs):
    return {"name": name, "result": True, "changes": {}, "comment": ["a", "b"]}
def mod_watch(name, sfun=None, **kwargs):
    return {"name": name, "result": True, "changes": {"watched": sfun}, "comment": "watched " + __low__["__id__"]}
def text(name): return "text"
def listed(name): return {"name": name, "result": True, "changes": [], "comment": ""}
def missing_keys(name): return {"name": name, "changes": {}}
def raises(name): raise ValueError("went wrong")
def needs(name, a): pass
`;

const SLS = `
a:
  runst.changed
b:
  runst.changed
c:
  runst.quiet:
    - watch:
      - runst: a
d:
  runst.quiet: []
`;

/** The results of an SLS file by the ids of its states. */
async function applied(pool: PythonPool, sls: string, ...more: string[]): Promise<Map<string, ValueMap>> {
  Deno.mkdirSync(`${pool.root}/srv`, { recursive: true });
  Deno.writeTextFileSync(`${pool.root}/srv/own.sls`, sls);
  const given = await pool.run("state.sls", "own", ...more);
  assert(isMap(given), str(given));
  return new Map([...given].map(([tag, result]) => {
    assert(isMap(result), str(result));
    return [str(tag).split("_|-")[1], result];
  }));
}

/** A pool whose file server has only SLS files of {@linkcode applied}. */
function localPool(files: PluginFiles): PythonPool {
  return new PythonPool(files, {
    configure: (root) => ({ file_client: "local", file_roots: map({ base: [`${root}/srv`] }) }),
  });
}

Deno.test("mod_init of a state module in Python runs once, and mod_watch for a state whose watched one changed", async () => {
  await using pool = localPool({ "states/runst.py": RUN });
  const results = await applied(pool, SLS);
  const facts = (id: string) => ["result", "changes", "comment"].map((name) => results.get(id)?.get(name) ?? null);
  assertEquals(facts("a"), [true, map({ initialized: 1 }), ""]);
  assertEquals(facts("b"), [true, map({ initialized: 1 }), ""]);
  assertEquals(facts("c"), [true, map({ watched: "quiet" }), "watched c"]);
  assertEquals(facts("d"), [true, new Map(), "a\nb"]);
});

Deno.test("a wrong return of a state in Python, and what it raises, are told in Salt's words", async () => {
  await using pool = localPool({ "states/runst.py": RUN });
  const names = ["text", "listed", "missing_keys", "raises", "needs", "absent"];
  const results = await applied(pool, names.map((name) => `${name}:\n  runst.${name}\n`).join(""));
  const words: Readonly<Record<string, RegExp>> = {
    text: /^An exception occurred in this state: Malformed state return\. Data must be a dictionary type\.$/,
    listed: /^An exception occurred in this state: 'Changes' should be a dictionary\.$/,
    missing_keys: /^An exception occurred in this state: The following keys .* in the state return: result, comment\.$/,
    raises:
      /^An exception occurred in this state: Traceback [^]*states\/runst\.py", line 14, in raises\n[^]*ValueError: went wrong\n$/,
    needs: /^Missing parameter a for state runst\.needs\n$/,
    absent: /^State 'runst\.absent' was not found in SLS 'own'\nReason: 'runst\.absent' is not available\.\n?$/,
  };
  for (const [name, text] of Object.entries(words)) {
    assertEquals(results.get(name)?.get("result"), false, name);
    assertMatch(str(results.get(name)?.get("comment") ?? null), text);
  }
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

/** A pool with files in its state tree. */
function poolWith(files: Readonly<Record<string, string>>, given: PythonPoolOptions = {}): PythonPool {
  return new PythonPool({}, {
    ...given,
    configure: (root) => {
      Deno.mkdirSync(`${root}/srv`);
      for (const [path, text] of Object.entries(files)) Deno.writeTextFileSync(`${root}/srv/${path}`, text);
      return { id: "m1", file_client: "local", file_roots: map({ base: [`${root}/srv`] }) };
    },
  });
}

async function high(pool: PythonPool, sls: string): Promise<Value> {
  return (await pool.job("state.show_sls", sls)).get("return") ?? null;
}

const mako = pythonWith("mako");
const unless = mako === undefined ? " (ignored: no python3 here has mako)" : "";

Deno.test({
  name: `file.managed renders a template of Mako with its context${unless}`,
  ignore: mako === undefined,
  fn: async () => {
    await using pool = poolWith({
      "motd.mako": "${grains['own']}: ${word}\n<%include file='more.mako'/>",
      "more.mako": "x",
    }, {
      options: { python: mako ?? null },
      grains: map({ own: "grain" }),
    });
    const name = `${pool.root}/motd`;
    const given = map({ source: "salt://motd.mako", template: "mako", context: { word: "hello" }, __kwarg__: true });
    const outcome = await pool.job("state.single", "file.managed", name, given);
    assertEquals([Deno.readTextFileSync(name), outcome.get("retcode")], ["grain: hello\nx", 0]);
  },
});

Deno.test("a template of Mako on a host without its library says what to install", async () => {
  const directory = Deno.makeTempDirSync();
  try {
    const made = await run(["python3", "-m", "venv", "--without-pip", directory]);
    assertEquals(made.code, 0, made.err);
    await using pool = poolWith({ "m.sls": "#!mako|yaml\na: test.nop\n" }, {
      options: { python: `${directory}/bin/python` },
    });
    const [error, ...more] = listOf(await high(pool, "m"));
    assertEquals(more, []);
    assertMatch(
      String(error),
      /^Rendering SLS 'base:m' failed: The renderer mako needs the library mako, which .*\/bin\/python/,
    );
    assertMatch(String(error), /install python3-mako, or `.*\/bin\/python -m pip install mako`$/);
  } finally {
    Deno.removeSync(directory, { recursive: true });
  }
});

function listOf(value: Value): readonly Value[] {
  assert(Array.isArray(value));
  return value;
}

Deno.test("files of pydsl that include each other run once in a compilation, and again in the next", async () => {
  const counts = "import os\npath = os.environ['COUNTED']\nopen(path, 'a').write(__sls__ + '\\n')\n";
  const file = Deno.makeTempFileSync();
  const counted = counts.replace("os.environ['COUNTED']", JSON.stringify(file));
  try {
    await using pool = poolWith({
      "a.sls": `#!pydsl\n${counted}b = include('b')\nstate('a').test.nop(str(getattr(b, 'VALUE', None)))\n`,
      "b.sls": `#!pydsl\n${counted}a = include('a')\nVALUE = a\nstate('b').test.nop()\n`,
      "c.sls": "#!yaml\ninclude: [a, b]\n",
    });
    for (const [sls, runs] of [["c", ["a", "b"]], ["b", ["b", "a"]]] as const) {
      Deno.writeTextFileSync(file, "");
      const made = await high(pool, sls);
      assert(isMap(made), String(made));
      assertEquals([...made.keys()].sort(), ["_slsmod_a", "_slsmod_b", "a", "b"]);
      assertEquals(Deno.readTextFileSync(file).trim().split("\n"), [...runs]);
    }
  } finally {
    Deno.removeSync(file);
  }
});

Deno.test("pydsl refuses a function of the file as a state, and says what to do", async () => {
  await using pool = poolWith({ "p.sls": "#!pydsl\ndef hello(): pass\nstate('a').cmd.call(hello)\n" });
  const [error] = listOf(await high(pool, "p"));
  assertMatch(String(error), /A function of the file cannot be called when states run: make hello an execution module/);
});
