/**
 * `salt-call` with plugins in Python.
 * @module
 */

import { assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { run } from "#tests/support/processes.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const ENTRY = decodeURIComponent(new URL("../../../minion.ts", import.meta.url).pathname);

Deno.test("salt-call runs plugins in Python; what they print goes to standard error", () =>
  withTemporaryDirectory(async (root) => {
    Deno.mkdirSync(`${root}/_modules`);
    Deno.writeTextFileSync(
      `${root}/_modules/br.py`,
      "def told(a=1):\n    'Tells.'\n    print('printed')\n    return [a, __salt__['test.echo']('b'), __opts__['id']]\n",
    );
    Deno.writeTextFileSync(`${root}/minion`, JSON.stringify({ id: "web1", root_dir: root, module_dirs: [root] }));
    const options = ["--allow-all", "--quiet", "--no-prompt", ENTRY, "--as", "salt-call", "-c", root, "--local"];
    const call = (...words: string[]) => run([Deno.execPath(), "run", ...options, ...words]);
    const told = await call("--out=json", "br.told", "a=5");
    assertEquals([JSON.parse(told.out), told.code], [{ local: [5, "b", "web1"] }, 0], told.err);
    assertStringIncludes(told.err, "printed\n");
    const missing = await call("br.told", "b=5");
    assertEquals(missing.code, 1);
    assertStringIncludes(missing.err, "The following keyword arguments are not valid: b=5");
    assertEquals((await call("sys.doc", "br")).out, "local:\n    ----------\n    br.told:\n        Tells.\n");
  }));
