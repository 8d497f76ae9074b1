/** @module */
import { ifReadable } from "#lib/client/if_readable.ts";
import { StoreError } from "#lib/errors.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";

Deno.test("what a user may not read, and what a database that is away has, is undefined; other errors are thrown", async () => {
  const throwing = (error: Error) => () => Promise.reject(error);
  assertEquals([
    await ifReadable(() => 1),
    await ifReadable(throwing(new Deno.errors.PermissionDenied("no"))),
    await ifReadable(throwing(new StoreError("the database is away", "jobs"))),
  ], [1, undefined, undefined]);
  await assertRejects(() => ifReadable(throwing(new TypeError("a fault"))), TypeError, "a fault");
});
