/**
 * The program that unpacks a compressed archive.
 * @module
 */

import { tarStream } from "#lib/host/filesystem/tar_stream.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

Deno.test("the program that unpacks an archive ends with its job", () =>
  withTemporaryDirectory(async (root) => {
    Deno.writeTextFileSync(`${root}/archive`, "begun\n");
    const job = new AbortController();
    const states: string[] = [];
    const stream = await tarStream(`${root}/archive`, {
      options: "tail -f",
      signal: job.signal,
      child: (_pid, state) => states.push(state),
    });
    const reader = stream.getReader();
    assertEquals(new TextDecoder().decode((await reader.read()).value), "begun\n");
    job.abort(new Error("the job is over"));
    await eventually(() => states.includes("ended"), { what: "the end of the program" });
    await reader.cancel();
  }));
