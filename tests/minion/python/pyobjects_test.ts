/**
 * SLS files of the renderer `pyobjects`, against what Salt 3008.3 made of them (recorded_pyobjects.json).
 * @module
 */

import { map, str, toValue } from "#lib/values/value.ts";
import { assertEquals, assertMatch } from "#tests/support/assert.ts";
import recorded from "./recorded_pyobjects.json" with { type: "json" };
import { PythonPool } from "./python_pool.ts";

/** A pool of a minion with the recorded files. */
function poolWithFiles(): PythonPool {
  return new PythonPool({}, {
    grains: map({ id: "m1", kernel: "Linux", os_family: "Debian" }),
    configure: (root) => {
      for (const [path, text] of Object.entries(recorded.files)) {
        const to = `${root}/srv/${path}`;
        Deno.mkdirSync(to.slice(0, to.lastIndexOf("/")), { recursive: true });
        Deno.writeTextFileSync(to, text);
      }
      return { id: "m1", file_client: "local", file_roots: map({ base: [`${root}/srv`] }), "samba:x": 1 };
    },
  });
}

Deno.test("files of pyobjects make the states that Salt makes of them", async () => {
  await using pool = poolWithFiles();
  const kwargs = (name: string) => map({ __kwarg__: true, path: `salt://${name}.sls`, default_renderer: "pyobjects" });
  for (const [name, states] of Object.entries(recorded.rendered)) {
    assertEquals([name, await pool.run("slsutil.renderer", kwargs(name))], [name, toValue(states)]);
  }
  const refused = async (name: string) => str(await pool.run("slsutil.renderer", kwargs(name)));
  assertMatch(await refused("duplicate"), /DuplicateState: A state with id ''\/a'', type ''file\.managed'' exists/);
  assertMatch(
    await refused("invalid"),
    /line 3, in <module>[^]*The function 'no_such_function' does not exist in the StateFactory for 'file'/,
  );
});

Deno.test("state.lint knows the arguments of states in Python, and files of pyobjects", async () => {
  const states = "def strict(name, value=1):\n    return {}\ndef loose(name, **kwargs):\n    return {}\n";
  const tree = {
    "good.sls": "a:\n  shelf.strict:\n    - value: 2\nb:\n  shelf.loose:\n    - anything: 1\n",
    "typo.sls": "a:\n  shelf.strict:\n    - valu: 2\n",
    "absent.sls": "a:\n  shelf.strickt: []\n",
    "objects.sls": "#!pyobjects\nShelf.strict('a', value=3)\n",
    "wrong.sls": "#!pyobjects\nShelf.strict('a', valu=3)\n",
  };
  await using pool = new PythonPool({ "states/shelf.py": states }, {
    configure: (root) => {
      Deno.mkdirSync(`${root}/srv`);
      for (const [path, text] of Object.entries(tree)) Deno.writeTextFileSync(`${root}/srv/${path}`, text);
      return { file_client: "local", file_roots: map({ base: [`${root}/srv`] }) };
    },
  });
  const lint = async (name: string) => str(await pool.run("state.lint", name));
  const fine = "1 SLS file, nothing wrong";
  assertEquals([await lint("good"), await lint("objects")], [fine, fine]);
  assertMatch(await lint("typo"), /valu\b[^]*Did you mean value\?/);
  assertMatch(await lint("wrong"), /valu\b[^]*Did you mean value\?/);
  assertMatch(await lint("absent"), /shelf\.strickt/);
});
