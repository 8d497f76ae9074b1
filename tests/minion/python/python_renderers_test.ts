/**
 * Renderers in Python that Salt has: Mako where its library is, and files of `pydsl` that belong together.
 * @module
 */

import { isMap, map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertMatch } from "#tests/support/assert.ts";
import { run } from "#tests/support/processes.ts";
import { pythonWith } from "./python_with.ts";
import { PythonPool, type PythonPoolOptions } from "./python_pool.ts";

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
