/**
 * Outputters in Python: one process formats all values of a command, also after one that fails.
 * @module
 */

import { loadMasterConfig } from "#lib/config/load.ts";
import { pythonOutputter } from "#lib/commands/cli/python_outputter.ts";
import { CommandError } from "#lib/errors.ts";
import { assert, assertEquals, assertThrows } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const OWN = `
import os
COUNT = []
def output(data, **kwargs):
    COUNT.append(1)
    if data == "fail":
        raise ValueError("went wrong")
    if data == "die":
        os._exit(3)
    print("printed words")
    if data == "long":
        return "x" * 200000
    return "%s %d %d %s" % (data, len(COUNT), os.getpid(), __opts__["color"])
`;

Deno.test("one process formats all values; one that fails does not end it, and one that has ended is started again", () =>
  withTemporaryDirectory(async (root) => {
    Deno.mkdirSync(`${root}/ext/output`, { recursive: true });
    Deno.writeTextFileSync(`${root}/ext/output/own.py`, OWN);
    Deno.writeTextFileSync(
      `${root}/master`,
      JSON.stringify({ root_dir: root, cachedir: `${root}/cache`, extension_modules: `${root}/ext` }),
    );
    const shown = await pythonOutputter("own", loadMasterConfig({ configDir: root }).opts);
    assert(shown !== undefined);
    const words = (value: string, color = false) => shown(value, color).split(" ");
    const [first, count, pid, color] = words("a");
    assertEquals([first, count, color], ["a", "1", "False"]);
    assertEquals(words("b", true), ["b", "2", pid, "True"]);
    assertThrows(() => shown("fail", false), Error, "ValueError: went wrong");
    assertEquals(shown("long", false).length, 200_000);
    assertEquals(words("x".repeat(100_000)).slice(1), ["5", pid, "False"]);
    assertThrows(() => shown("die", false), Error, "Python has ended");
    const again = words("c");
    assertEquals(again.slice(0, 2), ["c", "1"]);
    assert(again[2] !== pid);
    assertThrows(() => shown("die", false), Error, "Python has ended");
    provePipes(root, () => shown("d", false));
  }));

/** An outputter whose pipes cannot be made fails, for the printer to say so, and leaves no directory. */
function provePipes(root: string, show: () => string): void {
  const before = ["PATH", "TMPDIR"].map((name) => [name, Deno.env.get(name)] as const);
  Deno.mkdirSync(`${root}/bin`);
  try {
    Deno.env.set("PATH", `${root}/bin`);
    Deno.env.set("TMPDIR", root);
    assertThrows(show, CommandError, "mkfifo");
    Deno.writeTextFileSync(`${root}/bin/mkfifo`, "#!/bin/sh\nexit 1\n", { mode: 0o755 });
    assertThrows(show, CommandError, "the pipes to Python cannot be made");
    assertEquals([...Deno.readDirSync(root)].filter(({ name }) => name.startsWith("outputter_")), []);
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) Deno.env.delete(name);
      else Deno.env.set(name, value);
    }
  }
}
