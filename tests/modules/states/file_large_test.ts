/**
 * Files that are larger than the memory that a state may use: they are compared, digested, backed up and written piece
 * by piece.
 * @module
 */

import { isMap } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { callState } from "#tests/support/calls/state_call.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const SIZE = 192 * 1024 * 1024;
/** The memory that the states may use besides the program itself. */
const MAX_MEMORY = 96 * 1024 * 1024;

Deno.test("file.managed and file.copy of a large file need little memory, and make no diff", () =>
  withTemporaryDirectory(async (root) => {
    const job = testContext({ opts: testOpts({ root_dir: `${root}/minion`, file_client: "local" }) });
    const [source, name] = [`${root}/source`, `${root}/name`];
    // A sparse file needs no disk space; it is read as zeros.
    await Deno.writeTextFile(source, "a");
    await Deno.truncate(source, SIZE);
    await Deno.writeTextFile(name, "b");
    await Deno.truncate(name, SIZE);
    await callState("file.managed", { name: `${root}/first`, contents: "x" }, { job });
    const before = Deno.memoryUsage().rss;
    const managed = await callState("file.managed", { name, source, backup: "minion" }, { job });
    assertEquals(managed.get("result"), true);
    const changes = managed.get("changes");
    assertEquals(isMap(changes) ? changes.get("diff") : undefined, "Replace binary file");
    const again = await callState("file.managed", { name, source }, { job });
    assertEquals(again.get("changes"), new Map());
    const copied = await callState("file.copy", { name: `${root}/copy`, source }, { job });
    assertEquals(copied.get("result"), true);
    assertEquals((await Deno.stat(`${root}/copy`)).size, SIZE);
    const taken = Deno.memoryUsage().rss - before;
    assert(taken < MAX_MEMORY, `${taken} bytes of memory for files of ${SIZE}`);
  }));

Deno.test("file.managed of a large text reports that it makes no diff", () =>
  withTemporaryDirectory(async (root) => {
    const line = `${"x".repeat(1023)}\n`;
    const [source, name] = [`${root}/source`, `${root}/name`];
    await Deno.writeTextFile(source, line.repeat(17 * 1024));
    await Deno.writeTextFile(name, "small\n");
    const ret = await callState("file.managed", { name, source });
    const changes = ret.get("changes");
    assertEquals(
      isMap(changes) ? changes.get("diff") : undefined,
      `Replace a file of 6 bytes with one of ${17 * 1024 * 1024} bytes, too large for a diff`,
    );
    assertEquals(await Deno.readTextFile(name), await Deno.readTextFile(source));
  }));
