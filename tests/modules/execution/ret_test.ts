/**
 * The module `ret`: what a returner has stored, here `sqlite3`.
 * @module
 */

import { invoke } from "#lib/plugins/call.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { resultOrError, testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

Deno.test("ret.* read what a returner has stored, and name one that there is not", () =>
  withTemporaryDirectory(async (root) => {
    const context = testContext({ opts: testOpts({ "sqlite3.database": `${root}/jobs.db` }) });
    const store = await context.catalogue.get("returners/sqlite3.returner");
    if (store === undefined) throw new Error("no returner sqlite3");
    for (const id of ["web2", "web1"]) {
      const args = [map({ id, jid: "20260101000000000000", fun: "test.ping", return: true, success: true })];
      await invoke(store, { name: "sqlite3.returner", args, kwargs: new Map(), context });
    }
    const read = (fun: string, ...args: Value[]) => resultOrError(context, `ret.${fun}`, args);
    assertEquals(await read("get_minions", "sqlite3"), ["web1", "web2"]);
    assertEquals(await read("get_jids", "sqlite3"), new Map());
    const both = map({ web2: { return: true }, web1: { return: true } });
    assertEquals(await read("get_jid", "sqlite3", "20260101000000000000"), both);
    assertEquals(await read("get_fun", "sqlite3", "test.ping"), map({ web2: true, web1: true }));
    for (const returner of ["nosuch", "syslog", ""]) {
      assertEquals(await read("get_minions", returner), `'${returner}.get_minions' is not available.`);
    }
  }));
