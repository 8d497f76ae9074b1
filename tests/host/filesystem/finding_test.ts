/**
 * Paths from one to another, and criteria of `file.find`.
 * @module
 */

import { relativePath } from "#lib/os/paths.ts";
import { map, str } from "#lib/values/value.ts";
import { assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { run } from "#tests/support/calls/job_context.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

Deno.test("a path from another one goes up to what both have", () => {
  assertEquals(relativePath("/a/b", "/c/d"), "../../a/b");
  assertEquals(relativePath("/a/b", "/a/c"), "../b");
  assertEquals(relativePath("/a", "/a"), ".");
});

Deno.test("a time interval without a number is refused", async () => {
  for (const mtime of ["-", "+"]) {
    const { return: returned } = await run("file.find", ["/etc", map({ __kwarg__: true, mtime })]);
    assertStringIncludes(str(returned), `invalid time interval: '${mtime}'`);
  }
});

Deno.test("what the runtime adds to the arguments is no criterion of a search, and an unknown one is refused", async () => {
  const search = (key: string) => run("file.find", ["/etc/hostname", map({ __kwarg__: true, [key]: "0" })]);
  assertEquals((await search("_other")).return, ["/etc/hostname"]);
  assertStringIncludes(str((await search("other")).return), `invalid option "other"`);
});

Deno.test("a command for found files that cannot run, or is no command, fails for each of them", async () => {
  for (const exec of ["/none/such {}", "echo 'unbalanced {}"]) {
    const { return: returned } = await run("file.find", ["/etc/hostname", map({ __kwarg__: true, exec })]);
    assertEquals(returned, ["/etc/hostname: Failed"], exec);
  }
});

Deno.test("what is gone before it is removed was removed by another one", () =>
  withTemporaryDirectory(async (root) => {
    for (const name of ["kept", "gone"]) Deno.writeTextFileSync(`${root}/${name}`, "");
    const rest = map({ __kwarg__: true, type: "f", exec: `sh -c 'rm -f ${root}/gone'`, delete: "f" });
    const { return: returned } = await run("file.find", [root, rest]);
    assertEquals([returned].flat().filter((one) => !str(one).includes(":\n")), [`${root}/kept`]);
    assertEquals([...Deno.readDirSync(root)], []);
  }));
