/** `Idempotency-Key`: which answers leave a record of the job's id, and how long it lasts. */

import { IdempotencyKeys } from "#lib/api/endpoints/idempotency.ts";
import { ApiError } from "#lib/api/http/api_error.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { encode } from "#lib/values/msgpack.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

/** The keys of a directory, and what makes job ids that follow each other. */
function keysIn(directory: string) {
  const keys = new IdempotencyKeys({ directory, log: SILENT_LOGGER });
  let made = 0;
  const makeJid = () => `20261128120000${String(++made).padStart(6, "0")}`;
  /** The id of the job that the request with this key starts. */
  const run = (key: string | null, start: (jid: string) => Promise<string> = (jid) => Promise.resolve(jid)) =>
    keys.run({ key, user: "ops", body: "{}" }, { makeJid, start });
  return { run, jid: (n: number) => `20261128120000${String(n).padStart(6, "0")}` };
}

Deno.test("a job that may have begun keeps its id for the next request, one that was refused does not", () =>
  withTemporaryDirectory(async (root) => {
    const { run, jid } = keysIn(`${root}/keys`);
    const failing = (error: Error) => () => Promise.reject(error);
    // The master did not answer in time: it may have the job.
    await assertRejects(() => run("a", failing(new ApiError(503, "Salt Master is not available."))), ApiError);
    assertEquals(await run("a"), jid(1));
    await assertRejects(() => run("b", failing(new TypeError("unexpected"))), TypeError);
    assertEquals(await run("b"), jid(2));
    for (const status of [400, 401, 404, 429]) {
      await assertRejects(() => run(`${status}`, failing(new ApiError(status, "no"))), ApiError);
    }
    assertEquals(await run("404"), jid(7));
    assertEquals(await run(null), jid(8));
  }));

Deno.test("a record lasts a day, and what is none is removed", () =>
  withTemporaryDirectory(async (root) => {
    const directory = `${root}/keys`;
    const first = keysIn(directory);
    assertEquals(await first.run("kept"), first.jid(1));
    const dayAgo = { jid: first.jid(1), body: "b", atMs: Date.now() - 86_400_001 };
    const others: Record<string, Uint8Array> = {
      old: encode(map(dayAgo), "disk"),
      foreign: encode(map({ ...dayAgo, jid: "../../etc/passwd", atMs: Date.now() }), "disk"),
      list: encode([1], "disk"),
      cut: new Uint8Array([0xc1]),
    };
    for (const [name, bytes] of Object.entries(others)) Deno.writeFileSync(`${directory}/${name}`, bytes);
    const again = keysIn(directory);
    assertEquals(await again.run("kept"), first.jid(1));
    assertEquals([...Deno.readDirSync(directory)].length, 1);
  }));
