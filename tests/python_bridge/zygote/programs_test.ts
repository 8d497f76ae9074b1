/**
 * Programs in place of Python that start slowly, fail or say something else; and plugins of calls that share nothing,
 * with the host's Python.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { PythonLease, SeparateCalls } from "#lib/python_bridge/loader/separate_calls.ts";
import { checkPlugins, checkResult } from "#lib/python_bridge/zygote/check_plugins.ts";
import { PythonZygote } from "#lib/python_bridge/zygote/zygote.ts";
import { isFile } from "#lib/os/file_kind.ts";
import { which } from "#lib/programs/which.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { SkippedTime } from "#tests/support/skipped_time.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const { signal } = new AbortController();

/** Options with a program of this text as Python. */
function pythonOf(root: string, text: string) {
  const python = `${root}/python`;
  Deno.writeTextFileSync(python, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  return { cachedir: root, python, sock_dir: `${root}/sock`, custom_module_memory: 1 << 30 };
}

Deno.test("a Python that does not start in time is ended and named, and one of a daemon that ends is not started", () =>
  withTemporaryDirectory(async (root) => {
    const options = pythonOf(root, `: > ${root}/started; exec sleep 600`);
    const zygote = new PythonZygote(options, () => {});
    const socket = assertRejects(() => zygote.socket(), CommandError, `${options.python} did not start in 30000 ms`);
    await eventually(() => isFile(`${root}/started`), { what: "the program" });
    using time = new SkippedTime();
    await time.to(31_000);
    await socket;
    await zygote.close();
    await assertRejects(() => zygote.socket(), CommandError, "this daemon ends");
  }));

Deno.test("a check of plugins that fails has its last line, and an answer that is none has no plugins", () =>
  withTemporaryDirectory(async (root) => {
    const check = (text: string) => checkPlugins(["/ext/br.py"], { ...pythonOf(root, text), signal });
    const failing = "echo Traceback >&2; echo 'MemoryError: none' >&2; exit 1";
    await assertRejects(() => check(failing), CommandError, "The plugins cannot be checked: MemoryError: none");
    await assertRejects(() => check("exit 1"), CommandError, "The plugins cannot be checked: ");
    assertEquals(await check("echo '{}'"), []);
    const said = [{ path: "/a", works: true, notes: ["n"] }, { path: "/b", works: "yes", notes: "n" }, 5];
    const checked = await check(`echo '${JSON.stringify(said)}'`);
    assertEquals(checked, [{ path: "/a", works: true, notes: ["n"] }, { path: "/b", works: false, notes: [] }]);
    assertEquals(checkResult(checked), { result: map({ "/a": ["works", "n"], "/b": "does not load" }), works: false });
  }));

Deno.test({
  name: "calls that share nothing describe the functions of a family",
  ignore: which("python3") === undefined,
  fn: () =>
    withTemporaryDirectory(async (root) => {
      Deno.writeTextFileSync(`${root}/br.py`, 'def top(a, b=2):\n    """A doc."""\n    return a\n');
      const options = { cachedir: root, python: null, sock_dir: `${root}/sock`, custom_module_memory: 1 << 30 };
      const calls = new SeparateCalls({
        role: "master",
        plugins: { files: { modules: { br: `${root}/br.py` } }, names: { modules: ["br"] } },
        log: SILENT_LOGGER,
        context: () => ({ signal }),
        answers: () => () => Promise.resolve(null),
        isHidden: () => true,
      }, new PythonLease(options, { printed: () => {}, keeps: false }));
      const { functions, refusals, problems } = await calls.describe("modules");
      assertEquals(functions.map(({ name, signature: { doc, params } }) => ({ name, doc, params })), [
        { name: "br.top", doc: "A doc.", params: { a: { type: "any" }, b: { type: "any", default: 2 } } },
      ]);
      assertEquals([refusals.size, problems.size], [0, 0]);
    }),
});
