/**
 * The command `_store`: operators' commands read and write jobs through the master.
 * @module
 */

import { WireError } from "#lib/errors.ts";
import { storeCommand } from "#lib/master/requests/store_command.ts";
import { packRows, readRowValue } from "#lib/stores/row_messages.ts";
import { SqliteRows } from "#lib/stores/sqlite_rows.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";
import { type TestServices, testServices } from "#tests/support/fleet/services.ts";

const JID = "20260101000000000001";

function withRows(services: TestServices, path = `${services.root}/jobs.db`): TestServices {
  const rows = new SqliteRows({ path, synced: false, waitMs: 1_000 });
  return { ...services, jobs: { ...services.jobs, rows } };
}

/** A call of an operator, with other fields in it. */
function call(services: TestServices, method: string, fields: Record<string, Value> = {}): ValueMap {
  const argument = packRows(method === "job" ? JID : undefined);
  return map({ cmd: "_store", user: "root", key: services.accessKeys.get("root"), method, argument, ...fields });
}

function errorOf(answer: ValueMap): Value {
  const error = answer.get("error");
  return error instanceof Map ? error.get("name") ?? null : null;
}

Deno.test("an operator's call is done, and nobody else's", async () => {
  using plain = await testServices({ publisher_acl: map({ alice: [".*"] }) });
  const services = withRows(plain);
  const answer = await storeCommand(call(services, "job"), services);
  assertEquals(readRowValue("job", answer.get("value") as Uint8Array), undefined);
  const key = services.accessKeys.get("alice") ?? "";
  const refusals: [Record<string, Value>, string][] = [
    [{ user: "root", key }, "AuthenticationError"],
    [{ user: "root", key: `${services.accessKeys.get("root")}x` }, "AuthenticationError"],
    [{ user: "alice", key }, "AuthorizationError"],
    [{ user: 0 }, "AuthorizationError"],
    [{ key: null }, "AuthorizationError"],
  ];
  for (const [fields, name] of refusals) {
    assertEquals(errorOf(await storeCommand(call(services, "job", fields), services)), name);
  }
  await services.jobs.rows?.close();
});

Deno.test("a call that is none is refused, whoever calls", async () => {
  using plain = await testServices();
  const services = withRows(plain);
  for (
    const [method, fields] of [["job", { method: 5 }], ["job", { argument: "x" }], ["close", {}], [
      "sweep",
      {},
    ]] as const
  ) {
    await assertRejects(() => storeCommand(call(services, method, fields), services), WireError);
  }
  await services.jobs.rows?.close();
});

Deno.test("a master with its jobs in files, and one whose database fails, say so", async () => {
  using plain = await testServices();
  assertEquals(errorOf(await storeCommand(call(plain, "job"), plain)), "NoStore");
  const services = withRows(plain, plain.root);
  assertEquals(errorOf(await storeCommand(call(services, "job"), services)), "StoreFailed");
  assertEquals(plain.logged, []);
});
